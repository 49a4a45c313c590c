"""The query of a case table: filters, order and position."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from django import forms

from evalsite.pages.cases.table.baseline_choice import BaselineChoice
from evalsite.pages.web.fields import PositionField
from evalsite.pages.web.search_forms import MAX_TEXT
from scoring.engine.runs.confusion import labelled_counts
from scoring.models import RunScorer, Verdict
from scoring.models.case_list.change_filter import CHANGE_KINDS, ChangeFilter
from scoring.models.case_list.filters import CaseFilters
from scoring.models.case_list.label_filter import LabelFilter
from scoring.models.case_list.table import CaseOrder
from scoring.models.case_paging import CasePosition
from scoring.models.pairs.rows import PairKind
from scoring.models.reviews.people_verdict import PeopleFilter, PeopleVerdict
from scoring.models.reviews.review import ReviewQuerySet

MAX_POSITIONS: Final = 500
REVIEWED: Final = [("", "any"), ("yes", "reviewed"), ("no", "not reviewed")]


class PositionsField(forms.Field):
    """Single cases that were ticked, each as PositionField reads it."""

    widget = forms.MultipleHiddenInput

    def to_python(self, value: Any) -> frozenset[CasePosition]:
        if len(value or ()) > MAX_POSITIONS:
            raise forms.ValidationError(f"At most {MAX_POSITIONS} cases can be ticked.")
        field = PositionField(required=False)
        return frozenset(position for text in value or () if (position := field.clean(text)))


class CaseForm(forms.Form):
    """The filters and the order of a run's case table, as the address holds them.

    `reviews` gives those of the run that the person may see; without them the table cannot be
    filtered by what people say.
    """

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
        choices=[("", "any"), *((kind.value, kind.label) for kind in CHANGE_KINDS)],
        label="Changed",
    )
    baseline = forms.ChoiceField(required=False, label="since")
    reviewed = forms.ChoiceField(required=False, choices=REVIEWED)
    sort = forms.ChoiceField(required=False, widget=forms.HiddenInput)
    order = forms.ChoiceField(
        required=False, choices=[("", ""), ("desc", "")], widget=forms.HiddenInput
    )
    expected = forms.CharField(required=False, strip=False, widget=forms.HiddenInput)
    answered = forms.CharField(required=False, strip=False, widget=forms.HiddenInput)
    place = PositionsField(required=False)
    after = PositionField(required=False)
    before = PositionField(required=False)
    n = forms.IntegerField(required=False, min_value=1)
    trial = forms.IntegerField(required=False, min_value=0, max_value=32_767)

    def __init__(
        self,
        *args: Any,
        scorers: Sequence[RunScorer],
        baseline_choice: BaselineChoice = BaselineChoice(),  # noqa: B008  frozen
        reviews: Callable[[], ReviewQuerySet] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self._reviews = reviews
        if reviews is not None:
            said = [(verdict.code, f"people: {verdict.label}") for verdict in PeopleVerdict]
            self._offer("reviewed", [*REVIEWED, *said])
        self.baseline_choice = baseline_choice
        self._labelled: LabelFilter | None = None
        self.scorers = {scorer.name: scorer for scorer in scorers}
        named = [(name, name) for name in self.scorers]
        verdicts = [(verdict.label, verdict.label) for verdict in Verdict]
        self._offer("verdict", [("", "any"), *verdicts])
        self._offer("scorer", [("", "the case"), *named])
        self._offer("sort", [("", ""), *named])
        self._offer("baseline", [(str(run.uuid), run.name) for run in baseline_choice.offered])
        chosen = baseline_choice.chosen
        self.initial["baseline"] = chosen and str(chosen.uuid)
        for name in ("min", "max"):
            self.fields[name].widget.attrs |= {"min": 0, "max": 1, "step": "any"}
        self.fields["min"].widget.attrs["aria-label"] = "Score from"
        self.fields["max"].widget.attrs["aria-label"] = "Score to"
        for name in ("q", "tag"):
            self.fields[name].widget = forms.TextInput(attrs={"type": "search"})

    def hidden_values(self) -> list[tuple[str, str]]:
        """Names and values of the hidden fields; those without a value are there for scripts."""
        names = ("sort", "order", "code", "below", "expected", "answered")
        ticked = [("place", place) for place in self["place"].value() or ()]
        return [*((name, self[name].value() or "") for name in names), *ticked]

    def _offer(self, name: str, choices: Iterable[tuple[str, str]]) -> None:
        self.fields[name].choices = list(choices)  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        labels = cleaned.get("expected", ""), cleaned.get("answered", "")
        limits = (cleaned.get(name) for name in ("min", "max", "below"))
        needs_scorer = cleaned.get("code") or any(labels) or any(n is not None for n in limits)
        if needs_scorer and not cleaned.get("scorer") and "scorer" not in self.errors:
            if len(self.scorers) == 1:
                cleaned["scorer"] = next(iter(self.scorers))
            else:
                self.add_error("scorer", "Say which scorer's score is meant.")
        if any(labels):
            scorer = self.scorers.get(cleaned.get("scorer", ""))
            self._labelled = labelled_counts(scorer, *labels) if scorer else None
            if self._labelled is None:
                text = "This scorer has no such classes, or too many ways to them."
                self.add_error("scorer", text)
        has_baseline = self.baseline_choice.chosen is not None or "baseline" in self.errors
        if cleaned.get("change") and not has_baseline:
            self.add_error("change", "No earlier run of the series to tell a change from.")
        return cleaned

    @property
    def selected_change(self) -> ChangeFilter | None:
        kind, baseline = self.cleaned_data["change"], self.baseline_choice.chosen
        if not (kind and baseline):
            return None
        return ChangeFilter(PairKind(kind), baseline, is_compared=self.baseline_choice.is_compared)

    @property
    def filters(self) -> CaseFilters:
        cleaned = self.cleaned_data
        verdicts = {verdict.label: verdict for verdict in Verdict}
        return CaseFilters(
            verdict=verdicts.get(cleaned["verdict"]),
            scorer=self.scorers.get(cleaned["scorer"]),
            minimum=cleaned["min"],
            maximum=cleaned["max"],
            below=cleaned["below"],
            code=cleaned["code"],
            tag=cleaned["tag"],
            text=cleaned["q"],
            unsteady=cleaned["unsteady"],
            change=self.selected_change,
            places=cleaned["place"],
            labelled=self._labelled,
            reviewed={"yes": True, "no": False}.get(cleaned["reviewed"]),
            people=self._people_filter,
        )

    @property
    def _people_filter(self) -> PeopleFilter | None:
        code = self.cleaned_data["reviewed"]
        verdict = next((verdict for verdict in PeopleVerdict if verdict.code == code), None)
        if self._reviews is None or verdict is None:
            return None
        return PeopleFilter(self._reviews(), verdict)

    @property
    def sorting(self) -> CaseOrder:
        cleaned = self.cleaned_data
        return CaseOrder(self.scorers.get(cleaned["sort"]), cleaned["order"] == "desc")
