"""The database after a test that committed rows."""

from __future__ import annotations

from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.core.management.color import no_style
from django.db import connection

from scoring.models import AuditCheckpoint, AuditEntry
from scoring.models.team import audit_triggers

#: What `migrate` puts there; making it anew took longer than most tests.
KEPT = {row._meta.db_table for row in (ContentType, Permission)}


def empty_tables() -> None:
    """Remove every row but content types and permissions, the audit log's guarded ones too."""
    tables = set(connection.introspection.django_table_names(only_existing=True)) - KEPT
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
