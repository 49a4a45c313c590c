"""Forms that edit cases: what a browser sends, back into the values a case holds."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from typing import Any, Final, cast

from django import forms
from django.http import QueryDict

from scoring.core.contract import CaseProblem, Json
from scoring.core.files import MISSING
from scoring.core.json_text import parse
from scoring.core.shown import written
from scoring.engine.drafts import CaseTexts, StaleError
from scoring.models import Case, Dataset, DatasetVersion, DraftEdit
from scoring.models.dataset import KEY_LENGTH, CaseContent

MAX_TAG: Final = 1_000  # characters
MOST_TICKED: Final = 500
MOST_SAMPLED: Final = 1_000_000

TEXT, JSON, NOTHING = "text", "json", "nothing"
KINDS: Final = {TEXT: "a text", JSON: "JSON", NOTHING: "nothing is expected"}


class CaseForm(forms.Form):
    """One case of a draft. `content` is what it holds now; None for a new case.

    A browser sends every line end as CR LF: what differs in nothing else stays as it was.
    """

    input = forms.CharField(required=False, strip=False, widget=forms.Textarea)
    input_kind = forms.ChoiceField(choices=list(KINDS.items())[:2], label="Input is")
    expected = forms.CharField(required=False, strip=False, widget=forms.Textarea)
    expected_kind = forms.ChoiceField(
        choices=list(KINDS.items()),
        label="Expected is",
    )
    tags = forms.CharField(
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="One a line.",
    )
    metadata = forms.CharField(
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false"}),
        help_text="A JSON object.",
    )
    seen = forms.IntegerField(min_value=0, widget=forms.HiddenInput)
    version = forms.IntegerField(min_value=1, required=False, widget=forms.HiddenInput)

    def __init__(
        self,
        sent: QueryDict | None,
        content: CaseContent | None,
        seen: int = 0,
        version: int | None = None,
    ) -> None:
        self.content, self.theirs = content, cast("DraftEdit | Case | None", None)
        super().__init__(sent, initial=as_typed(content) | {"seen": seen, "version": version})
        for number in range(1, self._reference_count + 2):
            self.fields[f"reference_{number}"] = forms.CharField(
                required=False,
                strip=False,
                label=f"Reference {number}",
                widget=forms.Textarea(attrs={"rows": 2}),
            )
        if content is None:
            self.fields["key"] = forms.CharField(
                required=False,
                max_length=KEY_LENGTH,
                help_text="Names the case in every version. Left empty, a hash of the input.",
            )

    @property
    def references(self) -> list[forms.BoundField]:
        return [self[name] for name in self.fields if name.startswith("reference_")]

    def clean_input(self) -> Json:
        return self._value("input")

    def clean_expected(self) -> Any:
        if self.data.get("expected_kind") != NOTHING:
            return self._value("expected")
        if self.cleaned_data["expected"] and self["expected"].initial != self._as_it_was(
            "expected"
        ):
            raise forms.ValidationError("Something is written here. Say whether a text or JSON.")
        return MISSING

    def clean_metadata(self) -> dict[str, Json]:
        text = self._as_it_was("metadata")
        value = _parsed(text) if text.strip() else {}
        if not isinstance(value, dict):
            raise forms.ValidationError("This is no JSON object.")
        return value

    def clean_tags(self) -> tuple[str, ...]:
        text = self._as_it_was("tags")
        if self.content and text == self.get_initial_for_field(self.fields["tags"], "tags"):
            return tuple(self.content.tags)
        return tuple(line.strip() for line in text.split("\n") if line.strip())

    @property
    def texts(self) -> CaseTexts:
        asked = self.cleaned_data
        return CaseTexts(
            asked["input"],
            asked["expected"],
            self._reference_texts,
            asked["metadata"],
            asked["tags"],
        )

    def take_in(self, stale: StaleError, version: int | None) -> None:
        """Show what somebody else changed meanwhile; sent again, the form overwrites that."""
        seen = stale.edit.revision if stale.edit else 0
        self.data = dict(self.data.items()) | {"seen": str(seen), "version": str(version)}
        self.theirs = stale.content

    def unlike(self, content: CaseContent) -> dict[str, str]:
        """The texts of the content that are not as this form shows them, by the label of each."""
        typed = as_typed(content)
        names = [name for name in self.fields if name not in ("seen", "version", "key")]
        unlike = [name for name in names if not _is_alike(typed.get(name), self[name].value())]
        texts = {str(self[name].label): str(typed.get(name, "")) for name in unlike}
        return {
            title: KINDS[text] if title.endswith(" is") else text for title, text in texts.items()
        }

    def add_problems(self, problems: dict[str, str]) -> None:
        """Say at each field why its content cannot be kept."""
        for name, text in problems.items():
            self.add_error(name if name in self.fields else None, text)

    @property
    def _reference_texts(self) -> tuple[str, ...]:
        """What was typed, without the fields left empty; an empty one there was stays."""
        texts = tuple(self._as_it_was(field.name) for field in self.references)
        kept = tuple(self.content.references) if self.content else ()
        is_same = texts[: len(kept)] == kept and not any(texts[len(kept) :])
        return kept if is_same else tuple(text for text in texts if text)

    @property
    def _reference_count(self) -> int:
        sent = [name for name in self.data if name.startswith("reference_")]
        kept = len(self.content.references) if self.content else 0
        return max(kept, min(len(sent), 1_000) - 1)

    def _value(self, name: str) -> Json:
        text = self._as_it_was(name)
        return _parsed(text) if self.data.get(f"{name}_kind") == JSON else text

    def _as_it_was(self, name: str) -> str:
        """The text that was sent; the one that was shown where only line ends differ."""
        sent = str(self.cleaned_data.get(name, "")).replace("\r\n", "\n")
        shown = str(self.get_initial_for_field(self.fields[name], name) or "")
        return shown if shown.replace("\r\n", "\n").replace("\r", "\n") == sent else sent


class TagForm(forms.Form):
    """Cases of the latest version, by where they stand, and a tag to put on or to take off."""

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

    places: Final[Mapping[str, int]] = {}

    @property
    def tagged_version(self) -> DatasetVersion:
        return cast("DatasetVersion", self._dataset.latest)

    @property
    def cases(self) -> dict[str, int]:
        """The ticked cases: the position of each by its key."""
        places = [int(text) for text in self._ticked if _is_number(text)]
        return self.tagged_version.cases.positions_of(places[:MOST_TICKED])

    def clean(self) -> dict[str, Any]:
        if not self._ticked:
            raise forms.ValidationError("Tick the cases first.")
        return super().clean() or self.cleaned_data

    @property
    def fault(self) -> str:
        """The first reason why it is not done."""
        said = {"tag": "Write the tag."} | {
            name: str(errors[0]) for name, errors in self.errors.items() if name != "tag"
        }
        return next(said[name] for name in self.errors if name in said)


class TaggedForm(forms.Form):
    """Cases that a tag was put on or taken off, as an Undo sends them: where they stand in a
    version of the dataset, by the place of the tag among the tags of each.

    Positions are short whatever the keys are, and no later version changes them.
    """

    tag = forms.CharField(max_length=MAX_TAG)
    version = forms.IntegerField()
    cases_by_place = forms.JSONField()

    def __init__(self, sent: QueryDict | Mapping[str, str], dataset: Dataset) -> None:
        super().__init__(sent)
        self._dataset = dataset

    @staticmethod
    def written(
        version: DatasetVersion, cases: Mapping[str, int], places: Mapping[str, int]
    ) -> dict[str, str]:
        """The fields that say this; `cases` has the position of each case by its key."""
        positions: dict[int, list[int]] = {}
        for key, place in places.items():
            positions.setdefault(place, []).append(cases[key])
        listed = json.dumps(positions, separators=(",", ":"))
        return {"version": str(version.number), "cases_by_place": listed}

    def clean(self) -> dict[str, Any]:
        asked = super().clean() or self.cleaned_data
        number, by_place = asked.get("version"), asked.get("cases_by_place")
        version = self._dataset.versions.filter(number=number).first() if number else None
        places = _places_of(by_place) if isinstance(by_place, dict) else {}
        if version is None or not places:
            raise forms.ValidationError("These are no cases that were tagged.")
        self.tagged_version = version
        self.cases = version.cases.positions_of(list(places))
        self.places = {key: places[position] for key, position in self.cases.items()}
        return asked

    @property
    def fault(self) -> str:
        """Why it is not done."""
        return "This cannot be undone: what was to be sent along is not whole."


def _places_of(by_place: Mapping[str, Any]) -> dict[int, int]:
    """The place of the tag, by the position of the case."""
    return {
        position: int(place)
        for place, positions in by_place.items()
        if _is_number(place) and isinstance(positions, list)
        for position in positions
        if isinstance(position, int) and _is_number(str(position))
    }


def _is_number(text: str) -> bool:
    """Whether it is a whole number that a column of either database holds."""
    return text.isdecimal() and len(text) < 10


class PublishForm(forms.Form):
    """What a version is published with."""

    message = forms.CharField(
        max_length=1_000, label="What changed and why", widget=forms.Textarea(attrs={"rows": 2})
    )


class CarveForm(forms.Form):
    """Which cases of a version become a dataset of their own, and how it is called."""

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
        max_value=MOST_SAMPLED,
        label="Sample size",
        help_text="So many cases, drawn at random; empty for all of them.",
    )
    seed = forms.IntegerField(
        min_value=0, max_value=2**31 - 1, help_text="The same seed draws the same cases again."
    )
    name = forms.CharField(max_length=120, label="Name of the new dataset")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs["initial"] = {"seed": secrets.randbelow(10_000)} | (kwargs.get("initial") or {})
        super().__init__(*args, **kwargs)

    def source(self, version: object, number: int) -> str:
        """Where so many cases come from, in words; without the seed where none were drawn."""
        asked = self.cleaned_data
        is_one = number == 1
        cases = f"{number:,} {'case' if is_one else 'cases'} of {version}"
        part = f"{cases} tagged {asked['tag']}" if asked["tag"] else cases
        return f"{part}, seed {asked['seed']}" if asked["n"] == number else part


def as_typed(content: CaseContent | None) -> dict[str, Any]:
    """What somebody would type into a CaseForm for the case to hold this."""
    if content is None:
        return {"input_kind": TEXT, "expected_kind": NOTHING, "metadata": "{}"}
    kept = {f"reference_{n}": text for n, text in enumerate(content.references, start=1)}
    return kept | {
        "input": written(content.input),
        "input_kind": TEXT if isinstance(content.input, str) else JSON,
        "expected": written(content.expected) if content.has_expected else "",
        "expected_kind": _kind_of_expected(content),
        "tags": "\n".join(content.tags),
        "metadata": written(content.metadata),
    }


def _is_alike(one: object, other: object) -> bool:
    """Whether two texts differ in line ends at most, which browsers change."""
    texts = (str(each or "").replace("\r\n", "\n").replace("\r", "\n") for each in (one, other))
    return len(set(texts)) == 1


def _kind_of_expected(content: CaseContent) -> str:
    if not content.has_expected:
        return NOTHING
    return TEXT if isinstance(content.expected, str) else JSON


def _parsed(text: str) -> Json:
    try:
        return parse(text, refuse_nul=True)
    except CaseProblem as fault:
        if fault.code == "invalid_json":
            why = f"{fault.text[:1].lower()}{fault.text[1:]}"
            raise forms.ValidationError(f"This cannot be read as JSON: {why}.") from None
        raise forms.ValidationError(f"{fault.text[:1].upper()}{fault.text[1:]}.") from None
