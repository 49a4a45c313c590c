"""A run's case table on a page: its rows, and the addresses around it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Final, NamedTuple
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse

from evalsite import access
from evalsite.access import RunAccess
from evalsite.blind_review import blind_pairs
from evalsite.pages.cases.display_options import REMEMBERED
from evalsite.pages.cases.labels import CaseLabel, RunLabels
from evalsite.pages.cases.table.baseline_choice import AUTO, BaselineChoice
from evalsite.pages.cases.table.columns import NAME, Columns
from evalsite.pages.cases.table.filter_chips import describe_filters, describe_order
from evalsite.pages.cases.table.forms import CaseForm
from evalsite.pages.web.search_forms import Chip
from evalsite.templatetags.formatting import NOTHING, count
from scoring.models import Run, RunScorer, Score, Status, Verdict
from scoring.models.case_list.filters import NO_FILTERS
from scoring.models.case_list.table import CasePage, CaseRow, CaseTable
from scoring.models.case_paging import PAGE_SIZE, CasePosition
from scoring.models.reviews.review import ReviewQuerySet
from scoring.models.runs.score import ScoreRow

PAGING: Final = ("after", "before", "n", "trial")
LABELS: Final = ("expected", "answered")
VIEWING: Final = ("diff", "between", "against", "whole", "undo", "history", *REMEMBERED)
_VERDICTS: Final = {verdict.value: verdict.label for verdict in Verdict}
_UNSCORED: Final = {status.value: status.label for status in Status}


class ColumnHeading(NamedTuple):
    """A column's head: its link sorts by it, and turns the order round when it is sorted by."""

    name: str
    url: str
    sort: str  # ascending, descending or ""


class ScoreCell(NamedTuple):
    """One scorer's answer in a row; `verdict` also says error or skipped, "" before the answer."""

    scorer: RunScorer
    score: float | None
    verdict: str
    reason: str
    threshold: float


class Neighbours(NamedTuple):
    """The previous and next case of a list, and the case's own number in it ("17 of 131").

    `own_url` is ready for one more part of the query. `alone_url` shows the case in this run and
    `compared_url` with its baseline; both are empty in the list of a comparison.
    """

    previous_url: str | None
    next_url: str | None
    standing: str
    list_url: str
    own_url: str
    alone_url: str = ""
    compared_url: str = ""


@dataclass
class CaseList:
    """What the run page shows of its cases, and where a case stands among them.

    `reviews` gives those of the run that the person may see, `hidden` and `unpaired` the outputs of
    which they may not see verdicts, or not those in the baseline.
    """

    run: Run
    scorers: Sequence[RunScorer]
    query: QueryDict
    baseline_choice: BaselineChoice = field(default_factory=BaselineChoice)
    reviews: Callable[[], ReviewQuerySet] | None = None
    labels: RunLabels | None = None
    hidden: frozenset[int] = frozenset()
    unpaired: frozenset[int] = frozenset()
    masks: bool = True

    def label_of(self, row: CaseRow) -> CaseLabel:
        """The verdict that is shown of a case, and what another label says."""
        if self.labels is None or row.is_hidden:
            return CaseLabel(row.verdict, "")
        return self.labels.label_case(row)

    @cached_property
    def form(self) -> CaseForm:
        form = CaseForm(
            self.query,
            scorers=self.scorers,
            baseline_choice=self.baseline_choice,
            reviews=self.reviews,
        )
        form.full_clean()
        return form

    @cached_property
    def table(self) -> CaseTable:
        return CaseTable(
            self.run,
            self.scorers,
            self.form.filters,
            self.form.sorting,
            marks_unsteady=self.has_trials,
            compared_with=self.baseline_choice.chosen if "change" in self.columns else None,
            counts_reviews="reviews" in self.columns,
            counts_comments=True,
            has_one_each=self.has_one_each,
            hidden=self.hidden,
            unpaired=self.unpaired,
            masks=self.masks,
        )

    @cached_property
    def page(self) -> CasePage:
        cleaned = self.form.cleaned_data
        return self.table.page(after=cleaned["after"], before=cleaned["before"])

    @cached_property
    def first_number(self) -> int:
        """The number of the page's first row in the table, as the links to it carry it."""
        cleaned = self.form.cleaned_data
        return (cleaned["n"] or 1) if cleaned["after"] or cleaned["before"] else 1

    @property
    def is_numbered(self) -> bool:
        """Whether rows can be numbered: not in a page reached without its number."""
        cleaned = self.form.cleaned_data
        return bool(cleaned["n"]) or not (cleaned["after"] or cleaned["before"])

    @cached_property
    def columns(self) -> Columns:
        """The chosen columns, else the default ones with those of the filter and the order."""
        form = self.form
        needed = (form.filters.scorer, form.sorting.scorer) if form.is_valid() else ()
        has_baseline = self.baseline_choice.chosen is not None
        return Columns(self.scorers, self.query.getlist(NAME), needed, has_baseline)

    @property
    def case_heading(self) -> ColumnHeading:
        return self._heading("", "Case")

    def headings(self) -> Iterator[ColumnHeading]:
        """The head of each scorer's column."""
        for index in self.columns.scorer_indexes:
            name = self.scorers[index].name
            yield self._heading(name, name)

    def rows(self) -> Iterator[tuple[CaseRow, str, list[ScoreCell]]]:
        """Each row with its address and a cell for each scorer that has a column."""
        indexes = self.columns.scorer_indexes
        for number, row in enumerate(self.page.rows, start=self.first_number):
            url = self.case_url(row.place, number if self.is_numbered else None)
            yield (
                row,
                url,
                [score_cell(self.scorers[n], row.scores[n], self.labels) for n in indexes],
            )

    def case_url(
        self,
        position: CasePosition,
        number: int | None,
        viewing: Sequence[str] = ("diff", "between", "against", *REMEMBERED),
    ) -> str:
        """The case's page, which keeps the table's filters and order, and how cases are viewed."""
        own = {"n": number, "trial": position.trial} | {n: self.query.get(n) for n in viewing}
        query = urlencode({name: value for name, value in own.items() if value})
        start = "&".join(filter(None, (self._start_query, query)))
        return f"{self._cases_path}{position.position}/?{start}"

    def changed(self, **changes: str | None) -> str:
        """The query string of the table's start with some parts set or (None) taken off."""
        query = {name: values for name, values in self._start.items() if name not in changes}
        query |= {name: [value] for name, value in changes.items() if value}
        return f"?{urlencode(query, doseq=True)}"

    @cached_property
    def _start(self) -> dict[str, list[str]]:
        """The parts of the address of the table's start; built once, for every row's address."""
        return {
            name: values
            for name, values in self.query.lists()
            if values and values[-1] and name not in {*PAGING, *VIEWING}
        }

    @cached_property
    def _start_query(self) -> str:
        return urlencode(self._start, doseq=True)

    @cached_property
    def _cases_path(self) -> str:
        """What the addresses of all cases begin with; looked up once, for every row's address."""
        return reverse("run_case", args=[self.run.uuid, 0]).removesuffix("0/")

    @cached_property
    def has_trials(self) -> bool:
        """Whether cases have several trials; the scorers' summaries are to be joined."""
        cached = (scorer._state.fields_cache.get("summary") for scorer in self.scorers)
        return any(summary and summary.trials for summary in cached)

    @property
    def has_one_each(self) -> bool:
        """Whether every case of the version has just one output in the run, as far as is known."""
        cached = [scorer._state.fields_cache.get("summary") for scorer in self.scorers]
        is_known = all(cached) and not self.run.is_unfinished and not self.has_trials
        return is_known and self.run.case_count == self.run.output_set.version.case_count

    @property
    def lacks_pairs(self) -> bool:
        """Whether the filter needs the comparison with the baseline, which nobody has enqueued."""
        change = self.form.selected_change if self.form.is_valid() else None
        is_known = self.baseline_choice.is_compared or self.baseline_choice.is_requested
        return bool(change and change.is_rare) and not is_known

    @property
    def is_narrowed(self) -> bool:
        """Whether some filter is on."""
        return self.form.is_valid() and self.form.filters != NO_FILTERS

    def kept(self, *names: str) -> list[tuple[str, str]]:
        """The parameters of the address that a form with these `names` keeps unchanged."""
        dropped = {*PAGING, *VIEWING, *names}
        lists = ((name, values) for name, values in self.query.lists() if name not in dropped)
        return [(name, value) for name, values in lists for value in values if value]

    @property
    def kept_for_filters(self) -> list[tuple[str, str]]:
        return self.kept(*self.form.fields)

    @property
    def kept_for_bulk_actions(self) -> list[tuple[str, str]]:
        return self.kept("place")

    @property
    def listed(self) -> list[str]:
        """The single cases to which the address limits the list."""
        return list(filter(None, self.query.getlist("place")))

    @property
    def kept_for_columns(self) -> list[tuple[str, str]]:
        return self.kept(NAME)

    @property
    def kept_for_scores(self) -> list[tuple[str, str]]:
        own = ("verdict", "scorer", "min", "max", "below", "code", "unsteady", "trials", *LABELS)
        return self.kept(*own)

    @property
    def kept_for_trials(self) -> list[tuple[str, str]]:
        return self.kept("trials")

    @property
    def address(self) -> str:
        """The query string that shows just this page again."""
        return f"?{self.query.urlencode()}" if self.query else ""

    @property
    def previous_url(self) -> str | None:
        if not self.page.has_previous or not self.page.rows:
            return None
        number = str(max(self.first_number - PAGE_SIZE, 1)) if self.is_numbered else None
        return self.changed(before=self.page.rows[0].place.written, n=number)

    @property
    def next_url(self) -> str | None:
        if not self.page.has_next or not self.page.rows:
            return None
        number = str(self.first_number + len(self.page.rows)) if self.is_numbered else None
        return self.changed(after=self.page.rows[-1].place.written, n=number)

    @property
    def left_out(self) -> int:
        """How many outputs the person is yet to review, where the list leaves them out."""
        return len(self.table.left_out) if self.form.is_valid() else 0

    @property
    def range_text(self) -> str:
        """Which cases are shown of how many; the total only where it costs nothing."""
        if not self.is_numbered:
            return ""
        last = self.first_number + len(self.page.rows) - 1
        total = last if not self.page.has_next else self.table.count
        span = f"{count(self.first_number)}{NOTHING}{count(last)}"
        return span if total is None else f"{span} of {count(total)}"

    def neighbours(
        self, position: CasePosition, scores: Iterable[Score], *, is_reviewed: bool
    ) -> Neighbours:
        """The neighbours of the case with these scores; in an address that cannot be used, those
        of the whole run.

        A case that got or lost its review has left a list that filters by this: the one after it
        has taken its number.
        """
        is_usable = self.form.is_valid()
        table = self.table if is_usable else CaseTable(self.run, self.scorers, hidden=self.hidden)
        number = self.form.cleaned_data.get("n")
        has_left = table.filters.reviewed not in {None, is_reviewed}
        before, after, total = table.neighbours(position, scores)
        is_far = before and number and number > PAGE_SIZE
        start = {"after": before.written, "n": str(number)} if before and is_far else {}
        alone = self.case_url(position, number, ("diff", *REMEMBERED))
        return Neighbours(
            before and self.case_url(before, number and number - 1),
            after and self.case_url(after, number and number + (not has_left)),
            _describe_number(None if has_left else number, total if number else None),
            reverse("run", args=[self.run.uuid]) + self.changed(**start),
            self.case_url(position, number, ("against", *REMEMBERED)) + "&",
            alone,
            f"{alone}&against={AUTO}",
        )

    def filter_chips(self) -> list[Chip]:
        """The filters that are on."""
        labels = [self.form.cleaned_data[name] for name in LABELS]
        filters = describe_filters(self.form.filters, *labels)
        return [Chip(text, self.changed(**dict.fromkeys(names))) for text, names in filters]

    @property
    def order_text(self) -> str:
        return describe_order(self.form.sorting)

    @property
    def unfiltered(self) -> str:
        """The address without any filter, in the same order and columns."""
        names = [name for _, names in describe_filters(self.form.filters) for name in names]
        return self.changed(**dict.fromkeys((*names, *LABELS, "scorer")))

    @property
    def default_columns(self) -> str:
        return self.changed(**{NAME: None})

    def _heading(self, name: str, title: str) -> ColumnHeading:
        cleaned = self.form.cleaned_data
        is_sorted, is_descending = cleaned["sort"] == name, cleaned["order"] == "desc"
        order = "desc" if is_sorted and not is_descending else None
        sort = ("descending" if is_descending else "ascending") if is_sorted else ""
        return ColumnHeading(title, self.changed(sort=name or None, order=order), sort)


def open_case_list(
    opened: RunAccess,
    scorers: Sequence[RunScorer],
    query: QueryDict,
    baseline_choice: BaselineChoice,
    *,
    masks: bool = True,
    labels: RunLabels | None = None,
) -> CaseList:
    """The list as the person may see it: of what they are yet to review it tells no verdict.

    Without `masks` such outputs are left out of every list.
    """
    user, run = opened.user, opened.run
    hidden = unpaired = frozenset[int]()
    if opened.has_blind_outputs and baseline_choice.chosen is None:
        hidden = unpaired = opened.blind_outputs_of_run
    elif opened.has_blind_outputs and baseline_choice.chosen:
        _, unpaired, hidden = blind_pairs(user, baseline_choice.chosen, run)
    reviews = partial(access.reviews_of_run, opened)
    return CaseList(run, scorers, query, baseline_choice, reviews, labels, hidden, unpaired, masks)


def _describe_number(number: int | None, total: int | None) -> str:
    """As in "17 of 131"; of a case that has left the list, how many are left there."""
    if number is None:
        return "" if total is None else f"{count(total)} left"
    return count(number) if total is None else f"{count(number)} of {count(total)}"


def score_cell(
    scorer: RunScorer, score: ScoreRow | None, labels: RunLabels | None = None
) -> ScoreCell:
    """With labels, by the ones that they show."""
    threshold = labels.shown_threshold(scorer) if labels else scorer.threshold
    if score is None:
        return ScoreCell(scorer, None, "", "", threshold)
    found = labels.shown_verdict(scorer, score) if labels else score.verdict
    verdict = _UNSCORED[score.status] if found is None else _VERDICTS[found]
    return ScoreCell(scorer, score.score, verdict, score.reason, threshold)
