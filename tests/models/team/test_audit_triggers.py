"""The database itself refuses to change the audit log."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, connection
from django.utils import timezone

from scoring import checks
from scoring.management.commands import start
from scoring.models import AuditCheckpoint, AuditEntry, Team
from scoring.models.team import audit_triggers
from tests.support.audit import CHECKPOINT, ENTRY, drop_trigger, record, run_sql
from tests.support.undone import undone


def test_the_database_refuses_changes(team: Team, subtests: pytest.Subtests) -> None:
    cases: list[str] = [
        f"UPDATE {ENTRY} SET action = 'x'",
        f"UPDATE {ENTRY} SET id = id + 1",
        f"DELETE FROM {ENTRY}",
        f"UPDATE {CHECKPOINT} SET number = 9",
        f"DELETE FROM {CHECKPOINT}",
    ]
    if connection.vendor == "sqlite":
        cases += [
            f"INSERT OR REPLACE INTO {ENTRY} SELECT * FROM {ENTRY}",
            f"UPDATE OR REPLACE {ENTRY} SET hash = ''",
            f"INSERT OR REPLACE INTO {CHECKPOINT} SELECT * FROM {CHECKPOINT}",
        ]
    else:
        cases += [f"TRUNCATE {ENTRY}", f"TRUNCATE {CHECKPOINT}"]
    for sql in cases:
        with subtests.test(sql=sql), undone():
            record(team, 2)
            AuditEntry.objects.remove_before(team, timezone.now(), None)
            record(team, 2)
            before = [list(row.objects.values()) for row in (AuditEntry, AuditCheckpoint)]
            with pytest.raises(IntegrityError, match="append-only"):
                run_sql(sql)
            assert [list(row.objects.values()) for row in (AuditEntry, AuditCheckpoint)] == before


def test_a_checkpoint_of_another_team_removes_nothing_here(team: Team) -> None:
    other = Team.objects.create(name="Other", slug="other")
    record(team, 2)
    record(other, 2)
    AuditEntry.objects.remove_before(other, timezone.now(), None)
    with pytest.raises(IntegrityError, match="append-only"):
        run_sql(f"DELETE FROM {ENTRY} WHERE team_id = '{team.uuid}'")


def test_the_migrations_make_the_triggers(db: None) -> None:
    assert audit_triggers.missing_triggers(connection) == set()
    assert checks.audit_triggers_exist(databases=["default"]) == []


def test_the_site_starts_with_a_word_on_missing_triggers(
    team: Team, capsys: pytest.CaptureFixture[str]
) -> None:
    drop_trigger("audit_entry_no_delete")
    start.Command()._migrate()
    assert "are missing: audit_entry_no_delete. manage.py verify_audit" in capsys.readouterr().err
