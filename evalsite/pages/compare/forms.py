"""The query of a comparison: its runs, and the list of pairs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from math import nan
from typing import Any, Final
from uuid import UUID

from django import forms
from django.db.models import Q, QuerySet
from django.http import QueryDict

from evalsite.pages.web.fields import PositionField
from evalsite.pages.web.search_forms import MAX_TEXT
from scoring.core.charts.comparison_charts import ScoreRange
from scoring.engine.runs.neighbours import run_baseline
from scoring.models import Dataset, Run, Team
from scoring.models.pairs.rows import PairFilters, PairKind, ScoreRanges
from scoring.models.prepared_query import prepared_query
from scoring.models.reviews.broken_cases import BrokenCases, CaseState
from scoring.models.runs.run import RunQuerySet
from scoring.models.subqueries import count_rows

MAX_RUNS: Final = 10  # candidates beside one baseline
INITIAL_OFFERED: Final = 50  # runs of a dataset at first, the newest
MAX_OFFERED: Final = 500  # on request
KINDS: Final[dict[PairKind, str]] = {
    PairKind.BROKE: "Broke",
    PairKind.FIXED: "Fixed",
    PairKind.UNCHANGED: "Unchanged",
    PairKind.UNCLEAR: "Inconclusive",
    PairKind.NEITHER: "Not scored in either",
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
ARCHIVED: Final = "archived"  # the value of `choose` that offers archived runs too
ALL: Final = "all"  # the value of `runs` that offers older ones too
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


class RunsForm(forms.Form):
    """The runs by their uuids, as the address names them."""

    baseline = forms.UUIDField()
    candidate = forms.Field(required=False)

    def clean_candidate(self) -> list[UUID]:
        texts = list(dict.fromkeys(self.data.getlist("candidate")))  # type: ignore[attr-defined]
        if not texts:
            raise forms.ValidationError("Choose the run to compare with the baseline.")
        if len(texts) > MAX_RUNS:
            raise forms.ValidationError(f"Choose at most {MAX_RUNS} runs: {len(texts)} are chosen.")
        field = forms.UUIDField()
        return [field.clean(text) for text in texts]

    @property
    def names_no_run(self) -> bool:
        """Whether the address holds something that is no run's id."""
        return any(self.has_error(name, "invalid") for name in self.fields)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("baseline") in cleaned.get("candidate", ()):
            self.add_error("candidate", "The baseline is among them: choose another run.")
        return cleaned


class DatasetForm(forms.Form):
    """The dataset whose runs are offered."""

    dataset = forms.ModelChoiceField(
        Dataset.objects.none(), required=False, to_field_name="uuid", empty_label=None
    )

    def __init__(self, query: QueryDict, *, team: Team) -> None:
        super().__init__(query)
        field = self.fields["dataset"]
        field.queryset = team.datasets.listed().order_by("name")  # type: ignore[attr-defined]
        field.widget.attrs["data-submits"] = True

    def chosen(self, team: Team) -> Dataset | None:
        """The chosen dataset, or that of the chosen runs, or of the team's newest run."""
        dataset: Dataset | None = self.cleaned_data["dataset"] if self.is_valid() else None
        if dataset or self.errors:
            return dataset
        named = _parse_runs(self.data)  # type: ignore[arg-type]
        run = _newest_named.first(team.pk, named) or _newest_ended.first(team.pk)
        return run.output_set.version.dataset if run else None


@prepared_query
def _newest_named(team: int, uids: Sequence[UUID]) -> QuerySet[Run]:
    return Run.objects.filter(team=team, uuid__in=uids).ended().for_list()[:1]


@prepared_query
def _newest_ended(team: int) -> QuerySet[Run]:
    return Run.objects.filter(team=team).ended().unarchived().for_list()[:1]


class OfferedRuns:
    """The ended runs of a dataset to choose from, the newest first.

    The address says whether it `has_archived` runs, and `has_all` older ones.
    """

    def __init__(self, dataset: Dataset, query: QueryDict) -> None:
        self.has_archived = query.get("choose") == ARCHIVED
        self.has_all = query.get("runs") == ALL
        self._chosen = _parse_runs(query)
        self._dataset = dataset.pk

    @cached_property
    def runs(self) -> list[Run]:
        """The newest runs, then those that are chosen already or pinned, whatever their age and
        even if they are archived.
        """
        limit = MAX_OFFERED if self.has_all else INITIAL_OFFERED
        return _offered_runs(
            self._dataset, self._chosen, has_archived=self.has_archived, limit=limit
        )

    @cached_property
    def count(self) -> int:
        """The number of runs; archived ones count on request."""
        return _count_listed(self._dataset, has_archived=self.has_archived)[0]

    @property
    def lacks_older(self) -> bool:
        """Whether some are left out for their age alone."""
        return (
            not self.has_all and len(self.runs) >= INITIAL_OFFERED and self.count > len(self.runs)
        )

    @cached_property
    def lacks_archived(self) -> bool:
        """Whether there are archived ones that are left out."""
        if self.has_archived:
            return False
        return bool(_other_archived(self._dataset, [run.pk for run in self.runs]))


def _listed_runs(dataset: int, *, has_archived: bool) -> RunQuerySet:
    ended = Run.objects.filter(output_set__version__dataset=dataset).ended()
    return ended if has_archived else ended.unarchived()


@prepared_query
def _offered_runs(
    dataset: int, chosen: Sequence[UUID], *, has_archived: bool, limit: int
) -> QuerySet[Run]:
    listed = _listed_runs(dataset, has_archived=has_archived)
    is_newest = Q(pk__in=listed.order_by("-pk").values("pk")[:limit])
    is_offered = is_newest | Q(is_baseline=True) | Q(uuid__in=chosen)
    return _listed_runs(dataset, has_archived=True).for_list().filter(is_offered)


@prepared_query
def _count_listed(dataset: int, *, has_archived: bool) -> QuerySet[Dataset, int]:
    count = count_rows(_listed_runs(dataset, has_archived=has_archived))
    return Dataset.objects.filter(pk=dataset).values_list(count, flat=True)


@prepared_query
def _other_archived(dataset: int, offered: Sequence[int]) -> QuerySet[Run, int]:
    """The id of one, if there is any."""
    runs = _listed_runs(dataset, has_archived=True).exclude(archived_at=None)
    return runs.exclude(pk__in=offered).order_by().values_list("pk", flat=True)[:1]


def _parse_runs(query: QueryDict) -> list[UUID]:
    """The runs that an address names, whatever else it says."""
    texts = [query.get("baseline", ""), *query.getlist("candidate")]
    return [UUID(text) for text in texts if _UUID.fullmatch(text)]


class ChoiceForm(forms.Form):
    """A baseline and candidates among a dataset's runs; at first the newest and its baseline."""

    baseline = forms.ChoiceField(label="Baseline")
    candidate = forms.MultipleChoiceField(
        label="Candidates",
        widget=forms.CheckboxSelectMultiple,
        help_text=f"One run, or up to {MAX_RUNS}.",
    )

    def __init__(self, query: QueryDict, runs: Sequence[Run]) -> None:
        super().__init__(initial=_initial_choice(query, runs))
        choices = [(str(run.uuid), _run_label(run)) for run in runs]
        for name in ("baseline", "candidate"):
            self.fields[name].choices = choices  # type: ignore[attr-defined]


class RangeField(forms.Field):
    """A range as addresses write it, `0.2..0.24`, between `minimum` and 1."""

    widget = forms.HiddenInput

    def __init__(self, minimum: float) -> None:
        super().__init__(required=False)
        self.minimum = minimum

    def to_python(self, value: Any) -> ScoreRange | None:
        if not value:
            return None
        try:
            low, high = map(float, str(value).split(RANGE_SIGN))
        except ValueError:
            low = high = nan
        if not self.minimum <= low < high <= 1:
            text = f"Write a range as two numbers from {self.minimum:g} to 1, such as 0.2..0.24."
            raise forms.ValidationError(text)
        return ScoreRange(low, high)


class PairListForm(forms.Form):
    """Which pairs of two runs are listed, and where in the list to begin."""

    kind = forms.ChoiceField(required=False, choices=list(KINDS.items()), widget=forms.HiddenInput)
    scorer = forms.ChoiceField(required=False, label="Verdict of")
    tag = forms.CharField(max_length=MAX_TEXT, required=False, strip=False)
    q = forms.CharField(max_length=MAX_TEXT, required=False, strip=False, label="Text")
    after = PositionField(required=False)
    before = PositionField(required=False)
    n = forms.IntegerField(required=False, min_value=1)
    state = forms.ChoiceField(
        required=False, label="Sign-off", choices=[("", "any"), *CaseState.choices]
    )
    was = RangeField(0)
    now = RangeField(0)
    change = RangeField(-1)

    def __init__(self, query: QueryDict, *, scorers: Sequence[str], runs: tuple[Run, Run]) -> None:
        super().__init__(query)
        self.broken = BrokenCases(*runs)
        choices = [("", "the case"), *((name, name) for name in scorers)]
        self.fields["scorer"].choices = choices  # type: ignore[attr-defined]
        for name in ("q", "tag"):
            self.fields[name].widget = forms.TextInput(attrs={"type": "search"})

    @property
    def chosen_kind(self) -> PairKind | None:
        kind = self.cleaned_data.get("kind")
        return PairKind(kind) if kind else None

    @property
    def filters(self) -> PairFilters:
        scorer, tag, text = (self.cleaned_data.get(name, "") for name in ("scorer", "tag", "q"))
        return self._signed_off(PairFilters(scorer, tag, text, self.ranges))

    def _signed_off(self, filters: PairFilters) -> PairFilters:
        """With the outputs that are in the chosen state; it is known of broken cases alone."""
        if not (state := self.chosen_state):
            return filters
        outputs = self.broken.outputs_in(state)
        if state == CaseState.OPEN:
            return replace(filters, without=outputs)
        return replace(filters, only=outputs)

    @property
    def chosen_state(self) -> CaseState | None:
        state = self.cleaned_data.get("state")
        return CaseState(state) if state and self.has_states else None

    @property
    def has_states(self) -> bool:
        """Whether the list is of broken cases, of which something may have been decided."""
        is_broken = self.chosen_kind in (None, PairKind.BROKE)
        return is_broken and not self.cleaned_data.get("scorer")

    @property
    def ranges(self) -> ScoreRanges:
        return ScoreRanges(*(self.cleaned_data.get(name) for name in ScoreRanges._fields))

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if any(self.ranges) and not cleaned.get("scorer"):
            raise forms.ValidationError("Choose the scorer that the range of scores is of.")
        return cleaned


def _initial_choice(query: QueryDict, runs: Sequence[Run]) -> dict[str, Any]:
    """The runs of the address, else the newest finished run and what it is compared with."""
    known = {str(run.uuid): run for run in runs}
    candidates = [uid for uid in query.getlist("candidate") if uid in known]
    newest = known[candidates[0]] if candidates else next(iter(runs), None)
    baseline = known.get(query.get("baseline", "")) or (newest and run_baseline(newest))
    if baseline and str(baseline.uuid) not in known:  # it is archived
        baseline = next((run for run in runs if run != newest), None)
    chosen = candidates or ([str(newest.uuid)] if newest and newest != baseline else [])
    return {"baseline": baseline and str(baseline.uuid), "candidate": chosen}


def _run_label(run: Run) -> str:
    outputs = run.output_set
    parts = [run.name, f"series {outputs.series}", f"{outputs.dated:%-d %b %Y}"]
    if run.output_count is not None:
        parts.append(f"{run.output_count:,} outputs")
    if run.archived_at:
        parts.append("archived")
    return " · ".join(parts)
