"""Walking the cases of a run along an index, from a cursor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from django.db.models import BooleanField, F, Func, QuerySet, Value

from scoring.models.runs.score import CaseVerdict

#: The columns each segment of a table is sorted by. Unscored cases are a segment of their own,
#: because no index holds them behind the scored ones.
POSITION_COLUMNS: Final = ("position", "trial")
SCORED: Final = ("score", "output")
UNSCORED: Final = ("output",)

WalkedRow = tuple[int, int, int]  # output id, position, trial


class Cursor(NamedTuple):
    """Where a walk begins: the values of one row in the columns of its segment."""

    columns: tuple[str, ...]
    values: tuple[Any, ...]


@dataclass(frozen=True)
class Segment:
    """Rows sorted by some columns, all rising or all falling. None has less than `least`, if that
    is given, in the first column.
    """

    rows: QuerySet[Any]
    columns: tuple[str, ...]
    falling: bool
    least: float | None = None

    def beyond(self, cursor: Cursor | None) -> QuerySet[Any, WalkedRow]:
        """Output id, position and trial of the rows after the cursor, in order."""
        is_verdict = self.rows.model is CaseVerdict
        place = POSITION_COLUMNS if is_verdict else ("output__case__position", "output__trial")
        return self._sort(cursor).values_list("output", *place)

    def outputs(self) -> Iterator[int]:
        ids: QuerySet[Any, int] = self._sort(None).values_list("output", flat=True)
        return ids.iterator(chunk_size=10_000)

    def _sort(self, cursor: Cursor | None) -> QuerySet[Any]:
        sign = "-" if self.falling else ""
        rows = self.rows.order_by(*(f"{sign}{column}" for column in self.columns))
        if cursor is not None:
            rows = rows.filter(_beyond(cursor, falling=self.falling))
        if self.least is not None and (cursor is None or self.falling):
            rows = rows.filter(**{f"{self.columns[0]}__gte": self.least})
        return rows


def _beyond(cursor: Cursor, *, falling: bool) -> Func:
    """That a row comes after the cursor. Compared column by column in one go, for an index then
    leads to the row itself, however many others share the cursor's first value.
    """
    columns = Func(*map(F, cursor.columns), template="(%(expressions)s)")
    values = Func(*map(Value, cursor.values), template="(%(expressions)s)")
    joiner = " < " if falling else " > "
    return Func(
        columns, values, template="%(expressions)s", arg_joiner=joiner, output_field=BooleanField()
    )
