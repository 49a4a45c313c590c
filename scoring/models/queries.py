"""Pieces of queries that several models share."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db import connection, models
from django.db.models import OuterRef, QuerySet, Subquery
from django.db.models.expressions import RawSQL

from scoring.models.dataset import Case
from scoring.models.run import Run
from scoring.models.score import CaseVerdict


def among(numbers: Sequence[int]) -> RawSQL | Sequence[int]:
    """The numbers for an `__in`, written out: as values of their own each would be looked at thrice
    on its way to the database.
    """
    written = ", ".join(map(str, map(int, numbers)))
    return RawSQL(written, ()) if written else numbers  # noqa: S611  nothing but digits


def named(rows: models.QuerySet[Any, Any], name: str) -> tuple[str, dict[str, Any]]:
    """The queryset's SQL with its values under names of their own."""
    sql, given = rows.query.sql_with_params()
    values = {f"{name}_{number}": value for number, value in enumerate(given)}
    return sql % tuple(f"%({each})s" for each in values), values


def first_of_each(queries: Sequence[QuerySet[Any, Any]]) -> list[tuple[int, ...] | None]:
    """The first row of each, None where it has none; in one query. All have three columns."""
    parts: list[str] = []
    values: dict[str, Any] = {}
    for number, rows in enumerate(queries):
        with suppress(EmptyResultSet):
            sql, given = named(rows[:1], f"part{number}")
            parts.append(f"SELECT {number}, part{number}.* FROM ({sql}) part{number}")  # noqa: S608
            values |= given
    found: list[tuple[int, ...] | None] = [None] * len(queries)
    if parts:
        with connection.cursor() as cursor:
            cursor.execute(" UNION ALL ".join(parts), values)
            for number, *row in cursor.fetchall():
                found[number] = tuple(row)
    return found


def partner_of(
    run: Run, against: Run, *, position: str = "position", key: str = "output__case__key"
) -> QuerySet[CaseVerdict]:
    """The verdict of the same case and trial in the run `against`, of which there is at most one.

    `position` and `key` lead to those of the case from the rows this is put on, which need a
    `trial`.
    """
    rows = CaseVerdict.objects.filter(run=against, trial=OuterRef("trial"))
    version = against.output_set.version_id
    if version == run.output_set.version_id:
        return rows.filter(position=OuterRef(position))
    there = Case.objects.filter(version=version, key=OuterRef(OuterRef(key))).order_by()
    return rows.filter(position=Subquery(there.values("position")))
