"""A run's case table on a page: its rows, and the addresses around it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse

from evalsite.pages.case.against import AUTO, Against
from evalsite.pages.case.chips import Chip, described, ordered
from evalsite.pages.case.columns import NAME, Columns
from evalsite.pages.case.switches import KEPT
from evalsite.pages.forms.cases import CaseForm
from evalsite.templatetags.look import NOTHING, count
from scoring.models import Run, RunScorer, Score, Status, Verdict
from scoring.models.case_filters import NO_FILTERS
from scoring.models.case_table import PAGE_SIZE, CasePage, CaseRow, CaseTable, Place

PAGING: Final = ("after", "before", "n", "trial")
LABELS: Final = ("expected", "answered")
VIEWING: Final = ("diff", "between", "against", "whole", "undo", *KEPT)
_VERDICTS: Final = {verdict.value: verdict.label for verdict in Verdict}
_UNSCORED: Final = {status.value: status.label for status in Status}


class Heading(NamedTuple):
    """A column's head: its link sorts by it, and turns the order round when it is sorted by."""

    name: str
    url: str
    sort: str  # ascending, descending or ""


class Cell(NamedTuple):
    """One scorer's answer in a row; `verdict` also says error or skipped, "" before the answer."""

    scorer: RunScorer
    score: float | None
    verdict: str
    reason: str


class Around(NamedTuple):
    """Where a case stands in the table: its neighbours' addresses, "17 of 131", the table's.

    `here` is the case's own address, ready for one more part of the query. `alone` shows the case
    in this run and `beside` beside its baseline; both are empty in the list of a comparison.
    """

    previous_url: str | None
    next_url: str | None
    standing: str
    list_url: str
    here: str
    alone: str = ""
    beside: str = ""


@dataclass
class CaseList:
    """What the run page shows of its cases, and where a case stands among them."""

    run: Run
    scorers: Sequence[RunScorer]
    query: QueryDict
    against: Against = field(default_factory=Against)

    @cached_property
    def form(self) -> CaseForm:
        form = CaseForm(self.query, scorers=self.scorers, against=self.against)
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
            beside=self.against.chosen if "change" in self.columns else None,
            counts_reviews="reviews" in self.columns,
            counts_comments=True,
            has_one_each=self.has_one_each,
        )

    @cached_property
    def page(self) -> CasePage:
        asked = self.form.cleaned_data
        return self.table.page(after=asked["after"], before=asked["before"])

    @cached_property
    def first_number(self) -> int:
        """The number of the page's first row in the table, as the links to it carry it."""
        asked = self.form.cleaned_data
        return (asked["n"] or 1) if asked["after"] or asked["before"] else 1

    @property
    def is_numbered(self) -> bool:
        """Whether rows can be numbered: not in a page reached without its number."""
        asked = self.form.cleaned_data
        return bool(asked["n"]) or not (asked["after"] or asked["before"])

    # Addresses.

    @cached_property
    def columns(self) -> Columns:
        """Those asked for, else the usual ones with the scorers that are filtered or sorted by."""
        is_read = self.form.is_valid()
        needed = (self.form.filters.scorer, self.form.sorting.scorer) if is_read else ()
        is_beside = self.against.chosen is not None
        return Columns(self.scorers, self.query.getlist(NAME), needed, is_beside)

    @property
    def case_heading(self) -> Heading:
        return self._heading("", "Case")

    def headings(self) -> Iterator[Heading]:
        """The head of each scorer's column."""
        for place in self.columns.places:
            name = self.scorers[place].name
            yield self._heading(name, name)

    def rows(self) -> Iterator[tuple[CaseRow, str, list[Cell]]]:
        """Each row with its address and a cell for each scorer that has a column."""
        places = self.columns.places
        for number, row in enumerate(self.page.rows, start=self.first_number):
            shown = str(number) if self.is_numbered else None
            cells = [cell_of(self.scorers[place], row.scores[place]) for place in places]
            yield row, self.case_url(row.place, shown), cells

    def case_url(
        self,
        place: Place,
        number: str | None,
        viewing: Sequence[str] = ("diff", "between", "against", *KEPT),
    ) -> str:
        """The case's page, which keeps the table's filters and order, and how cases are viewed."""
        path = reverse("run_case", args=[self.run.uuid, place.position])
        trial = str(place.trial) if place.trial else None
        kept = {name: self.query.get(name) for name in viewing}
        return path + self.changed(n=number, trial=trial, **kept)

    def changed(self, **changes: str | None) -> str:
        """The query string of the table's start with some parts set or (None) taken off."""
        kept = {name: values for name, values in self._start.items() if name not in changes}
        kept |= {name: [value] for name, value in changes.items() if value}
        return f"?{urlencode(kept, doseq=True)}"

    @cached_property
    def _start(self) -> dict[str, list[str]]:
        """The parts of the address of the table's start; built once, for every row's address."""
        left = {*PAGING, *VIEWING}
        lists = ((name, values) for name, values in self.query.lists() if name not in left)
        return {name: values for name, values in lists if values and values[-1]}

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
        """Whether it would help to keep where the cases of the wanted change stand, which nobody
        was asked to find out.
        """
        change = self.form.asked_change if self.form.is_valid() else None
        is_known = self.against.is_compared or self.against.is_asked
        return bool(change and change.is_rare) and not is_known

    @property
    def is_narrowed(self) -> bool:
        """Whether some filter is on."""
        return self.form.is_valid() and self.form.filters != NO_FILTERS

    def kept(self, *names: str) -> list[tuple[str, str]]:
        """The parts of the address that a form of these `names` leaves as they are."""
        left = {*PAGING, *VIEWING, *names}
        lists = ((name, values) for name, values in self.query.lists() if name not in left)
        return [(name, value) for name, values in lists for value in values if value]

    @property
    def beside_filters(self) -> list[tuple[str, str]]:
        """What the form of filters leaves as it is."""
        return self.kept(*self.form.fields)

    @property
    def beside_ticks(self) -> list[tuple[str, str]]:
        """What the form of ticked cases leaves as it is."""
        return self.kept("place")

    @property
    def listed(self) -> list[str]:
        """The single cases that alone are listed, as the address names them."""
        return [place for place in self.query.getlist("place") if place]

    @property
    def beside_columns(self) -> list[tuple[str, str]]:
        """What the form of columns leaves as it is."""
        return self.kept(NAME)

    @property
    def beside_scores(self) -> list[tuple[str, str]]:
        """What a link to some scores of a scorer leaves as it is."""
        own = ("verdict", "scorer", "min", "max", "below", "code", "unsteady", "trials", *LABELS)
        return self.kept(*own)

    @property
    def beside_trials(self) -> list[tuple[str, str]]:
        """What the choice of a figure for trials leaves as it is."""
        return self.kept("trials")

    @property
    def address(self) -> str:
        """The query string that shows just this page again."""
        return f"?{self.query.urlencode()}" if self.query else ""

    @property
    def previous_url(self) -> str | None:
        if not self.page.has_previous or not self.page.rows:
            return None
        number = max(self.first_number - PAGE_SIZE, 1)
        shown = str(number) if self.is_numbered else None
        return self.changed(before=self.page.rows[0].place.written, n=shown)

    @property
    def next_url(self) -> str | None:
        if not self.page.has_next or not self.page.rows:
            return None
        number = self.first_number + len(self.page.rows)
        shown = str(number) if self.is_numbered else None
        return self.changed(after=self.page.rows[-1].place.written, n=shown)

    @property
    def shown(self) -> str:
        """Which cases are shown of how many; the total only where it costs nothing."""
        if not self.is_numbered:
            return ""
        last = self.first_number + len(self.page.rows) - 1
        total = last if not self.page.has_next else self.table.count
        span = f"{count(self.first_number)}{NOTHING}{count(last)}"
        return span if total is None else f"{span} of {count(total)}"

    def around(self, place: Place, given: Iterable[Score], *, is_reviewed: bool) -> Around:
        """The case's neighbours; in an address that cannot be used, those of the whole run.

        `given` are the scores of the case. One that got or lost its review has left a list that
        filters by this: the one after it has taken its number.
        """
        table = self.table if self.form.is_valid() else CaseTable(self.run, self.scorers)
        number = self.form.cleaned_data.get("n")
        has_left = table.filters.reviewed not in {None, is_reviewed}
        before, after, total = table.neighbours(place, given)
        is_far = before and number and number > PAGE_SIZE
        start = {"after": before.written, "n": str(number)} if before and is_far else {}
        list_url = reverse("run", args=[self.run.uuid]) + self.changed(**start)
        alone = self.case_url(place, number and str(number), ("diff", *KEPT))
        return Around(
            before and self.case_url(before, number and str(number - 1)),
            after and self.case_url(after, number and str(number + (not has_left))),
            _standing(None if has_left else number, total if number else None),
            list_url,
            self.case_url(place, number and str(number), ("against", *KEPT)) + "&",
            alone,
            f"{alone}&against={AUTO}" if "?" in alone else f"{alone}?against={AUTO}",
        )

    def chips(self) -> list[Chip]:
        """The filters that are on."""
        labels = [self.form.cleaned_data[name] for name in LABELS]
        found = described(self.form.filters, *labels)
        return [Chip(text, self.changed(**dict.fromkeys(names))) for text, names in found]

    @property
    def order_said(self) -> str:
        return ordered(self.form.sorting)

    @property
    def unfiltered(self) -> str:
        """The address without any filter, in the same order and columns."""
        names = [name for _, names in described(self.form.filters) for name in names]
        return self.changed(**dict.fromkeys((*names, *LABELS, "scorer")))

    @property
    def usual_columns(self) -> str:
        return self.changed(**{NAME: None})

    def _heading(self, name: str, title: str) -> Heading:
        asked = self.form.cleaned_data
        is_sorted = asked["sort"] == name
        is_falling = asked["order"] == "desc"
        turned = "desc" if is_sorted and not is_falling else None
        sort = ("descending" if is_falling else "ascending") if is_sorted else ""
        return Heading(title, self.changed(sort=name or None, order=turned), sort)


def _standing(number: int | None, total: int | None) -> str:
    """As in "17 of 131"; of a case that has left the list, how many are left there."""
    if number is None:
        return "" if total is None else f"{count(total)} left"
    return count(number) if total is None else f"{count(number)} of {count(total)}"


def cell_of(scorer: RunScorer, score: Score | None) -> Cell:
    if score is None:
        return Cell(scorer, None, "", "")
    verdict = _UNSCORED[score.status] if score.verdict is None else _VERDICTS[score.verdict]
    return Cell(scorer, score.score, verdict, score.reason)
