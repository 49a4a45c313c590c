"""Two versions of a dataset side by side, and part of one as a dataset of its own."""

from __future__ import annotations

import uuid
from typing import Final

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect

from evalsite import access
from evalsite.pages.case.edits import every_edit
from evalsite.pages.forms.drafts import CarveForm
from evalsite.pages.fragments import SignedInRequest, show
from evalsite.pages.keyset import keyset_page
from evalsite.pages.methods import filling, reading
from scoring.engine import drafts
from scoring.engine.drafts import DraftError
from scoring.models import (
    Case,
    ChangeKind,
    Changes,
    Dataset,
    DatasetVersion,
    Role,
    TagPlaces,
)

PAGE_SIZE: Final = 20


class ChangesForm(forms.Form):
    """Which two versions, and which of their differences."""

    old = forms.IntegerField(min_value=1, max_value=2**31 - 1, required=False)
    new = forms.IntegerField(min_value=1, max_value=2**31 - 1, required=False)
    kind = forms.ChoiceField(choices=ChangeKind.choices, required=False)


@reading
def changes(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """The cases that a version added, removed and edited since another."""
    dataset = access.dataset_for(request.user, uid)
    versions = list(dataset.versions.select_related("created_by")[:200])
    context = {"team": dataset.team, "dataset": dataset, "versions": versions}
    found = _chosen(ChangesForm(request.GET), versions)
    if found is not None:
        counts = found.counted()
        kind = _kind(request.GET.get("kind", ""), counts)
        cases = found.few_or_all(kind, counts.count(kind))
        page = keyset_page(cases, "position", request.GET, size=PAGE_SIZE)
        rows = [(row, every_edit(row)) for row in found.beside(kind, page.rows)]
        shown = {"changes": found, "counts": counts, "kind": kind, "page": page, "rows": rows}
        context |= shown | {"kinds": [(each, counts.count(each)) for each in ChangeKind]}
    return show(request, "dataset/changes.html", context)


@filling
def carve(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Cases of the latest version, by tag or drawn at random, as a new dataset."""
    dataset = access.dataset_for(request.user, uid, Role.EDITOR)
    version = dataset.latest
    form = CarveForm(request.POST or None, initial={"tag": request.GET.get("tag", "")})
    if version is not None and form.is_valid():
        made = _carved(form, version, request)
        if made is not None:
            return redirect("dataset", made.uuid)
    tags = TagPlaces.objects.offered(version) if version else []
    context = {"team": dataset.team, "dataset": dataset, "form": form, "tags": tags}
    return show(request, "dataset/carve.html", context, status=422 if form.errors else 200)


def _carved(form: CarveForm, version: DatasetVersion, request: SignedInRequest) -> Dataset | None:
    asked = form.cleaned_data
    cases = Case.objects.filter(version=version)
    if asked["tag"]:
        cases = cases.tagged(asked["tag"])
    n = asked["n"] or version.case_count
    positions = drafts.sample_of(cases, n, asked["seed"])
    source = form.source(version, len(positions))
    try:
        made = drafts.carve(version, positions, asked["name"], source, request.user)
    except DraftError as refused:
        form.add_error("tag" if not positions else "name", str(refused))
        return None
    messages.success(request, f"Made of {source}.")
    return made


def _chosen(form: ChangesForm, versions: list[DatasetVersion]) -> Changes | None:
    """The two versions of the address; else the latest and the one before. None of just one."""
    form.is_valid()
    numbered = {version.number: version for version in versions}
    new = numbered.get(form.cleaned_data.get("new")) or next(iter(versions), None)
    if new is None:
        return None
    earlier = [version for version in versions if (version.number or 0) < (new.number or 0)]
    old = numbered.get(form.cleaned_data.get("old")) or next(iter(earlier), None)
    return Changes(old, new) if old and old != new else None


def _kind(asked: str, counts: object) -> ChangeKind:
    """The kind that was asked for, else the first that there are cases of."""
    if asked in ChangeKind.values:
        return ChangeKind(asked)
    order = (ChangeKind.EDITED, ChangeKind.ADDED, ChangeKind.REMOVED)
    return next((kind for kind in order if getattr(counts, kind)), ChangeKind.EDITED)
