"""Fast insertion of many narrow rows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, Final

from django.db import IntegrityError, connection, models, transaction

from scoring.models.search_text import with_search_text

#: A statement's fixed cost (SQLite also keeps its count of ids there) is shared by this many rows.
ROWS_PER_STATEMENT: Final = 100
#: From so many new rows of a table on its statistics are gathered anew.
MANY_ROWS: Final = 10_000

Rows = Sequence[Sequence[Any]]


def bulk_insert(
    model: type[models.Model],
    columns: Sequence[str],
    rows: Rows,
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
    if connection.vendor != "postgresql":
        _insert(model, columns, rows, ignore_existing=ignore_existing)
        return
    try:
        with transaction.atomic(savepoint=ignore_existing):
            copy_rows(model, columns, rows)
    except IntegrityError:  # hardly ever: whoever repeats an insertion looks first
        if not ignore_existing:
            raise
        _insert(model, columns, rows, ignore_existing=True)


def copy_rows(model: type[models.Model], columns: Sequence[str], rows: Rows) -> None:
    """Insert the rows as PostgreSQL takes many at once: all of them, or none."""
    with (
        connection.cursor() as cursor,
        connection.wrap_database_errors,
        cursor.copy(f"COPY {_target(model, columns)} FROM STDIN") as copy,
    ):
        for row in rows:
            copy.write_row(row)


def _target(model: type[models.Model], columns: Sequence[str]) -> str:
    quote = connection.ops.quote_name
    return f"{quote(model._meta.db_table)} ({', '.join(quote(name) for name in columns)})"


def _insert(
    model: type[models.Model], columns: Sequence[str], rows: Rows, *, ignore_existing: bool
) -> None:
    marks = f"({', '.join(['%s'] * len(columns))})"
    start = f"INSERT INTO {_target(model, columns)} VALUES "  # noqa: S608  names come from the code, never from users
    end = " ON CONFLICT DO NOTHING" if ignore_existing else ""
    whole = len(rows) - len(rows) % ROWS_PER_STATEMENT
    groups = [rows[i : i + ROWS_PER_STATEMENT] for i in range(0, whole, ROWS_PER_STATEMENT)]
    with connection.cursor() as cursor:
        many = start + ", ".join([marks] * ROWS_PER_STATEMENT) + end
        cursor.executemany(many, [list(chain.from_iterable(group)) for group in groups])
        if rest := rows[whole:]:
            one = start + ", ".join([marks] * len(rest)) + end
            cursor.execute(one, list(chain.from_iterable(rest)))


def forgo_disk_wait() -> None:
    """Let the COMMIT of this transaction not wait for the disk, where the database can do so.

    A crash of the server may take it back, whole, so this is for what is then done again. The next
    COMMIT that waits makes this one last, too.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL synchronous_commit = off")


def gather_statistics(*tables: type[models.Model]) -> None:
    """Let PostgreSQL plan by the rows that are there now; to be called after a commit.

    By itself it gathers anew once a tenth of a table has changed, and until then it takes the rows
    of a new run or version to be few. SQLite plans by its indexes.
    """
    if connection.vendor == "postgresql":
        names = ", ".join(connection.ops.quote_name(table._meta.db_table) for table in tables)
        with connection.cursor() as cursor:
            cursor.execute(f"ANALYZE {names}")
