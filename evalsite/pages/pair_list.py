"""The cases of two runs on a page: tabs by what became of them, rows, and the addresses around."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from django.http import QueryDict

from evalsite.pages.case.chips import Chip
from evalsite.pages.compare_urls import KEPT, RANGES, case_url
from evalsite.pages.forms.compare import KINDS, OPENED, RANGE_SIGN, PairForm
from evalsite.templatetags.look import plain, signed
from scoring.core.apart import Part, apart
from scoring.core.compare_chart import Span
from scoring.models import Run
from scoring.models.case_table import OPENING, PAGE_SIZE, Place
from scoring.models.pair_places import kept_list
from scoring.models.pair_rows import NO_FILTERS, PairKind, PairPage
from scoring.models.pair_texts import SAID, PairRow, rows_of
from scoring.models.pairs import Pairs

MAX_COLUMNS: Final = 4
PAGING: Final = ("after", "before", "n")


class Tab(NamedTuple):
    title: str
    cases: int | None  # None where filters are on: counting what they leave may take long
    url: str
    is_here: bool


class Change(NamedTuple):
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
    changes: Sequence[Change]

    @property
    def parts(self) -> tuple[Part, Part] | None:
        """What both runs said, from where it differs; None where one of them said nothing."""
        before, after = self.row.before, self.row.after
        if not (before and after and before.output and after.output):
            return None
        return apart(before.output, after.output, whole=SAID, room=OPENING)


@dataclass
class PairList:
    """One list of a comparison. `thresholds` are those of each scorer in both runs, by its name;
    `counts` holds how many pairs of each kind there are.
    """

    baseline: Run
    candidate: Run
    thresholds: Mapping[str, tuple[float, float]]
    counts: dict[PairKind, int]
    query: QueryDict

    @property
    def scorers(self) -> Sequence[str]:
        return list(self.thresholds)

    @cached_property
    def form(self) -> PairForm:
        form = PairForm(self.query, scorers=self.scorers)
        form.full_clean()
        return form

    @cached_property
    def kind(self) -> PairKind:
        """The one asked for, else the first of what changed that has cases."""
        full = (kind for kind in OPENED if self.counts[kind])
        return self.form.kind_asked or next(full, PairKind.BROKE)

    def tabs(self) -> Iterator[Tab]:
        for kind, title in KINDS.items():
            count = None if self.is_narrowed else self.counts[kind]
            yield Tab(title, count, self.changed(kind=kind.value), kind == self.kind)

    @property
    def is_narrowed(self) -> bool:
        return self.form.filters != NO_FILTERS

    @property
    def unfiltered(self) -> str:
        return self.changed(**dict.fromkeys(KEPT[1:]))

    @property
    def ranges(self) -> list[tuple[str, str]]:
        """The ranges of scores that are on, as the address has them."""
        on = self.form.ranges._asdict().items()
        return [(name, range_text(span)) for name, span in on if span]

    @property
    def chips(self) -> list[Chip]:
        """The ranges in words, each with the address without it."""
        on = [(name, span) for name, span in self.form.ranges._asdict().items() if span]
        return [
            Chip(self._in_words(name, span), f"{self.changed(**{name: None})}#cases")
            for name, span in on
        ]

    def _in_words(self, name: str, span: Span) -> str:
        titles = {"was": "was", "now": "is", "change": "changed by"}
        show = signed if name == "change" else plain
        limits = f"{show(span.low)} to {show(span.high)}"
        return f"{self.form.filters.scorer} {titles[name]} {limits}"

    def ranged(self, scorer: str, **spans: Span) -> str:
        """The address of all pairs whose scores by this scorer lie in these ranges."""
        asked = {name: range_text(span) for name, span in spans.items()}
        rest = dict.fromkeys(("tag", "q", *RANGES))
        query = self.changed(**rest | asked | {"kind": PairKind.PAIRS, "scorer": scorer})
        return f"{query}#cases"

    @cached_property
    def page(self) -> PairPage:
        pairs = Pairs(self.baseline, self.candidate)
        asked = self.form.cleaned_data
        return pairs.page(
            self.kind,
            self.form.filters,
            after=asked.get("after"),
            before=asked.get("before"),
            positions=self._positions,
        )

    @property
    def _positions(self) -> Sequence[int] | None:
        """Where the pairs of the whole list stand, if that is kept."""
        listed = self.form.filters.listed(self.kind)
        if not (listed.scorer or self.counts[self.kind]):
            return []
        runs = self.baseline, self.candidate
        return kept_list(*runs, self.kind, listed.scorer, listed.ranges.change).positions

    @property
    def columns(self) -> Sequence[str]:
        """The scorers that have a column: the first ones, and the one asked for."""
        asked = self.form.filters.scorer
        others = [name for name in self.scorers if name != asked]
        shown = {asked, *others[: MAX_COLUMNS - bool(asked)]}
        return [name for name in self.scorers if name in shown]

    @cached_property
    def rows(self) -> list[ListedPair]:
        rows = rows_of(self.page.rows, self.baseline, self.candidate)
        first = self.first_number
        numbers = [str(first + n) if first else None for n in range(len(rows))]
        return [
            ListedPair(row, self._case_url(row, number), self._changes(row))
            for row, number in zip(rows, numbers, strict=True)
        ]

    @property
    def first_number(self) -> int | None:
        """The number of the page's first row in the list; None where it was reached without."""
        asked = self.form.cleaned_data
        is_first = not (asked.get("after") or asked.get("before"))
        return asked.get("n") or (1 if is_first else None)

    @property
    def previous_url(self) -> str | None:
        rows = self.page.rows
        is_first = not self.page.has_previous or not rows
        if is_first:
            return None
        first = self.first_number
        number = str(max(1, first - PAGE_SIZE)) if first else None
        return self.changed(kind=self.kind, before=written(rows[0].place), n=number)

    @property
    def next_url(self) -> str | None:
        rows = self.page.rows
        is_last = not self.page.has_next or not rows
        if is_last:
            return None
        first = self.first_number
        number = str(first + len(rows)) if first else None
        return self.changed(kind=self.kind, after=written(rows[-1].place), n=number)

    def changed(self, **changes: str | None) -> str:
        """The query string of the list's start with some parts set or (None) taken off."""
        query = self.query.copy()
        for name in PAGING:
            query.pop(name, None)
        for name, value in changes.items():
            query.pop(name, None)
            if value:
                query[name] = value
        return f"?{query.urlencode()}"

    def _case_url(self, row: PairRow, number: str | None) -> str:
        """The case side by side; of a case that the candidate lacks, its page in the baseline."""
        pair = row.pair
        query = f"{self.case_query}&n={number}" if number else self.case_query
        run = self.candidate if pair.candidate else self.baseline
        return case_url(run, pair.place, query)

    @cached_property
    def case_query(self) -> str:
        """What a case's address keeps of the list."""
        if self.kind == PairKind.ONLY_BASELINE:
            return list_query("absent", self.candidate, self.kind, self.form)
        return list_query("against", self.baseline, self.kind, self.form)

    def place_url(self, place: Place) -> str:
        """A pair by itself, outside any list."""
        return case_url(self.candidate, place, f"against={self.baseline.uuid}")

    def _changes(self, row: PairRow) -> list[Change]:
        before, after = (said.scores if said else {} for said in (row.before, row.after))
        return [
            Change(name, before.get(name), after.get(name), self.thresholds[name])
            for name in self.columns
        ]


def list_query(name: str, other: Run, kind: PairKind, form: PairForm) -> str:
    query = QueryDict(mutable=True)
    query[name] = str(other.uuid)
    query["kind"] = kind.value
    for part in KEPT[1:]:
        if value := form.cleaned_data.get(part):
            query[part] = range_text(value) if isinstance(value, Span) else value
    return query.urlencode()


def range_text(span: Span) -> str:
    """A range as addresses write it."""
    return f"{span.low:g}{RANGE_SIGN}{span.high:g}"


def written(place: Place) -> str:
    """A place as addresses write it."""
    return f"{place.position}.{place.trial}" if place.trial else str(place.position)
