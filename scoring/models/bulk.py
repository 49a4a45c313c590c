"""Many narrow rows at once, several times faster than the ORM's own bulk_create."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import connection, models


def insert(
    model: type[models.Model],
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    ignore_existing: bool = False,
) -> None:
    """Insert `rows`, given as tuples of database values in the order of `columns`.

    `columns` are column names (`output_id`). Nothing is validated or converted beyond what the
    database checks, and no ids come back. With `ignore_existing`, a row whose unique key is
    taken is left out, which makes a repeated insert harmless.
    """
    quote = connection.ops.quote_name
    marks = ", ".join(["%s"] * len(columns))
    names = ", ".join(quote(name) for name in columns)
    conflict = " ON CONFLICT DO NOTHING" if ignore_existing else ""
    statement = f"INSERT INTO {quote(model._meta.db_table)} ({names}) VALUES ({marks}){conflict}"  # noqa: S608  names come from the code, never from users
    with connection.cursor() as cursor:
        cursor.executemany(statement, rows)
