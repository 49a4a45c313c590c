"""What the address of a case table asks for: filters, order, and where in the table to begin."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from django import forms

from evalsite.pages.case.against import Against
from scoring.engine.confusion import labelled
from scoring.models import RunScorer, Verdict
from scoring.models.case_changes import KINDS, Change
from scoring.models.case_filters import CaseFilters
from scoring.models.case_labels import Labelled
from scoring.models.case_table import CaseOrder, Place
from scoring.models.pair_rows import PairKind

MAX_TEXT: Final = 200
MOST_PLACES: Final = 500


class PlaceField(forms.Field):
    """A place as addresses write it: `173`, or `173.2` for a later trial."""

    def to_python(self, value: Any) -> Place | None:
        parts = str(value or "").split(".")
        if parts == [""]:
            return None
        if len(parts) > 2 or not all(_is_number(part) for part in parts):
            raise forms.ValidationError("This is no place in the table.")
        return Place(*map(int, parts))


class PlacesField(forms.Field):
    """Single cases that were ticked, each as PlaceField reads it."""

    widget = forms.MultipleHiddenInput

    def to_python(self, value: Any) -> frozenset[Place]:
        if len(value or ()) > MOST_PLACES:
            raise forms.ValidationError(f"At most {MOST_PLACES} cases can be ticked.")
        read = PlaceField(required=False)
        return frozenset(place for text in value or () if (place := read.clean(text)))


class CaseForm(forms.Form):
    """The filters and the order of a run's case table, as the address holds them."""

    verdict = forms.ChoiceField(required=False)
    scorer = forms.ChoiceField(required=False, label="of")
    min = forms.FloatField(required=False, label="Score from")
    max = forms.FloatField(required=False, label="to")
    below = forms.FloatField(required=False, widget=forms.HiddenInput)
    code = forms.CharField(max_length=40, required=False, widget=forms.HiddenInput)
    tag = forms.CharField(max_length=MAX_TEXT, required=False, strip=False)
    q = forms.CharField(max_length=MAX_TEXT, required=False, strip=False, label="Text")
    unsteady = forms.BooleanField(required=False, label="Unsteady over trials")
    change = forms.ChoiceField(
        required=False,
        choices=[("", "any"), *((kind.value, kind.label) for kind in KINDS)],
        label="Changed",
    )
    baseline = forms.ChoiceField(required=False, label="since")
    reviewed = forms.ChoiceField(
        required=False, choices=[("", "any"), ("yes", "reviewed"), ("no", "not reviewed")]
    )
    sort = forms.ChoiceField(required=False, widget=forms.HiddenInput)
    order = forms.ChoiceField(
        required=False, choices=[("", ""), ("desc", "")], widget=forms.HiddenInput
    )
    expected = forms.CharField(required=False, strip=False, widget=forms.HiddenInput)
    answered = forms.CharField(required=False, strip=False, widget=forms.HiddenInput)
    place = PlacesField(required=False)
    after = PlaceField(required=False)
    before = PlaceField(required=False)
    n = forms.IntegerField(required=False, min_value=1)
    trial = forms.IntegerField(required=False, min_value=0, max_value=32_767)

    def __init__(
        self,
        *args: Any,
        scorers: Sequence[RunScorer],
        against: Against = Against(),  # noqa: B008  frozen
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.against = against
        self._labelled: Labelled | None = None
        self.scorers = {scorer.name: scorer for scorer in scorers}
        named = [(name, name) for name in self.scorers]
        verdicts = [(verdict.label, verdict.label) for verdict in Verdict]
        self._offer("verdict", [("", "any"), *verdicts])
        self._offer("scorer", [("", "the case"), *named])
        self._offer("sort", [("", ""), *named])
        self._offer("baseline", [(str(run.uuid), run.name) for run in against.offered])
        chosen = against.chosen
        self.initial["baseline"] = chosen and str(chosen.uuid)
        for name in ("min", "max"):
            self.fields[name].widget.attrs |= {"min": 0, "max": 1, "step": "any"}
        self.fields["min"].widget.attrs["aria-label"] = "Score from"
        self.fields["max"].widget.attrs["aria-label"] = "Score to"
        for name in ("q", "tag"):
            self.fields[name].widget = forms.TextInput(attrs={"type": "search"})

    def _offer(self, name: str, choices: Iterable[tuple[str, str]]) -> None:
        self.fields[name].choices = list(choices)  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        chosen = super().clean() or self.cleaned_data
        names = ("code", "expected", "answered")
        needs_scorer = any(chosen.get(name) for name in names) or any(
            chosen.get(name) is not None for name in ("min", "max", "below")
        )
        if needs_scorer and not chosen.get("scorer") and "scorer" not in self.errors:
            if len(self.scorers) == 1:
                chosen["scorer"] = next(iter(self.scorers))
            else:
                self.add_error("scorer", "Say which scorer's score is meant.")
        if (chosen.get("expected") or chosen.get("answered")) and not self._read_labels(chosen):
            self.add_error("scorer", "This scorer has no such classes, or too many ways to them.")
        if chosen.get("change") and self.against.chosen is None and "baseline" not in self.errors:
            self.add_error("change", "No earlier run of the series to tell a change from.")
        return chosen

    def _read_labels(self, chosen: dict[str, Any]) -> bool:
        """Whether the scorer has the labels that the address names."""
        scorer = self.scorers.get(chosen.get("scorer", ""))
        labels = chosen["expected"], chosen["answered"]
        self._labelled = labelled(scorer, *labels) if scorer else None
        return self._labelled is not None

    @property
    def asked_change(self) -> Change | None:
        kind, against = self.cleaned_data["change"], self.against.chosen
        if not (kind and against):
            return None
        return Change(PairKind(kind), against, is_compared=self.against.is_compared)

    @property
    def filters(self) -> CaseFilters:
        asked = self.cleaned_data
        verdicts = {verdict.label: verdict for verdict in Verdict}
        return CaseFilters(
            verdict=verdicts.get(asked["verdict"]),
            scorer=self.scorers.get(asked["scorer"]),
            minimum=asked["min"],
            maximum=asked["max"],
            below=asked["below"],
            code=asked["code"],
            tag=asked["tag"],
            text=asked["q"],
            unsteady=asked["unsteady"],
            change=self.asked_change,
            places=asked["place"],
            labelled=self._labelled,
            reviewed={"yes": True, "no": False}.get(asked["reviewed"]),
        )

    @property
    def sorting(self) -> CaseOrder:
        asked = self.cleaned_data
        return CaseOrder(self.scorers.get(asked["sort"]), asked["order"] == "desc")


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 10
