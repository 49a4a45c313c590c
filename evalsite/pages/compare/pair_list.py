"""The cases of two runs on a page: tabs by kind of change, filters, rows and links."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse

from evalsite.pages.compare.case_states import CaseStates, ListedState, StateLink
from evalsite.pages.compare.forms import KINDS, OPENED, RANGE_SIGN, PairListForm
from evalsite.pages.compare.links import LIST_PARAMS, RANGES, case_url, change_query
from evalsite.pages.compare.relabelled_runs import LaterVerdicts
from evalsite.pages.web.search_forms import Chip
from evalsite.templatetags.formatting import plain, signed
from scoring.core.charts.comparison_charts import ScoreRange
from scoring.core.textdiff.first_difference import DifferenceExcerpt, first_difference
from scoring.models import Output, Relabel, Run
from scoring.models.case_list.change_filter import CHANGE_KINDS
from scoring.models.case_paging import OPENING_LENGTH, PAGE_SIZE, CasePosition
from scoring.models.pairs.excerpts import OUTPUT_LENGTH, PairRow, read_pair_rows
from scoring.models.pairs.pair_index import indexed_list
from scoring.models.pairs.pairs import Pairs
from scoring.models.pairs.rows import NO_FILTERS, PairKind, PairPage
from scoring.models.reviews.broken_cases import CaseState

MAX_COLUMNS: Final = 4
PAGING: Final = ("after", "before", "n")


class KindTab(NamedTuple):
    title: str
    cases: int | None  # None where filters are on: counting what they leave may take long
    url: str
    is_here: bool


class ScoreChange(NamedTuple):
    """One scorer's scores of a case in both runs, None where a run has none, and its thresholds
    there.
    """

    scorer: str
    before: float | None
    after: float | None
    thresholds: tuple[float, float]

    @property
    def delta(self) -> float | None:
        if self.before is None or self.after is None:
            return None
        return round(self.after - self.before, 12)


class ListedPair(NamedTuple):
    row: PairRow
    url: str
    changes: Sequence[ScoreChange]
    state: ListedState | None = None  # of a broken case
    later: Sequence[str] = ()  # the verdicts by the later labels, if they are others

    @property
    def parts(self) -> tuple[DifferenceExcerpt, DifferenceExcerpt] | None:
        """Both outputs from their first difference on; None if one of them is missing."""
        before, after = self.row.before, self.row.after
        if not (before and after and before.output and after.output):
            return None
        return first_difference(
            before.output, after.output, whole=OUTPUT_LENGTH, room=OPENING_LENGTH
        )


@dataclass
class PairList:
    """One list of a comparison. `thresholds` are those of each scorer in both runs, by its name;
    `counts` holds how many pairs of each kind there are. The outputs `without` are not listed.
    `relabels` are the later labels of the runs that have any, by the ids of these.
    """

    baseline: Run
    candidate: Run
    thresholds: Mapping[str, tuple[float, float]]
    counts: dict[PairKind, int]
    query: QueryDict
    without: frozenset[int] = frozenset()
    relabels: Mapping[int, Relabel] = field(default_factory=dict)

    @property
    def scorers(self) -> Sequence[str]:
        return list(self.thresholds)

    @cached_property
    def form(self) -> PairListForm:
        form = PairListForm(self.query, scorers=self.scorers, runs=(self.baseline, self.candidate))
        form.full_clean()
        return form

    @cached_property
    def kind(self) -> PairKind:
        """The chosen kind, else the first kind of change that has cases."""
        if self.form.chosen_state:
            return PairKind.BROKE
        full = (kind for kind in OPENED if self.counts[kind])
        return self.form.chosen_kind or next(full, PairKind.BROKE)

    def tabs(self) -> Iterator[KindTab]:
        for kind, title in KINDS.items():
            is_counted = not (self.is_narrowed or self.without)  # what is not listed would show
            count = self.counts[kind] if is_counted else None
            yield KindTab(title, count, self.changed(kind=kind.value), kind == self.kind)

    @property
    def is_narrowed(self) -> bool:
        return self.form.filters != NO_FILTERS

    @property
    def unfiltered(self) -> str:
        return self.changed(**dict.fromkeys(LIST_PARAMS[1:]))

    @property
    def ranges(self) -> list[tuple[str, str]]:
        """The ranges of scores that are on, as the address has them."""
        return [(name, range_text(span)) for name, span in self._spans]

    @property
    def filter_chips(self) -> list[Chip]:
        """The ranges in words, each with the address without it."""
        return [
            Chip(self._describe_range(name, span), f"{self.changed(**{name: None})}#cases")
            for name, span in self._spans
        ]

    @property
    def _spans(self) -> list[tuple[str, ScoreRange]]:
        return [(name, span) for name, span in self.form.ranges._asdict().items() if span]

    def _describe_range(self, name: str, span: ScoreRange) -> str:
        verbs = {"was": "was", "now": "is", "change": "changed by"}
        show = signed if name == "change" else plain
        limits = f"{show(span.low)} to {show(span.high)}"
        return f"{self.form.filters.scorer} {verbs[name]} {limits}"

    def range_url(self, scorer: str, **spans: ScoreRange) -> str:
        """The address of all pairs whose scores by this scorer lie in these ranges."""
        changes = dict.fromkeys(("tag", "q", "state", *RANGES))
        changes |= {name: range_text(span) for name, span in spans.items()}
        return f"{self.changed(**changes, kind=PairKind.PAIRS, scorer=scorer)}#cases"

    @cached_property
    def page(self) -> PairPage:
        cleaned = self.form.cleaned_data
        return Pairs(self.baseline, self.candidate).page(
            self.kind,
            self.form.filters.leave_out(self.without),
            after=cleaned.get("after"),
            before=cleaned.get("before"),
            positions=self._positions,
        )

    @property
    def _positions(self) -> Sequence[int] | None:
        """The positions of the whole list, if they are stored."""
        listed = self.form.filters.listed(self.kind)
        if not (listed.scorer or self.counts[self.kind]):
            return []
        runs = self.baseline, self.candidate
        return indexed_list(*runs, self.kind, listed.scorer, listed.ranges.change).positions

    @cached_property
    def columns(self) -> Sequence[str]:
        """The scorers with a column: the first ones and the chosen one."""
        chosen = self.form.filters.scorer
        others = [name for name in self.scorers if name != chosen]
        shown = {chosen, *others[: MAX_COLUMNS - bool(chosen)]}
        return [name for name in self.scorers if name in shown]

    @cached_property
    def rows(self) -> list[ListedPair]:
        first = self.first_number
        later = LaterVerdicts(self.baseline, self.candidate, self.relabels, self.page.rows)
        return [
            ListedPair(
                row,
                self._case_url(row, first and first + n),
                self._changes(row),
                self._state(row),
                later.of(row.pair),
            )
            for n, row in enumerate(read_pair_rows(self.page.rows, self.baseline, self.candidate))
        ]

    @property
    def has_trials(self) -> bool:
        """Whether cases of either run have several trials."""
        return Pairs(self.baseline, self.candidate).has_trials

    @cached_property
    def has_states(self) -> bool:
        """Whether these are broken cases, each accepted, rejected, waived or open."""
        return self.kind == PairKind.BROKE and self.form.has_states

    @cached_property
    def states(self) -> CaseStates:
        outputs = [pair.candidate.output for pair in self.page.rows if pair.candidate]
        return CaseStates(self.form.broken, self.counts[PairKind.BROKE], outputs)

    @property
    def state_links(self) -> list[StateLink]:
        urls = (
            (state, f"{self.changed(kind=self.kind, state=state)}#cases") for state in CaseState
        )
        return self.states.links(urls, self.form.chosen_state)

    @property
    def any_state_url(self) -> str:
        """The broken cases whatever was decided of them."""
        return f"{self.changed(kind=self.kind, state=None)}#cases"

    @property
    def list_query(self) -> str:
        """The query string of this page of the list, by which an action comes back to it."""
        return self.query.urlencode()

    def _state(self, row: PairRow) -> ListedState | None:
        half = row.pair.candidate
        return self.states.of(half.output) if half and self.has_states else None

    @property
    def first_number(self) -> int | None:
        """The number of the page's first row in the list; None where the address lacks it."""
        cleaned = self.form.cleaned_data
        is_first = not (cleaned.get("after") or cleaned.get("before"))
        return cleaned.get("n") or (1 if is_first else None)

    @property
    def previous_url(self) -> str | None:
        rows, first = self.page.rows, self.first_number
        if not self.page.has_previous or not rows:
            return None
        number = str(max(1, first - PAGE_SIZE)) if first else None
        return self.changed(kind=self.kind, before=rows[0].place.written, n=number)

    @property
    def next_url(self) -> str | None:
        rows, first = self.page.rows, self.first_number
        if not self.page.has_next or not rows:
            return None
        number = str(first + len(rows)) if first else None
        return self.changed(kind=self.kind, after=rows[-1].place.written, n=number)

    def changed(self, **changes: str | None) -> str:
        """The query string of the list's start with some parameters set or (None) removed."""
        return change_query(self.query, *PAGING, **changes)

    def _case_url(self, row: PairRow, number: int | None) -> str:
        """The case side by side; of a case that the candidate lacks, its page in the baseline."""
        pair = row.pair
        query = f"{self.case_query}&n={number}" if number else self.case_query
        path = self._cases_paths[1 if pair.candidate else 0]
        trial = f"&trial={pair.place.trial}" if pair.place.trial else ""
        return f"{path}{pair.place.position}/?{query}{trial}"

    @cached_property
    def _cases_paths(self) -> tuple[str, str]:
        """The paths of the baseline's and the candidate's cases; worked out once for all rows."""
        baseline, candidate = (
            reverse("run_case", args=[run.uuid, 0]).removesuffix("0/")
            for run in (self.baseline, self.candidate)
        )
        return baseline, candidate

    @cached_property
    def case_query(self) -> str:
        """The query string of a case, which keeps the list."""
        is_missing = self.kind == PairKind.ONLY_BASELINE
        other = {"absent": self.candidate} if is_missing else {"against": self.baseline}
        query = {name: str(run.uuid) for name, run in other.items()} | {"kind": self.kind.value}
        for name in LIST_PARAMS[1:]:
            if value := self.form.cleaned_data.get(name):
                query[name] = range_text(value) if isinstance(value, ScoreRange) else value
        return urlencode(query)

    @property
    def review_url(self) -> str:
        """Where a review queue of the listed cases is created; "" for lists that a run has not."""
        filters = self.form.filters
        if self.kind not in CHANGE_KINDS or filters.scorer or self.form.chosen_state:
            return ""
        query = {"change": self.kind.value, "baseline": str(self.baseline.uuid)}
        query |= {name: text for name in ("tag", "q") if (text := self.form.cleaned_data.get(name))}
        return reverse("new_review_queue", args=[self.candidate.uuid], query=query)

    @cached_property
    def places_without(self) -> frozenset[CasePosition]:
        """Where the cases stand that are not listed; no query where there are none."""
        if not self.without:
            return frozenset()
        own = Output.objects.filter(output_set=self.candidate.output_set_id, pk__in=self.without)
        return frozenset(CasePosition(*row) for row in own.values_list("case__position", "trial"))

    def pair_url(self, position: CasePosition) -> str:
        """A pair by itself, outside any list."""
        return case_url(self.candidate, position, f"against={self.baseline.uuid}")

    def _changes(self, row: PairRow) -> list[ScoreChange]:
        before, after = (side.scores if side else {} for side in (row.before, row.after))
        return [
            ScoreChange(name, before.get(name), after.get(name), self.thresholds[name])
            for name in self.columns
        ]


def range_text(span: ScoreRange) -> str:
    """A range as addresses write it."""
    return f"{span.low:g}{RANGE_SIGN}{span.high:g}"
