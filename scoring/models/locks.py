"""Locks that hold until the transaction ends: of a row, and of what no row stands for yet.

PostgreSQL lets two transactions read the same and then both write. SQLite has one writer at a time,
whose transactions begin with the lock (`transaction_mode` in the settings), and needs none of this.
"""

from __future__ import annotations

from django.db import connection, models


def lock_row(row: models.Model, *fields: str) -> None:
    """Keep everybody else from changing the row, and read these fields of it anew, or all.

    Rows that point at it may still be added. Raises DoesNotExist where the row is gone.
    """
    rows = type(row)._base_manager.select_for_update(no_key=True)
    row.refresh_from_db(fields=fields or None, from_queryset=rows)


def lock_name(kind: str, name: str) -> None:
    """Let nobody else pass here with the same name of this kind."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s), hashtext(%s))", [kind, name])
