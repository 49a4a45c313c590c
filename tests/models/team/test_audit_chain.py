"""The chain of the audit log: teams have their own, and what somebody changed in one is found."""

from __future__ import annotations

import threading

import pytest
from django.db import connection, transaction

from scoring.models import AuditEntry, Team, User
from tests.support.audit import ENTRY, fault, record, tampered, verify


def test_teams_have_chains_of_their_own(team: Team) -> None:
    other = Team.objects.create(name="Other", slug="other")
    record(team, 2)
    record(other)
    record(None)
    record(team)
    assert [e.number for e in AuditEntry.objects.of(team).order_by("pk")] == [1, 2, 3]
    assert [e.number for e in AuditEntry.objects.of(None)] == [1]
    said = verify()
    assert "is sound: 5 entries in 3 chains" in said
    assert f"Support ({team.uuid}): 3 to entry 3, hash " in said


@pytest.mark.parametrize(
    "change",
    [
        "action = 'x'",
        "actor_id = '99'",
        "actor_name = 'Eve'",
        "team_name = 'x'",
        "target_id = 'x'",
        "target_name = 'x'",
        "old = '{\"a\": 1}'",
        "new = '{}'",
        "at = '2020-01-01 00:00:00'",
        "hash = 'x'",
    ],
)
def test_a_changed_entry_is_found(team: Team, alice: User, change: str) -> None:
    _, middle, _ = record(team, 3, alice)
    tampered(f"UPDATE {ENTRY} SET {change} WHERE id = {middle.pk}")
    said = fault()
    assert f"Support ({team.uuid}): entry 2 (id {middle.pk}, " in said
    assert "does not match its hash" in said


def test_a_missing_entry_is_found(team: Team) -> None:
    _, middle, _ = record(team, 3)
    tampered(f"DELETE FROM {ENTRY} WHERE id = {middle.pk}")
    assert "entry 2 is missing" in fault()


def test_missing_first_entries_are_found(team: Team) -> None:
    first, second, _ = record(team, 3)
    tampered(f"DELETE FROM {ENTRY} WHERE id IN ({first.pk}, {second.pk})")
    assert "entries 1 to 2 are missing, and no checkpoint stands for them" in fault()


def test_an_entry_that_was_put_in_is_found(team: Team) -> None:
    record(team)
    AuditEntry.objects.bulk_create(
        [AuditEntry(team_id=str(team.uuid), action="forged.entry", number=2, hash="x")]
    )
    assert "entry 2 (" in fault()


@pytest.mark.django_db(transaction=True)
def test_writers_at_the_same_time_do_not_fork_a_chain() -> None:
    team = Team.objects.create(name="Support", slug="support")
    start = threading.Barrier(4)
    faults: list[Exception] = []

    def write() -> None:
        try:
            start.wait()
            for _ in range(15):
                with transaction.atomic():
                    record(team)
                    team.name  # noqa: B018
                record(team)
        except Exception as fault:  # noqa: BLE001
            faults.append(fault)
        finally:
            connection.close()

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert "is sound: 120 entries in 1 chain" in verify()


@pytest.mark.django_db(transaction=True)
def test_what_is_rolled_back_leaves_no_gap() -> None:
    team = Team.objects.create(name="Support", slug="support")
    record(team)
    with transaction.atomic():
        record(team)
        transaction.set_rollback(True)
    record(team)
    assert "is sound: 2 entries" in verify()
