"""What an entry's hash and a checkpoint's signature stand for."""

from __future__ import annotations

from scoring.models import AuditCheckpoint, AuditEntry, Team
from tests.support.audit import ENTRY, fault, record, run_sql


def test_the_hash_is_the_same_once_read_again(team: Team) -> None:
    first, second = record(team, 2)
    read = AuditEntry.objects.get(pk=second.pk)
    assert read.hash == second.hash == read.hash_after(first.hash)


def test_a_checkpoint_of_somebody_else_is_found(team: Team) -> None:
    entries = record(team, 3)
    fields = {"team_id": str(team.uuid), "number": 2, "last_id": 2, "hash": entries[1].hash}
    AuditCheckpoint.objects.create(**fields, signature="forged")
    run_sql(f"DELETE FROM {ENTRY} WHERE number <= 2")  # which the trigger lets pass
    assert "the checkpoint up to entry 2 was not signed by this site" in fault()
