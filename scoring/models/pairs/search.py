"""Search of pairs by tag or text: positions where they are few, else a condition.

A tag or a text that few cases have is found by one scan; one that many have is met soon by
whoever walks through the pairs.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from django.db.models import QuerySet

from scoring.models.case_paging import CasePosition
from scoring.models.data.dataset import Case, CaseQuerySet
from scoring.models.pairs.rows import PairFilters
from scoring.models.queries import first_positions
from scoring.models.runs.run import Output, Run

MAX_POSITIONS: Final = 10_000  # positions that may stand in one query

_CASES, _OUTPUTS = (f'"{model._meta.db_table}"' for model in (Case, Output))


class PageWindow(NamedTuple):
    """The `limit` pairs beyond the cursor, or from the list's start; backwards, before it."""

    cursor: CasePosition | None
    limit: int
    is_backwards: bool = False

    def within(self, positions: Sequence[int]) -> Sequence[int]:
        """Of a list's sorted positions those that hold this window of it."""
        beyond = self.beyond(positions)
        limit = self.limit + 1  # the cursor's own position may hold none that is wanted
        return beyond[-limit:] if self.is_backwards else beyond[:limit]

    def beyond(self, positions: Sequence[int]) -> Sequence[int]:
        if self.cursor is None:
            return positions
        position = self.cursor.position
        if self.is_backwards:
            return positions[: bisect_right(positions, position)]
        return positions[bisect_left(positions, position) :]


class PairPositions(NamedTuple):
    """Positions that hold a whole list; where `is_exact`, each holds a pair of it."""

    positions: Sequence[int]
    is_exact: bool

    def condition(self, window: PageWindow, position: str) -> str:
        """That the column `position` is one of those that the window can lie in."""
        narrow = window.within if self.is_exact else window.beyond
        numbers = ", ".join(map(str, narrow(self.positions)))
        return f" AND {position} IN ({numbers})" if numbers else " AND 1 = 0"


class PairSearch(NamedTuple):
    """The run whose positions are told, and the other's, None where only one has the cases."""

    run: Run
    other: Run | None

    @property
    def cases(self) -> CaseQuerySet:
        return Case.objects.filter(version=self.run.output_set.version_id).order_by()

    def few(self, filters: PairFilters) -> PairPositions | None:
        """The positions of all pairs that may pass; None where they are not few."""
        searches = [
            *(
                [[self.cases.tagged(filters.tag).values_list("position", flat=True)]]
                if filters.tag
                else []
            ),
            *([self._with_text(filters.text)] if filters.text else []),
        ]
        for search in searches:
            positions = first_positions(search, MAX_POSITIONS + 1)
            if len(positions) <= MAX_POSITIONS:
                return PairPositions(sorted(set(positions)), is_exact=False)
        return None

    def _with_text(self, text: str) -> Iterator[QuerySet[Any, int]]:
        """Positions of cases with the text; those that take longest to find come last."""
        outputs = Output.objects.matching(text)
        own = outputs.filter(output_set=self.run.output_set_id)
        yield own.values_list("case__position", flat=True)
        yield self.cases.matching(text).values_list("position", flat=True)
        if self.other is None:
            return
        others = outputs.filter(output_set=self.other.output_set_id)
        if self.other.output_set.version_id == self.run.output_set.version_id:
            yield others.values_list("case__position", flat=True)
        else:
            cases = self.cases.filter(key__in=others.values("case__key"))
            yield cases.values_list("position", flat=True)


def build_condition(
    filters: PairFilters,
    version: int,
    position: str,
    is_own: Callable[[str], str],
    output: str,
) -> tuple[str, dict[str, Any]]:
    """What the filters ask of one pair, beginning with AND, and its values.

    `position`, in that dataset version, and `output`, the candidate's, are columns of the pair;
    `is_own` gives the condition that an output is one of the case's.
    """
    cases = Case.objects.filter(version=version).order_by()
    condition = ""
    values: dict[str, Any] = {}
    here = f'AND {_CASES}."position" = {position}'
    if filters.tag:
        tagged, values = _named_sql(cases.tagged(filters.tag), "tag")
        condition = f" AND EXISTS ({tagged} {here})"
    if filters.text:
        in_case, case_values = _named_sql(cases.matching(filters.text), "case")
        in_output, output_values = _named_sql(Output.objects.matching(filters.text), "output")
        same_case = is_own(f'{_OUTPUTS}."id"')
        condition += f" AND (EXISTS ({in_output} AND ({same_case})) OR EXISTS ({in_case} {here}))"
        values |= case_values | output_values
    return condition + _among(filters, output), values


def _among(filters: PairFilters, output: str) -> str:
    """That the candidate's output is one that is wanted."""
    condition = ""
    if filters.only is not None:
        condition += f" AND {output} IN ({_numbers(filters.only)})"
    if filters.without:
        condition += f" AND {output} NOT IN ({_numbers(filters.without)})"
    return condition


def _numbers(outputs: Iterable[int]) -> str:
    return ", ".join(map(str, sorted(outputs))) or "NULL"


def _named_sql(rows: QuerySet[Any, Any], name: str) -> tuple[str, dict[str, Any]]:
    """The SQL of the rows' ids with its values under names of their own."""
    sql, parameters = rows.values("pk").query.sql_with_params()
    values = {f"{name}_{number}": value for number, value in enumerate(parameters)}
    return sql % tuple(f"%({value})s" for value in values), values
