"""What the address of a comparison asks for: which runs, and which of their cases."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from math import nan
from typing import Any, Final
from uuid import UUID

from django import forms
from django.db.models import Q
from django.http import QueryDict

from evalsite.pages.forms.cases import MAX_TEXT, PlaceField
from scoring.core.compare_chart import Span
from scoring.engine.gates import baseline_of
from scoring.models import Dataset, Run, Team
from scoring.models.pair_rows import PairFilters, PairKind, Ranges

MOST: Final = 10  # candidates beside one baseline
OFFERED: Final = 200  # runs of a dataset, the newest
KINDS: Final[dict[PairKind, str]] = {
    PairKind.BROKE: "Broke",
    PairKind.FIXED: "Fixed",
    PairKind.UNCHANGED: "Unchanged",
    PairKind.UNCLEAR: "Unclear",
    PairKind.NEITHER: "Judged in neither",
    PairKind.ONLY_BASELINE: "Only in baseline",
    PairKind.ONLY_CANDIDATE: "Only in candidate",
    PairKind.EDITED: "Edited",
    PairKind.PAIRS: "In both",
}
#: The order in which a comparison opens one that has cases: what changed comes first.
OPENED: Final = (
    PairKind.BROKE,
    PairKind.FIXED,
    PairKind.UNCLEAR,
    PairKind.ONLY_BASELINE,
    PairKind.ONLY_CANDIDATE,
    PairKind.EDITED,
    PairKind.UNCHANGED,
    PairKind.NEITHER,
)
RANGE_SIGN: Final = ".."
ARCHIVED: Final = "archived"  # said by `choose`: archived runs are to be offered too
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


class RunsForm(forms.Form):
    """The runs by their uuids, as the address names them."""

    baseline = forms.UUIDField()
    candidate = forms.Field(required=False)

    def clean_candidate(self) -> list[UUID]:
        texts = list(dict.fromkeys(self.data.getlist("candidate")))  # type: ignore[attr-defined]
        if not texts:
            raise forms.ValidationError("Choose the run to compare with the baseline.")
        if len(texts) > MOST:
            raise forms.ValidationError(f"Choose at most {MOST} runs: {len(texts)} are chosen.")
        field = forms.UUIDField()
        return [field.clean(text) for text in texts]

    @property
    def names_no_run(self) -> bool:
        """Whether an address of a run is none, so that it leads to nothing."""
        return any(self.has_error(name, "invalid") for name in self.fields)

    def clean(self) -> dict[str, Any]:
        chosen = super().clean() or self.cleaned_data
        if chosen.get("baseline") in chosen.get("candidate", ()):
            self.add_error("candidate", "The baseline is among them: choose another run.")
        return chosen


class DatasetForm(forms.Form):
    """Whose runs are offered."""

    dataset = forms.ModelChoiceField(
        Dataset.objects.none(), required=False, to_field_name="uuid", empty_label=None
    )

    def __init__(self, query: QueryDict, *, team: Team) -> None:
        super().__init__(query)
        field = self.fields["dataset"]
        field.queryset = team.datasets.published().order_by("name")  # type: ignore[attr-defined]
        field.widget.attrs["data-submits"] = True

    def chosen(self, team: Team) -> Dataset | None:
        """The dataset asked for, or that of the runs asked for, or of the team's newest run."""
        dataset: Dataset | None = self.cleaned_data["dataset"] if self.is_valid() else None
        if dataset or self.errors:
            return dataset
        runs = Run.objects.filter(team=team).ended().for_list()
        named = _named(self.data)  # type: ignore[arg-type]
        found = (named and runs.filter(uuid__in=named).first()) or runs.unarchived().first()
        return found.output_set.version.dataset if found else None


class OfferedRuns:
    """The ended runs of a dataset to choose from, the newest first."""

    def __init__(self, dataset: Dataset, query: QueryDict) -> None:
        self._of_dataset = Run.objects.of_dataset(dataset).ended()
        self._query = query

    @property
    def has_archived(self) -> bool:
        """Whether archived ones are among them because they were asked for."""
        return self._query.get("choose") == ARCHIVED

    @cached_property
    def runs(self) -> list[Run]:
        """Archived ones only where they are asked for, chosen already or pinned."""
        runs = self._of_dataset.for_list()
        if not self.has_archived:
            is_chosen = Q(is_baseline=True) | Q(uuid__in=_named(self._query))
            runs = runs.filter(Q(archived_at=None) | is_chosen)
        return list(runs[:OFFERED])

    @cached_property
    def lacks_archived(self) -> bool:
        """Whether there are archived ones that are left out."""
        if self.has_archived:
            return False
        shown = [run.pk for run in self.runs]
        archived = self._of_dataset.exclude(archived_at=None)
        return archived.exclude(pk__in=shown).exists()


def _named(query: QueryDict) -> list[UUID]:
    """The runs that an address names, whatever else it says."""
    texts = [query.get("baseline", ""), *query.getlist("candidate")]
    return [UUID(text) for text in texts if _UUID.fullmatch(text)]


class ChoiceForm(forms.Form):
    """A baseline and candidates among a dataset's runs; at first the newest and its baseline."""

    baseline = forms.ChoiceField(label="Baseline")
    candidate = forms.MultipleChoiceField(
        label="Compare with it",
        widget=forms.CheckboxSelectMultiple,
        help_text=f"One run, or up to {MOST}.",
    )

    def __init__(self, query: QueryDict, runs: Sequence[Run]) -> None:
        super().__init__(initial=_initial(query, runs))
        choices = [(str(run.uuid), _label(run)) for run in runs]
        for name in ("baseline", "candidate"):
            self.fields[name].choices = choices  # type: ignore[attr-defined]


class RangeField(forms.Field):
    """A range as addresses write it, `0.2..0.24`, between `least` and 1."""

    widget = forms.HiddenInput

    def __init__(self, least: float) -> None:
        super().__init__(required=False)
        self.least = least

    def to_python(self, value: Any) -> Span | None:
        if not value:
            return None
        try:
            low, high = map(float, str(value).split(RANGE_SIGN))
        except ValueError:
            low = high = nan
        if not self.least <= low < high <= 1:
            text = f"Write a range as two numbers from {self.least:g} to 1, such as 0.2..0.24."
            raise forms.ValidationError(text)
        return Span(low, high)


class PairForm(forms.Form):
    """Which pairs of two runs are listed, and where in the list to begin."""

    kind = forms.ChoiceField(required=False, choices=list(KINDS.items()), widget=forms.HiddenInput)
    scorer = forms.ChoiceField(required=False, label="Verdict of")
    tag = forms.CharField(max_length=MAX_TEXT, required=False, strip=False)
    q = forms.CharField(max_length=MAX_TEXT, required=False, strip=False, label="Text")
    after = PlaceField(required=False)
    before = PlaceField(required=False)
    n = forms.IntegerField(required=False, min_value=1)
    was = RangeField(0)
    now = RangeField(0)
    change = RangeField(-1)

    def __init__(self, query: QueryDict, *, scorers: Sequence[str]) -> None:
        super().__init__(query)
        choices = [("", "the case"), *((name, name) for name in scorers)]
        self.fields["scorer"].choices = choices  # type: ignore[attr-defined]
        for name in ("q", "tag"):
            self.fields[name].widget = forms.TextInput(attrs={"type": "search"})

    @property
    def kind_asked(self) -> PairKind | None:
        kind = self.cleaned_data.get("kind")
        return PairKind(kind) if kind else None

    @property
    def filters(self) -> PairFilters:
        scorer, tag, text = (self.cleaned_data.get(name, "") for name in ("scorer", "tag", "q"))
        return PairFilters(scorer, tag, text, self.ranges)

    @property
    def ranges(self) -> Ranges:
        return Ranges(*(self.cleaned_data.get(name) for name in Ranges._fields))

    def clean(self) -> dict[str, Any]:
        asked = super().clean() or self.cleaned_data
        if any(self.ranges) and not asked.get("scorer"):
            raise forms.ValidationError("Choose the scorer that the range of scores is of.")
        return asked


def _initial(query: QueryDict, runs: Sequence[Run]) -> dict[str, Any]:
    """The runs of the address, else the newest finished run and what it is compared with."""
    known = {str(run.uuid): run for run in runs}
    candidates = [uid for uid in query.getlist("candidate") if uid in known]
    newest = known[candidates[0]] if candidates else next(iter(runs), None)
    baseline = known.get(query.get("baseline", "")) or (newest and baseline_of(newest))
    if baseline and str(baseline.uuid) not in known:  # it is archived
        baseline = next((run for run in runs if run != newest), None)
    chosen = candidates or ([str(newest.uuid)] if newest and newest != baseline else [])
    return {"baseline": baseline and str(baseline.uuid), "candidate": chosen}


def _label(run: Run) -> str:
    outputs = run.output_set
    parts = [run.name, f"series {outputs.series}", f"{outputs.dated:%-d %b %Y}"]
    if run.case_count is not None:
        parts.append(f"{run.case_count:,} outputs")
    if run.archived_at:
        parts.append("archived")
    return " · ".join(parts)
