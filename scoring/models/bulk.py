"""Fast insertion of many narrow rows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, Final

from django.db import connection, models

from scoring.models.search_text import with_search_text

#: A statement's fixed cost (SQLite also keeps its count of ids there) is shared by this many rows.
ROWS_PER_STATEMENT: Final = 100


def bulk_insert(
    model: type[models.Model],
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    ignore_existing: bool = False,
) -> None:
    """Insert `rows`, given as tuples of database values in the order of `columns`.

    `columns` are column names (`output_id`). Nothing is validated or converted beyond what the
    database checks, and no ids come back. A SearchTextField follows the other columns. With
    `ignore_existing`, a row whose unique key is taken is left out, which makes a repeated insert
    harmless.
    """
    columns, rows = with_search_text(model, columns, rows)
    quote = connection.ops.quote_name
    names = ", ".join(quote(name) for name in columns)
    marks = f"({', '.join(['%s'] * len(columns))})"
    start = f"INSERT INTO {quote(model._meta.db_table)} ({names}) VALUES "  # noqa: S608  names come from the code, never from users
    end = " ON CONFLICT DO NOTHING" if ignore_existing else ""
    whole = len(rows) - len(rows) % ROWS_PER_STATEMENT
    groups = [rows[i : i + ROWS_PER_STATEMENT] for i in range(0, whole, ROWS_PER_STATEMENT)]
    with connection.cursor() as cursor:
        many = start + ", ".join([marks] * ROWS_PER_STATEMENT) + end
        cursor.executemany(many, [list(chain.from_iterable(group)) for group in groups])
        if rest := rows[whole:]:
            one = start + ", ".join([marks] * len(rest)) + end
            cursor.execute(one, list(chain.from_iterable(rest)))
