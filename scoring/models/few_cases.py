"""Finding few cases: each thing that is asked of them tells by itself where its cases stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import QuerySet

from scoring.models.queries import named

Query = tuple[str, dict[str, Any]]  # SQL of one column of positions, and its values


class Part(StrEnum):
    """What can be asked of a case, each by itself."""

    PLACES = "places"
    VERDICT = "verdict"
    SCORES = "scores"
    CHANGE = "change"
    REVIEWED = "reviewed"
    UNSTEADY = "unsteady"
    LABELLED = "labelled"
    TAG = "tag"
    TEXT = "text"


Search = tuple[Part, list[Query]]  # queries whose positions together are those of a part


class Few(NamedTuple):
    """The sorted positions of all cases that may pass, and the parts that chose them."""

    positions: list[int]
    parts: frozenset[Part]


def of_all(few: Mapping[Part, Sequence[int]]) -> Few:
    """What all of these parts leave."""
    return Few(sorted(set.intersection(*map(set, few.values()))), frozenset(few))


def found_by(rows: QuerySet[Any], column: str = "") -> Query:
    """The query for the positions in this column of the rows, or in their only one."""
    return named(rows.order_by().values_list(column) if column else rows, "")


def positions_of(filters: Sequence[Sequence[Query]], most: int) -> list[list[int]]:
    """The positions that each filter's queries find together, cut beyond `most`; one query in all.

    Once the first queries of a filter have found so many, its others are not asked.
    """
    parts: list[str] = []
    values: dict[str, Any] = {}
    for number, queries in enumerate(filters):
        asked: list[str] = []
        for sql, given in queries:
            name = f"f{number}_{len(asked)}"
            names = {key: f"{name}_{key}" for key in given}
            values |= {names[key]: value for key, value in given.items()}
            renamed = sql % {key: f"%({new})s" for key, new in names.items()}
            asked.append(f"SELECT * FROM ({renamed}) {name}")  # noqa: S608
        if asked:
            together = f"{' UNION ALL '.join(asked)} LIMIT {most + 1}"
            parts.append(f"SELECT {number}, f{number}.* FROM ({together}) f{number}")  # noqa: S608
    found: list[list[int]] = [[] for _ in filters]
    if parts:
        with connection.cursor() as cursor:
            cursor.execute(" UNION ALL ".join(parts), values)
            for number, position in cursor.fetchall():
                found[number].append(position)
    return found
