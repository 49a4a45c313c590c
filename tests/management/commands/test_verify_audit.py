"""`manage.py verify_audit`: every chain is told, and missing triggers are made again."""

from __future__ import annotations

import io

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from scoring import checks
from scoring.models import Team
from scoring.models.team import audit_triggers
from tests.support.audit import ENTRY, drop_trigger, fault, record, tampered, verify


def test_the_other_chains_are_still_told(team: Team) -> None:
    record(team)
    record(None)
    tampered(f"UPDATE {ENTRY} SET action = 'x' WHERE team_id <> ''")
    out = io.StringIO()
    with pytest.raises(CommandError, match="entry 1"):
        call_command("verify_audit", stdout=out)
    assert out.getvalue().startswith("the site: 1 to entry 1")


def test_missing_triggers_are_told_and_made_again(team: Team) -> None:
    drop_trigger("audit_entry_no_update")
    (warning,) = checks.audit_triggers_exist(databases=["default"])
    assert "audit_entry_no_update" in warning.msg
    assert "triggers of the audit log are missing: audit_entry_no_update" in fault()
    assert "is sound" in verify("--restore-triggers")
    assert audit_triggers.missing_triggers(connection) == set()
