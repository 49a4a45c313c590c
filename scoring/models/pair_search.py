"""Which pairs a tag or a text lets through: a condition on each, or where they stand if few.

A tag or a text that few cases have is found by one scan; one that many have is met soon by
whoever walks through the pairs.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from django.db import connection
from django.db.models import QuerySet

from scoring.models.case_table import Place
from scoring.models.dataset import Case, CaseQuerySet
from scoring.models.pair_rows import PairFilters
from scoring.models.queries import named
from scoring.models.run import Output, Run

FEW: Final = 10_000  # positions that may stand in one query

_CASES, _OUTPUTS = (f'"{model._meta.db_table}"' for model in (Case, Output))


class Stretch(NamedTuple):
    """The `limit` pairs beyond `stand`, or from the list's start; backwards, before it."""

    stand: Place | None
    limit: int
    is_backwards: bool = False

    def within(self, positions: Sequence[int]) -> Sequence[int]:
        """Of a list's sorted positions those that hold this stretch of it."""
        beyond = self.beyond(positions)
        many = self.limit + 1  # the stand's own position may hold none that is wanted
        return beyond[-many:] if self.is_backwards else beyond[:many]

    def beyond(self, positions: Sequence[int]) -> Sequence[int]:
        if self.stand is None:
            return positions
        at = self.stand.position
        if self.is_backwards:
            return positions[: bisect_right(positions, at)]
        return positions[bisect_left(positions, at) :]


class Held(NamedTuple):
    """Positions that hold a whole list; where `is_exact`, each holds a pair of it."""

    positions: Sequence[int]
    is_exact: bool

    def condition(self, stretch: Stretch, position: str) -> str:
        """That the column `position` is one of those that the stretch can lie in."""
        narrow = stretch.within if self.is_exact else stretch.beyond
        numbers = ", ".join(map(str, narrow(self.positions)))
        return f" AND {position} IN ({numbers})" if numbers else " AND 1 = 0"


class Searched(NamedTuple):
    """The run whose positions are told, and the other's, None where only one has the cases."""

    shown: Run
    other: Run | None

    @property
    def cases(self) -> CaseQuerySet:
        return Case.objects.filter(version=self.shown.output_set.version_id).order_by()

    def few(self, filters: PairFilters) -> Held | None:
        """The positions of all pairs that may pass; None where they are not few."""
        if filters.tag:
            found = _first([self.cases.tagged(filters.tag).values("position")])
            if len(found) <= FEW:
                return Held(found, is_exact=False)
        said = _first(self._saying(filters.text)) if filters.text else None
        return None if said is None or len(said) > FEW else Held(said, is_exact=False)

    def _saying(self, text: str) -> Iterator[QuerySet[Any, Any]]:
        """Positions of cases with the text; those that take longest to find come last."""
        said = Output.objects.filter(text__icontains=text)
        yield said.filter(output_set=self.shown.output_set_id).values("case__position")
        yield self.cases.matching(text).values("position")
        if self.other is None:
            return
        others = said.filter(output_set=self.other.output_set_id)
        if self.other.output_set.version_id == self.shown.output_set.version_id:
            yield others.values("case__position")
        else:
            yield self.cases.filter(key__in=others.values("case__key")).values("position")


def condition_of(
    filters: PairFilters, version: int, position: str, outputs: Sequence[str]
) -> tuple[str, dict[str, Any]]:
    """What the filters ask of one pair, beginning with AND, and its values.

    `position`, in that dataset version, and `outputs` are columns of the pair.
    """
    cases = Case.objects.filter(version=version).order_by()
    condition = ""
    values: dict[str, Any] = {}
    here = f'AND {_CASES}."position" = {position}'
    if filters.tag:
        tagged, values = named(cases.tagged(filters.tag).values("pk"), "tag")
        condition = f" AND EXISTS ({tagged} {here})"
    if filters.text:
        matching, more = named(cases.matching(filters.text).values("pk"), "case")
        texts = Output.objects.filter(text__icontains=filters.text)
        said, rest = named(texts.values("pk"), "said")
        theirs = f'AND {_OUTPUTS}."id" IN ({", ".join(outputs)})'
        condition += f" AND (EXISTS ({said} {theirs}) OR EXISTS ({matching} {here}))"
        values = values | more | rest
    return condition, values


def _first(queries: Iterator[QuerySet[Any, Any]] | Sequence[QuerySet[Any, Any]]) -> list[int]:
    """The positions that any of them finds, sorted; no more than tell that they are not few."""
    asked = [named(query, f"find{number}") for number, query in enumerate(queries)]
    sql = " UNION ALL ".join(f"SELECT * FROM ({each}) s{n}" for n, (each, _) in enumerate(asked))  # noqa: S608
    values = {name: value for _, given in asked for name, value in given.items()}
    with connection.cursor() as cursor:
        cursor.execute(f"{sql} LIMIT {FEW + 1}", values)
        found = [position for (position,) in cursor.fetchall()]
    return sorted(set(found)) if len(found) <= FEW else found
