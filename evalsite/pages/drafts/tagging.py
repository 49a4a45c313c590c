"""Tagging the ticked cases of a list in the dataset's draft, and undoing that."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

from django import forms
from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse

from evalsite import access
from evalsite.pages.web.decorators import post_action
from evalsite.pages.web.fields import whole_number
from evalsite.pages.web.responses import SignedInRequest
from evalsite.pages.web.undo import add_undo_message
from scoring.engine import drafts
from scoring.engine.drafts import ContentError, DraftError
from scoring.models import Dataset, DatasetVersion, Role

MAX_TAG: Final = 1_000  # characters
MAX_TICKED: Final = 500


@dataclass(frozen=True)
class TagAction:
    """A tag to add to cases, at its `places` if there are any, or to remove.

    `cases` has the position of each in the version by its key.
    """

    tag: str
    version: DatasetVersion
    cases: Mapping[str, int]
    places: Mapping[str, int] = field(default_factory=dict)
    on: bool = True

    def describe(self, number: int) -> str:
        """The message after so many cases changed."""
        if not number:
            problem = "each has" if self.on else "none of them has"
            rest = ", or the draft deletes it" if self.on else ""
            return f"No case changed: {problem} the tag {self.tag}{rest}."
        done = f"tagged {self.tag}" if self.on else f"freed of the tag {self.tag}"
        text = f"{number:,} case{'s' * (number != 1)} {done} in the draft of the next version."
        unchanged = len(self.cases) - number
        return f"{text} Left as they are: {unchanged:,}." if unchanged else text


class TagForm(forms.Form):
    """The ticked cases of the latest version, by position, and a tag to add or remove."""

    places: Final[Mapping[str, int]] = {}

    tag = forms.CharField(max_length=MAX_TAG)
    version = forms.IntegerField()

    def __init__(self, sent: QueryDict, dataset: Dataset) -> None:
        super().__init__(sent)
        self._dataset, self._ticked = dataset, sent.getlist("position")

    def clean_version(self) -> int:
        number: int = self.cleaned_data["version"]
        if self._dataset.latest is None or number != self._dataset.latest.number:
            raise forms.ValidationError("Another version was published meanwhile. Tick them again.")
        return number

    @property
    def tagged_version(self) -> DatasetVersion:
        return cast("DatasetVersion", self._dataset.latest)

    @property
    def cases(self) -> dict[str, int]:
        """The ticked cases: the position of each by its key."""
        numbers = [whole_number(text) for text in self._ticked]
        positions = [number for number in numbers if number is not None]
        return self.tagged_version.cases.positions_of(positions[:MAX_TICKED])

    def clean(self) -> dict[str, Any]:
        if not self._ticked:
            raise forms.ValidationError("Tick the cases first.")
        return self.cleaned_data

    @property
    def problem(self) -> str:
        """The first error of the form."""
        name, errors = next(iter(self.errors.items()))
        return "Write the tag." if name == "tag" else str(errors[0])


class UndoTagForm(forms.Form):
    """Cases to undo a tagging of: their positions in a version, by the tag's place in their tags.

    Positions are short whatever the keys are, and no later version changes them.
    """

    tagged_version: DatasetVersion
    cases: Mapping[str, int]
    places: Mapping[str, int]

    tag = forms.CharField(max_length=MAX_TAG)
    version = forms.IntegerField()
    cases_by_place = forms.JSONField()

    def __init__(self, sent: QueryDict | Mapping[str, str], dataset: Dataset) -> None:
        super().__init__(sent)
        self._dataset = dataset

    @staticmethod
    def write_fields(
        version: DatasetVersion, cases: Mapping[str, int], places: Mapping[str, int]
    ) -> dict[str, str]:
        """The values of the fields; `cases` has the position of each case by its key."""
        positions: dict[int, list[int]] = {}
        for key, place in places.items():
            positions.setdefault(place, []).append(cases[key])
        cases_by_place = json.dumps(positions, separators=(",", ":"))
        return {"version": str(version.number), "cases_by_place": cases_by_place}

    def clean(self) -> dict[str, Any]:
        cleaned = self.cleaned_data
        number, by_place = cleaned.get("version"), cleaned.get("cases_by_place")
        version = self._dataset.versions.filter(number=number).first() if number else None
        places = _read_places(by_place) if isinstance(by_place, dict) else {}
        if version is None or not places:
            raise forms.ValidationError("These are no cases that were tagged.")
        self.tagged_version = version
        self.cases = version.cases.positions_of(list(places))
        self.places = {key: places[position] for key, position in self.cases.items()}
        return cleaned

    @property
    def problem(self) -> str:
        return "This cannot be undone: what was to be sent along is not whole."


def _read_places(by_place: Mapping[str, Any]) -> dict[int, int]:
    """The place of the tag by the position of the case."""
    return {
        position: place
        for text, positions in by_place.items()
        if (place := whole_number(text)) is not None and isinstance(positions, list)
        for position in positions
        if isinstance(position, int) and whole_number(str(position)) is not None
    }


@post_action
def tag_cases(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Add a tag to the ticked cases in the draft, or remove it; or undo that."""
    dataset = access.dataset_for(request.user, uid, Role.EDITOR)
    query = request.POST.get("query", "")
    path = reverse("tag_cases", args=[uid])
    apply_sent_tagging(request, dataset, path, {"query": query})
    return redirect(f"{reverse('dataset', args=[uid])}?{query}".removesuffix("?"))


def apply_sent_tagging(
    request: SignedInRequest, dataset: Dataset, path: str, fields: Mapping[str, str]
) -> None:
    """Apply the tagging that was posted, by ticks or by an Undo."""
    form_class = UndoTagForm if "cases_by_place" in request.POST else TagForm
    form: UndoTagForm | TagForm = form_class(request.POST, dataset=dataset)
    if form.is_valid():
        tag, on = form.cleaned_data["tag"], "off" not in request.POST
        tagging = TagAction(tag, form.tagged_version, form.cases, form.places, on)
        apply_tagging(request, dataset, tagging, path, fields)
    else:
        messages.error(request, form.problem)


def apply_tagging(
    request: SignedInRequest,
    dataset: Dataset,
    tagging: TagAction,
    path: str,
    fields: Mapping[str, str],
) -> None:
    """Tag the cases and add a message whose Undo posts these fields to this path."""
    try:
        keys, tag, places = list(tagging.cases), tagging.tag, tagging.places
        changed = drafts.tag_cases(dataset, keys, tag, request.user, on=tagging.on, places=places)
    except (ContentError, DraftError) as refused:
        messages.error(request, str(refused))
        return
    if not changed:
        messages.info(request, tagging.describe(0))
        return
    undo = {"tag": tag, **UndoTagForm.write_fields(tagging.version, tagging.cases, changed)}
    if tagging.on:
        undo["off"] = "1"
    add_undo_message(request, tagging.describe(len(changed)), path, {**fields, **undo})
