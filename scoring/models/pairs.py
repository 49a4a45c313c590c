"""Two runs of a dataset joined case by case: what broke, what was fixed, what only one has.

A pair is the same case, by its key, in the same trial of both runs. Within one dataset version
cases are found by their position, which an index holds; between versions by way of their key.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal

from django.db import connection

from scoring.models.case_table import PAGE_SIZE, Place
from scoring.models.dataset import Case
from scoring.models.pair_ranges import SCORER_OF, range_condition
from scoring.models.pair_rows import (
    NO_FILTERS,
    Counts,
    Match,
    Pair,
    PairFilters,
    PairKind,
    PairPage,
)
from scoring.models.pair_search import Held, Searched, Stretch, condition_of
from scoring.models.pair_sql import ALONE, EDITED, KINDS, UNJUDGED, columns, key_of, pair_of
from scoring.models.run import Run, RunScorer
from scoring.models.score import CaseVerdict, Score, Verdict

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

    def counts(self) -> Counts:
        rows = self._run(
            f"SELECT b.verdict, c.verdict, COUNT(*) FROM {self._joined(self._lead())} "  # noqa: S608
            "GROUP BY b.verdict, c.verdict"
        )
        return self.counts_of({(before, after): count for before, after, count in rows})

    def counts_of(self, by_verdicts: Mapping[tuple[int, int], int]) -> Counts:
        """From how many pairs have these two verdicts."""
        pairs = sum(by_verdicts.values())
        judged = sum(n for found, n in by_verdicts.items() if max(found) <= Verdict.FAIL)
        neither = sum(n for found, n in by_verdicts.items() if min(found) > Verdict.FAIL)
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
            only_baseline=self.baseline.verdicts.count() - pairs,
            only_candidate=self.candidate.verdicts.count() - pairs,
            edited=0 if self.is_same_version else self.count(PairKind.EDITED),
        )

    def verdicts_of(self, scorer: str) -> dict[tuple[int, int], int]:
        """How many pairs have these two verdicts of the one scorer, which judged both."""
        rows = self._run(
            f"SELECT bs.verdict, cs.verdict, COUNT(*) FROM {self._scored(self._lead())} "  # noqa: S608
            "AND bs.verdict IS NOT NULL AND cs.verdict IS NOT NULL GROUP BY bs.verdict, cs.verdict",
            {"scorer": scorer},
        )
        return {(before, after): count for before, after, count in rows}

    def count(self, kind: PairKind) -> int:
        """How many pairs are of this kind; not for cases without a partner."""
        return int(self._run(f"SELECT COUNT(*) FROM {self._of_kind(kind)}")[0][0])  # noqa: S608

    def positions(self, kind: PairKind) -> list[int]:
        """Of all pairs of this kind, rising; by the list's own dataset version."""
        shown = _shown(kind)
        rows = self._alone(shown) if kind in ALONE else self._of_kind(kind)
        found = self._run(f"SELECT DISTINCT {shown}.position FROM {rows}")  # noqa: S608
        return sorted(position for (position,) in found)

    def matches(self) -> Iterator[Match]:
        """Every pair, in the candidate's order; read in chunks, as there may be millions. Between
        two of them no cursor is open, so that whoever reads may write.
        """
        sql = (
            "SELECT b.output_id, c.output_id, c.position, c.trial, b.verdict, c.verdict "  # noqa: S608
            f"FROM {self._joined('c')} AND (c.position, c.trial) > (%(at)s, %(in)s) "
            f"ORDER BY c.position, c.trial LIMIT {CHUNK}"
        )
        at = {"at": -1, "in": 0}
        while rows := self._run(sql, at):
            yield from map(Match._make, rows)
            at = dict(zip(at, rows[-1][2:4], strict=True))

    def page(
        self,
        kind: PairKind,
        filters: PairFilters = NO_FILTERS,
        *,
        after: Place | None = None,
        before: Place | None = None,
        size: int = PAGE_SIZE,
        positions: Sequence[int] | None = None,
    ) -> PairPage:
        """The pairs beyond `after`, or those that end before `before`, or the first.

        They stand in the order of the candidate's dataset version, those that only the baseline
        has in that of its own. `positions` are those of the list with no more filters than
        `listed` leaves, rising, where they are known.
        """
        stretch = Stretch(before or after, size + 1, before is not None)
        found = self._found(kind, filters, positions, stretch)
        rows, has_more = list(map(pair_of, found[:size])), len(found) > size
        if stretch.is_backwards:
            return PairPage(rows[::-1], has_more, has_next=True)
        return PairPage(rows, after is not None, has_more)

    def neighbours(
        self,
        kind: PairKind,
        filters: PairFilters,
        place: Place,
        positions: Sequence[int] | None = None,
    ) -> tuple[Place | None, Place | None]:
        """The places before and after this one in the list, None at its ends; the baseline's of
        what only the baseline has, else the candidate's.
        """
        stretches = [Stretch(place, 1, is_backwards) for is_backwards in (True, False)]
        found = self._found(kind, filters, positions, *stretches)
        at = 1 if kind == PairKind.ONLY_BASELINE else 5
        places = [Place(*row[at : at + 2]) for row in found]
        before = (each for each in places if each < place)
        after = (each for each in places if each > place)
        return next(before, None), next(after, None)

    def places(self, kind: PairKind) -> tuple[str, dict[str, Any]] | None:
        """SQL of the candidate's positions of the pairs of a kind, quickest where they are few,
        with its values; None where there can be none. Only for kinds that verdicts decide.
        """
        if kind in UNJUDGED and self._is_clear:
            return None
        if kind == PairKind.UNCLEAR:
            return " UNION ALL ".join(self._unclear()), self._values
        found = self._of_kind(kind, lead=self._lead(kind))
        return f"SELECT c.position FROM {found}", self._values  # noqa: S608

    def _unclear(self) -> Iterator[str]:
        """Positions by way of the few verdicts that are neither pass nor fail, on either side."""
        for side, other in _OTHER.items():
            rows = f"{self._joined(side)} AND {side}.verdict IN (2, 3) AND {other}.verdict < 2"
            yield f"SELECT c.position FROM {rows}"  # noqa: S608

    def at(self, place: Place) -> Pair | None:
        """The pair of the candidate's case at this place, whatever became of it."""
        wanted = {"position": place.position, "trial": place.trial}
        at = " AND c.position = %(position)s AND c.trial = %(trial)s"
        found = self._run(self._selected(f"{self._joined('c')}{at}"), wanted)
        if not found:
            alone = self._selected_alone("c", f"{self._alone('c')}{at}")
            found = self._run(alone, wanted)
        return next(map(pair_of, found), None)

    def _found(
        self,
        kind: PairKind,
        filters: PairFilters,
        positions: Sequence[int] | None,
        *stretches: Stretch,
    ) -> list[Any]:
        """The rows of these stretches of a list; nothing is asked where it can hold none."""
        if self._is_empty(kind, filters):
            return []
        held = self._held(kind, filters, positions)
        if held is not None and not held.positions:
            return []
        asked = [self._asked(kind, filters, stretch, held) for stretch in stretches]
        parts = [f"SELECT * FROM ({sql}) part{n}" for n, (sql, _) in enumerate(asked)]  # noqa: S608
        values = {name: value for _, given in asked for name, value in given.items()}
        return self._run(" UNION ALL ".join(parts), values | {"scorer": filters.scorer})

    def _held(
        self, kind: PairKind, filters: PairFilters, positions: Sequence[int] | None
    ) -> Held | None:
        """Where the list's pairs stand; None where that is not known, or they are many."""
        if positions is not None:
            return Held(positions, is_exact=filters == filters.listed(kind))
        if not (filters.tag or filters.text):
            return None
        runs = {"b": self.baseline, "c": self.candidate}
        shown = _shown(kind)
        return Searched(runs[shown], None if kind in ALONE else runs[_OTHER[shown]]).few(filters)

    def _asked(
        self, kind: PairKind, filters: PairFilters, stretch: Stretch, held: Held | None
    ) -> tuple[str, dict[str, Any]]:
        """The SQL of one stretch of a list, and its values."""
        shown, outputs = _shown(kind), [f"{side}.output_id" for side in ("b", "c")]
        if kind in ALONE:
            chosen = self._selected_alone(shown, self._alone(shown))
            outputs = [f"{shown}.output_id"]
        else:
            # Of two versions only the candidate's rows come in the order of the list.
            if self.is_same_version and held is None:
                shown = self._lead(kind, filters)
            chosen = self._selected(self._of_kind(kind, filters.scorer, shown))
        version, position = self._values[f"{shown}_version"], f"{shown}.position"
        condition, values = condition_of(filters, version, position, outputs)
        condition += held.condition(stretch, position) if held else ""
        if not (held and held.is_exact):  # which is in the ranges as it stands
            in_range, bounds = self._ranged(filters)
            condition, values = condition + in_range, values | bounds
        sign, order = ("<", "DESC") if stretch.is_backwards else (">", "ASC")
        if stretch.stand is not None:
            condition += f" AND ({position}, {shown}.trial) {sign} (%(at)s, %(in)s)"
            values |= {"at": stretch.stand.position, "in": stretch.stand.trial}
        end = f" ORDER BY {position} {order}, {shown}.trial {order} LIMIT {stretch.limit}"
        return f"{chosen}{condition}{end}", values

    def _ranged(self, filters: PairFilters) -> tuple[str, dict[str, Any]]:
        if not any(filters.ranges):
            return "", {}
        return range_condition(filters.ranges, has_trials=self._has_trials)

    @cached_property
    def _has_trials(self) -> bool:
        """Whether cases may have several trials in both runs."""
        runs = {self.baseline.pk, self.candidate.pk}
        scorers = RunScorer.objects.filter(run__in=runs).exclude(summary__trials={})
        return scorers.values("run").distinct().count() == len(runs)

    def _is_empty(self, kind: PairKind, filters: PairFilters) -> bool:
        if kind in UNJUDGED:
            return not filters.scorer and self._is_clear
        if kind in ALONE and any(filters.ranges):
            return True
        return kind == PairKind.EDITED and self.is_same_version

    @property
    def _is_clear(self) -> bool:
        """Whether no case of either run has an error or was skipped."""
        runs = (self.baseline, self.candidate)
        return all((run.error_count, run.skipped_count) == (0, 0) for run in runs)

    def _lead(self, kind: PairKind | None = None, filters: PairFilters = NO_FILTERS) -> Side:
        """Whose rows are walked through: of two lists of verdicts the shorter one."""
        old, new = self.baseline, self.candidate
        sizes = {
            PairKind.BROKE: (old.pass_count, new.fail_count),
            PairKind.FIXED: (old.fail_count, new.pass_count),
        }
        before, after = sizes.get(kind, (0, 0)) if kind else (0, 0)
        if filters.scorer or before is None or after is None:
            return "c"
        return "b" if before < after else "c"

    def _of_kind(self, kind: PairKind, scorer: str = "", lead: Side = "c") -> str:
        if kind == PairKind.EDITED:
            return f"{self._joined(lead)} AND {'1 = 0' if self.is_same_version else EDITED}"
        if not scorer or kind == PairKind.PAIRS:
            return f"{self._joined(lead)} AND {KINDS[kind].format(b='b.verdict', c='c.verdict')}"
        told = "COALESCE({0}s.verdict, {0}s.status + 1)"  # as Verdict numbers them
        decided = KINDS[kind].format(b=told.format("b"), c=told.format("c"))
        return f"{self._scored(lead)} AND {decided}"

    def _scored(self, lead: Side) -> str:
        """FROM and WHERE of all pairs with what the scorer said of either side."""
        return (
            f"{self._joined(lead, f'{_SCORES} bs', f'{_SCORES} cs')} "
            f"AND bs.scorer_id = ({SCORER_OF}%(b_run)s) AND bs.output_id = b.output_id "
            f"AND cs.scorer_id = ({SCORER_OF}%(c_run)s) AND cs.output_id = c.output_id"
        )

    def _joined(self, lead: Side, *more: str) -> str:
        """FROM and WHERE of all pairs; SQLite walks CROSS JOINs in the order written."""
        tables, conditions = self._partner(lead)
        walked = " CROSS JOIN ".join([f"{_VERDICTS} {lead}", *tables, *more])
        return f"{walked} WHERE {lead}.run_id = %({lead}_run)s AND {conditions}"

    def _alone(self, side: Side) -> str:
        """FROM and WHERE of the cases of one run that the other has not."""
        tables, conditions = self._partner(side)
        partner = f"SELECT 1 FROM {' CROSS JOIN '.join(tables)} WHERE {conditions}"  # noqa: S608
        return f"{_VERDICTS} {side} WHERE {side}.run_id = %({side}_run)s AND NOT EXISTS ({partner})"

    def _partner(self, one: Side) -> tuple[list[str], str]:
        """The way from a row of one run to the other's: tables and conditions."""
        other = _OTHER[one]
        row = f"{other}.run_id = %({other}_run)s AND {other}.trial = {one}.trial"
        if self.is_same_version:
            return [f"{_VERDICTS} {other}"], f"{row} AND {other}.position = {one}.position"
        return [f"{_CASES} {one}k", f"{_CASES} {other}k", f"{_VERDICTS} {other}"], (
            f"{one}k.version_id = %({one}_version)s AND {one}k.position = {one}.position "
            f"AND {other}k.version_id = %({other}_version)s AND {other}k.key = {one}k.key "
            f"AND {row} AND {other}.position = {other}k.position"
        )

    def _selected(self, joined: str) -> str:
        edited = "1 = 0" if self.is_same_version else EDITED
        halves = f"{columns('b')}, {columns('c')}, {edited}, {key_of('c')}"
        return f"SELECT {halves} FROM {joined}"  # noqa: S608

    def _selected_alone(self, side: Side, alone: str) -> str:
        nothing = "NULL, NULL, NULL, NULL"
        halves = [columns(side), nothing] if side == "b" else [nothing, columns(side)]
        return f"SELECT {', '.join(halves)}, 1 = 0, {key_of(side)} FROM {alone}"  # noqa: S608

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


def _shown(kind: PairKind) -> Side:
    """Whose places the list of a kind goes by."""
    return "b" if kind == PairKind.ONLY_BASELINE else "c"
