"""The audit log written, verified, and tampered with."""

from __future__ import annotations

import io

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from scoring.models import AuditEntry, Team, User
from scoring.models.team import audit_triggers

ENTRY, CHECKPOINT = audit_triggers.ENTRY, audit_triggers.CHECKPOINT
EVERYTHING = {
    "text": "é\u2028",
    "float": 1.0,
    "small": 0.1,
    "none": None,
    "list": [1, 2.5, {"b": 1}],
}


def drop_trigger(name: str) -> None:
    """Remove a trigger of the table of entries, as a migration that rebuilds it would."""
    run_sql(f"DROP TRIGGER {name}" + (f" ON {ENTRY}" if connection.vendor == "postgresql" else ""))


def run_sql(sql: str) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(sql)


def record(team: Team | None, count: int = 1, actor: User | None = None) -> list[AuditEntry]:
    target = team or User(pk=1, email="x@example.org")
    add = AuditEntry.objects.record
    return [add(team, actor, "noun.verb", target, new=EVERYTHING) for _ in range(count)]


def verify(*options: str) -> str:
    out = io.StringIO()
    call_command("verify_audit", *options, stdout=out)
    return out.getvalue()


def fault() -> str:
    with pytest.raises(CommandError) as raised:
        verify()
    assert raised.value.returncode == 1
    return str(raised.value)


def tampered(sql: str) -> None:
    """What somebody with the database file can do."""
    for statement in audit_triggers.removal_statements(connection.vendor):
        run_sql(statement)
    run_sql(sql)
    audit_triggers.install_triggers(connection)
