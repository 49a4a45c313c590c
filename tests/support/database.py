"""The tests' databases: emptied after a test that committed rows, and given to processes."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.core.management.color import no_style
from django.db import connection, transaction

from scoring.models import AuditCheckpoint, AuditEntry
from scoring.models.team import audit_triggers

#: What `migrate` puts there; making it anew took longer than most tests.
KEPT = {row._meta.db_table for row in (ContentType, Permission)}


def empty_tables() -> None:
    """Remove every row but content types and permissions, the audit log's guarded ones too."""
    tables = set(connection.introspection.django_table_names(only_existing=True)) - KEPT
    if connection.vendor == "postgresql":
        return _delete_all(sorted(tables))
    statements = connection.ops.sql_flush(no_style(), sorted(tables))
    has_entries = any(row._base_manager.exists() for row in (AuditEntry, AuditCheckpoint))
    if not has_entries:
        return connection.ops.execute_sql_flush(statements)
    with connection.cursor() as cursor:
        for sql in audit_triggers.removal_statements(connection.vendor):
            cursor.execute(sql)
    try:
        connection.ops.execute_sql_flush(statements)
    finally:
        audit_triggers.install_triggers(connection)


def _delete_all(tables: Sequence[str]) -> None:
    """Truncating a hundred tables takes longer than most tests. No trigger fires meanwhile."""
    deletions = ";".join(f'DELETE FROM "{table}"' for table in tables)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL session_replication_role = replica; {deletions}")


def link_database(folder: Path) -> None:
    """Let processes with this data folder work on the test's own database.

    Where it is PostgreSQL's, the environment names it.
    """
    if connection.vendor == "sqlite":
        (folder / "evalsite.sqlite3").symlink_to(connection.settings_dict["NAME"])


@contextmanager
def empty_database(*, has_tables: bool = False) -> Iterator[dict[str, str]]:
    """An environment in which processes find a database without tables, or without rows.

    On SQLite that is what an empty data folder has, on PostgreSQL a new one, dropped at the end.
    """
    if connection.vendor == "sqlite":
        yield {}
        return
    name = f"empty_{uuid.uuid4().hex}"
    server = urlsplit(os.environ["DATABASE_URL"])
    # A connection of its own: the test may be one that is not to touch the tests' database.
    with psycopg.connect(server._replace(path="/postgres").geturl(), autocommit=True) as control:
        model = connection.settings_dict["TEST"]["TEMPLATE"] if has_tables else "template1"
        control.execute(f"CREATE DATABASE {name} TEMPLATE {model}")
        try:
            yield {"DATABASE_URL": server._replace(path=f"/{name}").geturl()}
        finally:
            control.execute(f"DROP DATABASE {name} WITH (FORCE)")
