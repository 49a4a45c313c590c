"""Datasets: the list, a dataset's cases, versions, runs and output sets, and one case."""

from __future__ import annotations

import uuid
from functools import partial

from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404

from evalsite import access
from evalsite.pages.cases.texts.case_texts import CaseTexts
from evalsite.pages.drift.series_list import list_series
from evalsite.pages.runs.run_list import list_runs
from evalsite.pages.web.dataset_frame import dataset_frame, dataset_output_sets, dataset_runs
from evalsite.pages.web.decorators import get_page
from evalsite.pages.web.exports import send_export
from evalsite.pages.web.keyset import keyset_page
from evalsite.pages.web.responses import SignedInRequest, render_page, text_response
from evalsite.pages.web.search_forms import CaseSearchForm
from scoring.engine import imports
from scoring.engine.export import output_set_table, version_table
from scoring.models import Dataset, DatasetVersion, Role, TagIndex, VersionDuplicates


@get_page
def datasets(request: SignedInRequest, slug: str) -> HttpResponse:
    """A team's datasets, newest first; on request the archived or the deleted ones."""
    team = access.team_for(request.user, slug)
    published = team.datasets.published()
    deleted = access.deleted_datasets_for(team)
    lists = {"archived": published.exclude(archived_at=None), "deleted": deleted}
    shown = next((name for name in lists if name in request.GET), "")
    rows = lists.get(shown, published.listed())
    context = {
        "team": team,
        "may_edit": access.has_role(request.user, team, Role.EDITOR),
        "page": keyset_page(rows.for_list(), "-id", request.GET),
        "shown": shown,
        "others": [name for name, others in lists.items() if name != shown and others.exists()],
    }
    return render_page(request, "datasets/list.html", context)


@get_page
def cases(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """The cases of one version, by default the latest."""
    dataset = access.dataset_for(request.user, uid)
    filters = CaseSearchForm(request.GET)
    version = _version(dataset, filters)
    context = dataset_frame(request, dataset, "cases") | {"version": version, "filters": filters}
    if version:
        filtered = filters.filter_cases(version.cases.all())
        context["page"] = keyset_page(filtered, "position", request.GET)
        context["tags"] = TagIndex.objects.offered(version)
        context["duplicates"] = VersionDuplicates.objects.of(version)
        context["standings"] = partial(list_series, dataset)
    return render_page(request, "datasets/cases.html", context, parts=["cases"])


@get_page
def versions(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Every version, newest first."""
    dataset = access.dataset_for(request.user, uid)
    context = dataset_frame(request, dataset, "versions")
    context["undoable"] = partial(imports.undoable_imports, dataset)
    versions = dataset.versions.select_related("created_by")
    context["page"] = keyset_page(versions, "-number", request.GET)
    return render_page(request, "datasets/versions.html", context)


@get_page
def runs(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """The runs over any of its versions, newest first."""
    dataset = access.dataset_for(request.user, uid)
    context = dataset_frame(request, dataset, "runs")
    context["page"] = list_runs(dataset_runs(dataset).unarchived(), request.GET)
    context["standings"] = partial(list_series, dataset)
    return render_page(request, "datasets/runs.html", context)


@get_page
def output_sets(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """The output sets over any of its versions, newest first."""
    dataset = access.dataset_for(request.user, uid)
    context = dataset_frame(request, dataset, "outputs")
    context["undoable"] = partial(imports.undoable_imports, dataset)
    context["page"] = keyset_page(dataset_output_sets(dataset).for_list(), "-id", request.GET)
    return render_page(request, "datasets/outputs.html", context)


@get_page
def case(request: SignedInRequest, uid: uuid.UUID, position: int) -> HttpResponse:
    """One case with its neighbours in the filtered list."""
    dataset = access.dataset_for(request.user, uid)
    filters = CaseSearchForm(request.GET)
    version = _version(dataset, filters)
    if version is None:
        raise Http404
    case = get_object_or_404(version.cases, position=position)
    own = CaseTexts(case, f"&version={version.number}")
    if name := request.GET.get("whole"):
        return text_response(own.whole.get(name))
    filtered = filters.filter_cases(version.cases.all())
    context = {
        "team": dataset.team,
        "dataset": dataset,
        "version": version,
        "filters": filters,
        "case": case,
        "own": own,
        **access.permissions(request.user, dataset.team),
        "previous": filtered.filter(position__lt=position).last(),
        "next": filtered.filter(position__gt=position).first(),
    }
    return render_page(request, "datasets/case.html", context)


@get_page
def export_version(request: SignedInRequest, uid: uuid.UUID, number: int) -> HttpResponseBase:
    """All cases of a dataset version as a file."""
    return send_export(request, version_table(access.version_for(request.user, uid, number)))


@get_page
def export_outputs(request: SignedInRequest, uid: uuid.UUID) -> HttpResponseBase:
    """All outputs of an output set as a file."""
    return send_export(request, output_set_table(access.output_set_for(request.user, uid)))


def _version(dataset: Dataset, filters: CaseSearchForm) -> DatasetVersion | None:
    """The version that the address names, else the latest; None while the first one loads."""
    filters.is_valid()
    if "version" in filters.errors:
        raise Http404
    number = filters.cleaned_data["version"]
    return get_object_or_404(dataset.versions, number=number) if number else dataset.latest
