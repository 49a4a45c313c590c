"""Audit entries as rows of a file."""

from __future__ import annotations

import pytest

from scoring.engine.export import audit
from scoring.engine.export.audit import audit_table
from scoring.models import AuditEntry, Team, User


def test_rows_are_read_in_batches(team: Team, alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "BATCH", 2)
    for number in range(5):
        AuditEntry.objects.record(team, alice, "team.renamed", team, new={"name": number})
    table = audit_table(team, AuditEntry.objects.of(team), lambda entry: entry.number == 3)
    rows = list(table.read())
    assert [row["number"] for row in rows] == [1, 2, 3, 4, 5]
    assert [row["new"] and row["new"]["name"] for row in rows] == [0, 1, None, 3, 4]
    assert table.count == 5
    assert table.cells(rows[0])[0] == 1
