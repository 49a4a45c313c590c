"""Walking the cases of a run along an index, from where one stands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from django.db.models import BooleanField, F, Func, QuerySet, Value

from scoring.models.score import CaseVerdict

#: The columns each stretch of a table is sorted by. Unscored cases are a stretch of their own,
#: because no index holds them behind the scored ones.
PLACE: Final = ("position", "trial")
SCORED: Final = ("score", "output")
UNSCORED: Final = ("output",)

Found = tuple[int, int, int]  # output id, position, trial


class Stand(NamedTuple):
    """Where a walk begins: the values of one row in the columns of its stretch."""

    columns: tuple[str, ...]
    values: tuple[Any, ...]


@dataclass(frozen=True)
class Stretch:
    """Rows sorted by some columns, all rising or all falling. None has less than `least`, if that
    is given, in the first column.
    """

    rows: QuerySet[Any]
    columns: tuple[str, ...]
    falling: bool
    least: float | None = None

    def beyond(self, stand: Stand | None) -> QuerySet[Any, Found]:
        """Output id, position and trial of the rows after the stand, in order."""
        is_verdict = self.rows.model is CaseVerdict
        place = PLACE if is_verdict else ("output__case__position", "output__trial")
        return self._sorted(stand).values_list("output", *place)

    def outputs(self) -> Iterator[int]:
        found: QuerySet[Any, int] = self._sorted(None).values_list("output", flat=True)
        return found.iterator(chunk_size=10_000)

    def _sorted(self, stand: Stand | None) -> QuerySet[Any]:
        sign = "-" if self.falling else ""
        rows = self.rows.order_by(*(f"{sign}{column}" for column in self.columns))
        if stand is not None:
            rows = rows.filter(_beyond(stand, falling=self.falling))
        if self.least is not None and (stand is None or self.falling):
            rows = rows.filter(**{f"{self.columns[0]}__gte": self.least})
        return rows


def _beyond(stand: Stand, *, falling: bool) -> Func:
    """That a row comes after the stand. Compared column by column in one go, for an index then
    leads to the row itself, however many others share the stand's first value.
    """
    columns = Func(*map(F, stand.columns), template="(%(expressions)s)")
    values = Func(*map(Value, stand.values), template="(%(expressions)s)")
    joiner = " < " if falling else " > "
    return Func(
        columns, values, template="%(expressions)s", arg_joiner=joiner, output_field=BooleanField()
    )
