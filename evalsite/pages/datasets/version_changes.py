"""The changes between two versions of a dataset, and splitting part of one off."""

from __future__ import annotations

import secrets
import uuid
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect

from evalsite import access
from evalsite.pages.cases.texts.edits import list_edits
from evalsite.pages.web.decorators import form_page, get_page
from evalsite.pages.web.fields import NameField
from evalsite.pages.web.keyset import keyset_page
from evalsite.pages.web.responses import SignedInRequest, render_page
from scoring.engine import drafts
from scoring.engine.drafts import DraftError
from scoring.models import Case, ChangeKind, Changes, Dataset, DatasetVersion, Role, TagIndex

PAGE_SIZE: Final = 20
MAX_SAMPLE: Final = 1_000_000  # cases


class ChangesForm(forms.Form):
    """Which two versions, and which of their differences."""

    old = forms.IntegerField(min_value=1, max_value=2**31 - 1, required=False)
    new = forms.IntegerField(min_value=1, max_value=2**31 - 1, required=False)
    kind = forms.ChoiceField(choices=ChangeKind.choices, required=False)


class SplitForm(forms.Form):
    """The cases of a version that become a dataset of their own, and its name."""

    tag = forms.CharField(
        required=False,
        max_length=200,
        strip=False,
        widget=forms.TextInput(attrs={"list": "tags", "autocomplete": "off"}),
        help_text="Only cases with it; empty for all.",
    )
    n = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=MAX_SAMPLE,
        label="Sample size",
        help_text="So many cases, drawn at random; empty for all of them.",
    )
    seed = forms.IntegerField(
        min_value=0, max_value=2**31 - 1, help_text="The same seed draws the same cases again."
    )
    name = NameField(max_length=120, label="Name of the new dataset")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs["initial"] = {"seed": secrets.randbelow(10_000)} | (kwargs.get("initial") or {})
        super().__init__(*args, **kwargs)

    def describe_source(self, version: object, number: int) -> str:
        """Where so many cases come from, with the seed only if they were drawn."""
        tag, seed = self.cleaned_data["tag"], self.cleaned_data["seed"]
        text = f"{number:,} {'case' if number == 1 else 'cases'} of {version}"
        text += f" tagged {tag}" if tag else ""
        return f"{text}, seed {seed}" if self.cleaned_data["n"] == number else text


@get_page
def changes(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """The cases that a version added, removed and edited since another."""
    dataset = access.dataset_for(request.user, uid)
    versions = list(dataset.versions.select_related("created_by")[:200])
    context = {"team": dataset.team, "dataset": dataset, "versions": versions}
    changes = _choose_versions(ChangesForm(request.GET), versions)
    if changes is not None:
        counts = changes.counted()
        kind = _choose_kind(request.GET.get("kind", ""), counts)
        cases = changes.few_or_all(kind, counts.count(kind))
        page = keyset_page(cases, "position", request.GET, size=PAGE_SIZE)
        rows = [(row, list_edits(row)) for row in changes.with_other_version(kind, page.rows)]
        context |= {"changes": changes, "counts": counts, "kind": kind, "page": page, "rows": rows}
        context["kinds"] = [(choice, counts.count(choice)) for choice in ChangeKind]
    return render_page(request, "datasets/changes.html", context)


@form_page
def split_version(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Cases of the latest version, by tag or drawn at random, as a new dataset."""
    dataset = access.dataset_for(request.user, uid, Role.EDITOR)
    version = dataset.latest
    form = SplitForm(request.POST or None, initial={"tag": request.GET.get("tag", "")})
    if version is not None and form.is_valid():
        split = _split(form, version, request)
        if split is not None:
            return redirect("dataset", split.uuid)
    tags = TagIndex.objects.offered(version) if version else []
    context = {"team": dataset.team, "dataset": dataset, "form": form, "tags": tags}
    return render_page(request, "datasets/split.html", context, status=422 if form.errors else 200)


def _split(form: SplitForm, version: DatasetVersion, request: SignedInRequest) -> Dataset | None:
    """The new dataset; None, with an error of the form, if it cannot be made."""
    cleaned = form.cleaned_data
    cases = Case.objects.filter(version=version)
    if cleaned["tag"]:
        cases = cases.tagged(cleaned["tag"])
    n = cleaned["n"] or version.case_count
    positions = drafts.sample_positions(cases, n, cleaned["seed"])
    source = form.describe_source(version, len(positions))
    try:
        dataset = drafts.split_dataset(version, positions, cleaned["name"], source, request.user)
    except DraftError as refused:
        form.add_error("tag" if not positions else "name", str(refused))
        return None
    messages.success(request, f"Made of {source}.")
    return dataset


def _choose_versions(form: ChangesForm, versions: list[DatasetVersion]) -> Changes | None:
    """The two versions that the address names, else the latest and its predecessor.

    None for the same version twice, or if there is just one.
    """
    form.is_valid()
    numbered = {version.number: version for version in versions}
    new = numbered.get(form.cleaned_data.get("new")) or next(iter(versions), None)
    if new is None:
        return None
    earlier = [version for version in versions if (version.number or 0) < (new.number or 0)]
    old = numbered.get(form.cleaned_data.get("old")) or next(iter(earlier), None)
    return Changes(old, new) if old and old != new else None


def _choose_kind(name: str, counts: object) -> ChangeKind:
    """The named kind, else the first one that has cases."""
    if name in ChangeKind.values:
        return ChangeKind(name)
    order = (ChangeKind.EDITED, ChangeKind.ADDED, ChangeKind.REMOVED)
    return next((kind for kind in order if getattr(counts, kind)), ChangeKind.EDITED)
