"""Two runs of a dataset joined case by case.

A pair is the same case, by its key, in both runs. Where cases have several trials, a case is judged
by their mean, whatever their number in the other run, and the output of its first trial stands for
it. Within one dataset version cases are found by their position, which an index holds; between
versions by way of their key.

The joins are written in SQL, because their order decides whether SQLite walks an index or sorts.
Of 100,000 cases a page of fifty pairs takes 2 ms; all pairs are counted in 0.2 s within a version
and 0.5 s between two, against 0.3 s and 0.6 s by subqueries of the ORM.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal

from django.db import connection

from scoring.models.case_paging import PAGE_SIZE, CasePosition
from scoring.models.data.dataset import Case
from scoring.models.pairs.rows import (
    NO_FILTERS,
    Counts,
    Pair,
    PairFilters,
    PairKind,
    PairMatch,
    PairPage,
)
from scoring.models.pairs.score_ranges import range_condition
from scoring.models.pairs.search import PageWindow, PairPositions, PairSearch, build_condition
from scoring.models.pairs.sql import (
    EDITED,
    KIND_CONDITIONS,
    SCORER_OF,
    UNJUDGED,
    UNPAIRED_KINDS,
    columns,
    is_one_of_trials,
    key_column,
    read_pair,
    verdict_over_trials,
)
from scoring.models.runs.run import Run
from scoring.models.runs.score import CaseVerdict, Score, Verdict

Side = Literal["b", "c"]  # baseline, candidate: the aliases of their rows

CHUNK: Final = 20_000  # rows read at once

_OTHER: Final[dict[Side, Side]] = {"b": "c", "c": "b"}
_VERDICTS, _CASES, _SCORES = (row._meta.db_table for row in (CaseVerdict, Case, Score))


@dataclass(frozen=True)
class Pairs:
    """The cases of two runs of one dataset."""

    baseline: Run
    candidate: Run

    @property
    def is_same_version(self) -> bool:
        return self.baseline.output_set.version_id == self.candidate.output_set.version_id

    @property
    def has_trials(self) -> bool:
        """Whether cases of either run have several trials."""
        return self.baseline.has_trials or self.candidate.has_trials

    def counts(self) -> Counts:
        before, after = self._verdict("b"), self._verdict("c")
        rows = self._run(
            f"SELECT {before}, {after}, COUNT(*) FROM {self._joined(self._lead())} "  # noqa: S608
            f"GROUP BY {before}, {after}"
        )
        return self.counts_of({(before, after): count for before, after, count in rows})

    def counts_of(self, by_verdicts: Mapping[tuple[int, int], int]) -> Counts:
        """From how many pairs have these two verdicts."""
        pairs = sum(by_verdicts.values())
        judged = sum(n for verdicts, n in by_verdicts.items() if max(verdicts) <= Verdict.FAIL)
        neither = sum(n for verdicts, n in by_verdicts.items() if min(verdicts) > Verdict.FAIL)
        broke = by_verdicts.get((Verdict.PASS, Verdict.FAIL), 0)
        fixed = by_verdicts.get((Verdict.FAIL, Verdict.PASS), 0)
        return Counts(
            pairs=pairs,
            judged=judged,
            broke=broke,
            fixed=fixed,
            unchanged=judged - broke - fixed,
            unclear=pairs - judged - neither,
            judged_in_neither=neither,
            only_baseline=_count_cases(self.baseline) - pairs,
            only_candidate=_count_cases(self.candidate) - pairs,
            edited=0 if self.is_same_version else self.count(PairKind.EDITED),
        )

    def verdicts_of(self, scorer: str) -> dict[tuple[int, int], int]:
        """How many pairs have these two verdicts of the one scorer, which judged both."""
        verdicts = f"{self._verdict_of_scorer('b')}, {self._verdict_of_scorer('c')}"
        rows = self._run(
            f"SELECT {verdicts}, COUNT(*) FROM {self._scored(self._lead())} GROUP BY 1, 2",  # noqa: S608
            {"scorer": scorer},
        )
        judged = {Verdict.PASS, Verdict.FAIL}
        return {(old, new): count for old, new, count in rows if {old, new} <= judged}

    def count(self, kind: PairKind) -> int:
        """How many pairs are of this kind; not for cases without a partner."""
        return int(self._run(f"SELECT COUNT(*) FROM {self._of_kind(kind)}")[0][0])  # noqa: S608

    def positions(self, kind: PairKind) -> list[int]:
        """Of all pairs of this kind, rising; by the list's own dataset version."""
        shown = _shown(kind)
        rows = self._alone(shown) if kind in UNPAIRED_KINDS else self._of_kind(kind)
        positions = self._run(f"SELECT DISTINCT {shown}.position FROM {rows}")  # noqa: S608
        return sorted(position for (position,) in positions)

    def matches(self) -> Iterator[PairMatch]:
        """Every pair, in the candidate's order; read in chunks, as there may be millions. Between
        two of them no cursor is open, so that whoever reads may write.
        """
        sql = (
            "SELECT b.output_id, c.output_id, c.position, c.trial, "  # noqa: S608
            f"{self._verdict('b')}, {self._verdict('c')} "
            f"FROM {self._joined('c')}{self._is_beyond('c', '>')} "
            f"ORDER BY c.position, c.trial LIMIT {CHUNK}"
        )
        cursor = {"position": -1, "trial": 0}
        while rows := self._run(sql, cursor):
            matches = [PairMatch(*row) for row in rows]
            yield from matches
            cursor = {"position": matches[-1].position, "trial": matches[-1].trial}

    def page(
        self,
        kind: PairKind,
        filters: PairFilters = NO_FILTERS,
        *,
        after: CasePosition | None = None,
        before: CasePosition | None = None,
        size: int = PAGE_SIZE,
        positions: Sequence[int] | None = None,
    ) -> PairPage:
        """The pairs beyond `after`, or those that end before `before`, or the first.

        They stand in the order of the candidate's dataset version, those that only the baseline
        has in that of its own. `positions` are those of the list with no more filters than
        `listed` leaves, rising, where they are known.
        """
        window = PageWindow(before or after, size + 1, before is not None)
        known = self._known(kind, filters, positions)
        found = [read_pair(row) for row in self._read(kind, filters, known, window)]
        rows, has_more = found[:size], len(found) > size
        if window.is_backwards:
            return PairPage(rows[::-1], has_more, has_next=True)
        return PairPage(rows, after is not None, has_more)

    def neighbours(
        self,
        kind: PairKind,
        filters: PairFilters,
        place: CasePosition,
        positions: Sequence[int] | None = None,
    ) -> tuple[CasePosition | None, CasePosition | None]:
        """The places before and after this one in the list, None at its ends; the baseline's of
        what only the baseline has, else the candidate's.
        """
        known = self._known(kind, filters, positions)
        before, after = (
            [
                read_pair(row).place
                for row in self._read(kind, filters, known, PageWindow(place, 1, is_backwards))
            ]
            for is_backwards in (True, False)
        )
        return before[0] if before else None, after[0] if after else None

    def first_positions(self, kind: PairKind, limit: int) -> list[int]:
        """The candidate's positions of pairs of a kind, in no order, up to `limit`; quickest where
        they are few. Only for kinds that verdicts decide.
        """
        if kind in UNJUDGED and self._is_clear:
            return []
        if kind == PairKind.UNCLEAR:  # by way of the few verdicts that are neither pass nor fail
            queries = [
                f"{self._joined(side)} AND {self._verdict(side)} IN (2, 3) "
                f"AND {self._verdict(other)} < 2"
                for side, other in _OTHER.items()
            ]
        else:
            queries = [self._of_kind(kind, lead=self._lead(kind))]
        positions: list[int] = []
        for query in queries:
            sql = f"SELECT c.position FROM {query} LIMIT {limit - len(positions)}"  # noqa: S608
            positions += [position for (position,) in self._run(sql)]
        return positions

    def at_positions(self, kind: PairKind, positions: Sequence[int]) -> list[Pair]:
        """The pairs of a kind among the candidate's cases at these positions, in their order."""
        numbers = ", ".join(map(str, positions)) or "NULL"
        here = f"AND c.position IN ({numbers}) ORDER BY c.position, c.trial"
        return [
            read_pair(row) for row in self._run(f"{self._selected(self._of_kind(kind))} {here}")
        ]

    def _known(
        self, kind: PairKind, filters: PairFilters, positions: Sequence[int] | None
    ) -> PairPositions | None:
        """Where the list's pairs stand; None where that is not known, or they are many."""
        if self._is_empty(kind, filters):
            return PairPositions([], is_exact=True)
        if positions is not None:
            return PairPositions(positions, is_exact=filters == filters.listed(kind))
        if not (filters.tag or filters.text):
            return None
        if kind == PairKind.ONLY_BASELINE:
            return PairSearch(self.baseline, None).few(filters)
        other = None if kind in UNPAIRED_KINDS else self.baseline
        return PairSearch(self.candidate, other).few(filters)

    def _read(
        self, kind: PairKind, filters: PairFilters, known: PairPositions | None, window: PageWindow
    ) -> list[Any]:
        """The rows of a window of a list; no query where it can hold none."""
        if known is not None and not known.positions:
            return []
        shown, sides = _shown(kind), list(_OTHER)
        if kind in UNPAIRED_KINDS:
            rows = self._selected_alone(shown, self._alone(shown))
            sides = [shown]
        else:
            # Of two versions only the candidate's rows come in the order of the list.
            if self.is_same_version and known is None:
                shown = self._lead(kind, filters)
            rows = self._selected(self._of_kind(kind, filters.scorer, shown))
        version, position = self._values[f"{shown}_version"], f"{shown}.position"
        is_own = partial(self._is_of_case, sides)
        output = f"{sides[-1]}.output_id"
        condition, values = build_condition(filters, version, position, is_own, output)
        values["scorer"] = filters.scorer
        condition += known.condition(window, position) if known else ""
        if not (known and known.is_exact):  # which is in the ranges as it stands
            in_range, bounds = self._ranged(filters)
            condition, values = condition + in_range, values | bounds
        sign, order = ("<", "DESC") if window.is_backwards else (">", "ASC")
        if window.cursor is not None:
            condition += self._is_beyond(shown, sign, is_paired=kind not in UNPAIRED_KINDS)
            values |= window.cursor._asdict()
        end = f" ORDER BY {position} {order}, {shown}.trial {order} LIMIT {window.limit}"
        return self._run(f"{rows}{condition}{end}", values)

    def _ranged(self, filters: PairFilters) -> tuple[str, dict[str, Any]]:
        if not any(filters.ranges):
            return "", {}
        return range_condition(filters.ranges, has_trials=self.has_trials)

    def _is_empty(self, kind: PairKind, filters: PairFilters) -> bool:
        if kind in UNJUDGED:
            return not filters.scorer and self._is_clear
        if kind in UNPAIRED_KINDS and any(filters.ranges):
            return True
        return kind == PairKind.EDITED and self.is_same_version

    @property
    def _is_clear(self) -> bool:
        """Whether no case of either run has an error or was skipped."""
        runs = (self.baseline, self.candidate)
        return all((run.error_count, run.skipped_count) == (0, 0) for run in runs)

    def _lead(self, kind: PairKind | None = None, filters: PairFilters = NO_FILTERS) -> Side:
        """Whose rows are walked through: of two lists of verdicts the shorter one."""
        if self.has_trials:  # whose cases no index holds by their verdicts
            return "c"
        old, new = self.baseline.verdict_counts, self.candidate.verdict_counts
        sizes = {
            PairKind.BROKE: (old["pass"], new["fail"]),
            PairKind.FIXED: (old["fail"], new["pass"]),
        }
        before, after = sizes.get(kind, (0, 0)) if kind else (0, 0)
        if filters.scorer or before is None or after is None:
            return "c"
        return "b" if before < after else "c"

    def _is_beyond(self, shown: Side, sign: str, *, is_paired: bool = True) -> str:
        """The condition that a row stands beyond a place, and of the table that follows the row at
        the same position, too: PostgreSQL may merge the two, from the first row on otherwise.
        """
        condition = f" AND ({shown}.position, {shown}.trial) {sign} (%(position)s, %(trial)s)"
        if not is_paired:
            return condition
        beside = _OTHER[shown] if self.is_same_version else f"{shown}k"
        return f"{condition} AND {beside}.position {sign}= %(position)s"

    def _of_kind(self, kind: PairKind, scorer: str = "", lead: Side = "c") -> str:
        if kind == PairKind.EDITED:
            return f"{self._joined(lead)} AND {'1 = 0' if self.is_same_version else EDITED}"
        if not scorer or kind == PairKind.PAIRS:
            condition = KIND_CONDITIONS[kind].format(b=self._verdict("b"), c=self._verdict("c"))
            return f"{self._joined(lead)} AND {condition}"
        condition = KIND_CONDITIONS[kind].format(
            b=self._verdict_of_scorer("b"), c=self._verdict_of_scorer("c")
        )
        return f"{self._scored(lead)} AND {condition}"

    def _scored(self, lead: Side) -> str:
        """FROM and WHERE of all pairs with what the scorer said of either side."""
        single = [side for side in _OTHER if not self._run_of(side).has_trials]
        joined = self._joined(lead, *(f"{_SCORES} {side}s" for side in single))
        conditions = (
            f" AND {side}s.scorer_id = ({SCORER_OF}%({side}_run)s) "
            f"AND {side}s.output_id = {side}.output_id"
            for side in single
        )
        return joined + "".join(conditions)

    def _run_of(self, side: Side) -> Run:
        return self.baseline if side == "b" else self.candidate

    def _verdict(self, side: Side) -> str:
        """The column of the case's verdict in a run."""
        return f"{side}.of_case" if self._run_of(side).has_trials else f"{side}.verdict"

    def _verdict_of_scorer(self, side: Side) -> str:
        """What the scorer says of the case, as Verdict numbers it."""
        if self._run_of(side).has_trials:
            return verdict_over_trials(side)
        return f"COALESCE({side}s.verdict, {side}s.status + 1)"

    def _is_first(self, side: Side) -> str:
        """That a row is the one that stands for its case."""
        return (
            f"{side}.of_case IS NOT NULL" if self._run_of(side).has_trials else f"{side}.trial = 0"
        )

    def _is_of_case(self, sides: Sequence[Side], output: str) -> str:
        """That an output is one of the case's in these runs."""
        if self.has_trials:
            return " OR ".join(is_one_of_trials(side, output) for side in sides)
        return f"{output} IN ({', '.join(f'{side}.output_id' for side in sides)})"

    def _joined(self, lead: Side, *more: str) -> str:
        """FROM and WHERE of all pairs; SQLite walks CROSS JOINs in the order written."""
        tables, conditions = self._partner(lead)
        walked = " CROSS JOIN ".join([f"{_VERDICTS} {lead}", *tables, *more])
        return f"{walked} WHERE {self._rows_of(lead)} AND {conditions}"

    def _alone(self, side: Side) -> str:
        """FROM and WHERE of the cases of one run that the other has not."""
        tables, conditions = self._partner(side)
        partner = f"SELECT 1 FROM {' CROSS JOIN '.join(tables)} WHERE {conditions}"  # noqa: S608
        return f"{_VERDICTS} {side} WHERE {self._rows_of(side)} AND NOT EXISTS ({partner})"

    def _rows_of(self, side: Side) -> str:
        """The condition on the rows of a run, one for each case."""
        own = f"{side}.run_id = %({side}_run)s"
        return f"{own} AND {self._is_first(side)}" if self.has_trials else own

    def _partner(self, one: Side) -> tuple[list[str], str]:
        """The way from a row of one run to the other's: tables and conditions."""
        other = _OTHER[one]
        row = self._rows_of(other)
        if not self.has_trials:
            row += f" AND {other}.trial = {one}.trial"
        if self.is_same_version:
            return [f"{_VERDICTS} {other}"], f"{row} AND {other}.position = {one}.position"
        return [f"{_CASES} {one}k", f"{_CASES} {other}k", f"{_VERDICTS} {other}"], (
            f"{one}k.version_id = %({one}_version)s AND {one}k.position = {one}.position "
            f"AND {other}k.version_id = %({other}_version)s AND {other}k.key = {one}k.key "
            f"AND {row} AND {other}.position = {other}k.position"
        )

    def _selected(self, joined: str) -> str:
        edited = "1 = 0" if self.is_same_version else EDITED
        sides = ", ".join(columns(side, self._verdict(side)) for side in _OTHER)
        halves = f"{sides}, {edited}, {key_column('c')}"
        return f"SELECT {halves} FROM {joined}"  # noqa: S608

    def _selected_alone(self, side: Side, alone: str) -> str:
        nothing = "NULL, NULL, NULL, NULL"
        own = columns(side, self._verdict(side))
        halves = [own, nothing] if side == "b" else [nothing, own]
        return f"SELECT {', '.join(halves)}, 1 = 0, {key_column(side)} FROM {alone}"  # noqa: S608

    @property
    def _values(self) -> dict[str, Any]:
        sides = {"b": self.baseline, "c": self.candidate}
        runs = {f"{side}_run": run.pk for side, run in sides.items()}
        versions = {f"{side}_version": run.output_set.version_id for side, run in sides.items()}
        return runs | versions

    def _run(self, sql: str, values: dict[str, Any] | None = None) -> list[Any]:
        with connection.cursor() as cursor:
            cursor.execute(sql, self._values | (values or {}))
            return list(cursor.fetchall())


def _count_cases(run: Run) -> int:
    """Those with a verdict."""
    verdicts = run.verdicts.all()
    return (verdicts.exclude(of_case=None) if run.has_trials else verdicts).count()


def _shown(kind: PairKind) -> Side:
    """Whose places the list of a kind goes by."""
    return "b" if kind == PairKind.ONLY_BASELINE else "c"
