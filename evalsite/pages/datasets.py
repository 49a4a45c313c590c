"""Datasets: the list, a dataset's cases, versions, runs and output sets, and one case."""

from __future__ import annotations

import uuid
from functools import partial
from typing import Any

from django.db.models import F, Func, QuerySet, Subquery
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404

from evalsite import access
from evalsite.pages.case.texts import CaseTexts
from evalsite.pages.drift_standings import standing_rows
from evalsite.pages.forms.filters import CaseFilters
from evalsite.pages.fragments import SignedInRequest, show, show_text
from evalsite.pages.keyset import keyset_page
from evalsite.pages.methods import reading
from scoring.models import (
    Dataset,
    DatasetVersion,
    Draft,
    Likenesses,
    OutputSet,
    Role,
    Run,
    TagPlaces,
)
from scoring.models.run import OutputSetQuerySet, RunQuerySet


@reading
def datasets(request: SignedInRequest, slug: str) -> HttpResponse:
    """A team's datasets, newest first."""
    team = access.team_for(request.user, slug)
    found = team.datasets.published().for_list()
    context = {
        "team": team,
        "may_edit": access.may(request.user, team, Role.EDITOR),
        "page": keyset_page(found, "-id", request.GET),
    }
    return show(request, "dataset/list.html", context)


@reading
def cases(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """The cases of one version, the latest unless another is asked for."""
    dataset = access.dataset_for(request.user, uid)
    filters = CaseFilters(request.GET)
    version = _version(dataset, filters)
    context = frame(request, dataset, "cases") | {"version": version, "filters": filters}
    if version:
        found = filters.applied_to(version.cases.all())
        context["page"] = keyset_page(found, "position", request.GET)
        context["tags"] = TagPlaces.objects.offered(version)
        context["likenesses"] = Likenesses.objects.of(version)
        context["standings"] = partial(standing_rows, dataset)
    return show(request, "dataset/cases.html", context, parts=["cases"])


@reading
def versions(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Every version, newest first."""
    dataset = access.dataset_for(request.user, uid)
    found = dataset.versions.select_related("created_by")
    context = frame(request, dataset, "versions")
    context["page"] = keyset_page(found, "-number", request.GET)
    return show(request, "dataset/versions.html", context)


@reading
def runs(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """The runs over any of its versions, newest first."""
    dataset = access.dataset_for(request.user, uid)
    context = frame(request, dataset, "runs")
    context["page"] = keyset_page(_runs(dataset).unarchived().for_list(), "-id", request.GET)
    context["standings"] = partial(standing_rows, dataset)
    return show(request, "dataset/runs.html", context)


@reading
def output_sets(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """The output sets over any of its versions, newest first."""
    dataset = access.dataset_for(request.user, uid)
    context = frame(request, dataset, "outputs")
    context["page"] = keyset_page(_output_sets(dataset).for_list(), "-id", request.GET)
    return show(request, "dataset/outputs.html", context)


@reading
def case(request: SignedInRequest, uid: uuid.UUID, position: int) -> HttpResponse:
    """One case, with its neighbours among those that the filters leave."""
    dataset = access.dataset_for(request.user, uid)
    filters = CaseFilters(request.GET)
    version = _version(dataset, filters)
    if version is None:
        raise Http404
    found = get_object_or_404(version.cases, position=position)
    own = CaseTexts(found, f"&version={version.number}")
    if name := request.GET.get("whole"):
        return show_text(own.whole.get(name))
    listed = filters.applied_to(version.cases.all())
    context = {
        "team": dataset.team,
        "dataset": dataset,
        "version": version,
        "filters": filters,
        "case": found,
        "own": own,
        **access.granted(request.user, dataset.team),
        "previous": listed.filter(position__lt=position).last(),
        "next": listed.filter(position__gt=position).first(),
    }
    return show(request, "dataset/case.html", context)


def frame(request: SignedInRequest, dataset: Dataset, tab: str) -> dict[str, Any]:
    """What every page of a dataset shows above its own part."""
    return {
        "team": dataset.team,
        "dataset": dataset,
        "tab": tab,
        **access.granted(request.user, dataset.team),
        "draft": partial(Draft.objects.open_of, dataset),
        **_counts(dataset),
    }


def _counts(dataset: Dataset) -> dict[str, int]:
    """How much each tab holds, in one query."""

    def number(rows: QuerySet[Any]) -> Subquery:
        counted = rows.order_by().annotate(row_count=Func(F("pk"), function="COUNT"))
        return Subquery(counted.values("row_count"))

    counts = {
        "version_count": number(dataset.versions.all()),
        "output_set_count": number(_output_sets(dataset)),
        "run_count": number(_runs(dataset)),
    }
    found: Any = Dataset.objects.filter(pk=dataset.pk).values(**counts).get()
    return dict(found)


def _output_sets(dataset: Dataset) -> OutputSetQuerySet:
    return OutputSet.objects.ready().filter(version__dataset=dataset)


def _runs(dataset: Dataset) -> RunQuerySet:
    return Run.objects.filter(output_set__version__dataset=dataset)


def _version(dataset: Dataset, filters: CaseFilters) -> DatasetVersion | None:
    """The version that the address names, else the latest; None while the first one loads."""
    filters.is_valid()
    if "version" in filters.errors:
        raise Http404
    number = filters.cleaned_data["version"]
    return get_object_or_404(dataset.versions, number=number) if number else dataset.latest
