"""The audit log: append-only, chained, and readable when people and teams are gone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from scoring.models import AuditCheckpoint, AuditEntry, Member, Role, Team, User
from scoring.models.team.audit_entry import AppendOnlyError, acting_as_operator, readable_name
from tests.support.audit import record, verify


def test_an_entry_outlives_its_person_and_team(team: Team, alice: User) -> None:
    alice.name = "Alice"
    (kept,) = record(team, actor=alice)
    team_id, actor_id = str(team.uuid), str(alice.pk)
    team.delete()
    alice.delete()
    kept = AuditEntry.objects.get(pk=kept.pk)
    assert (kept.team_id, kept.team_name) == (team_id, "Support")
    assert (kept.actor_id, kept.actor_name) == (actor_id, "Alice <alice@example.org>")
    assert (kept.actor, kept.team) == (None, None)
    assert "is sound: 1 entry in 1 chain" in verify()


def test_a_person_keeps_the_name_of_the_time(team: Team, alice: User) -> None:
    record(team, actor=alice)
    User.objects.update(email="renamed@example.org")
    assert AuditEntry.objects.get().actor_name == "alice@example.org"
    assert AuditEntry.objects.get().actor == alice


def test_without_a_person_the_site_acts_or_its_operator(team: Team) -> None:
    record(team)
    with acting_as_operator():
        record(team)
    record(team)
    names = AuditEntry.objects.order_by("pk").values_list("actor_name", flat=True)
    assert list(names) == ["the site", "the operator", "the site"]


@pytest.mark.parametrize(
    "change",
    [
        lambda rows: rows.all().update(action="x"),
        lambda rows: rows.all().delete(),
        lambda rows: rows.get().delete(),
        lambda rows: rows.get().save(),
    ],
)
def test_the_model_refuses_changes(team: Team, change: Callable[[Any], Any]) -> None:
    record(team)
    with pytest.raises(AppendOnlyError):
        change(AuditEntry.objects)


def test_the_orm_gets_around_neither(team: Team) -> None:
    kept, _ = record(team, 2)
    for change in (
        lambda: AuditEntry._base_manager.filter(pk=kept.pk).update(action="x"),
        lambda: AuditEntry._base_manager.filter(pk=kept.pk).delete(),
        lambda: AuditEntry.objects.bulk_update([kept], ["action"]),
        lambda: AuditEntry.objects.bulk_create(
            [kept], update_conflicts=True, unique_fields=["id"], update_fields=["action"]
        ),
    ):
        with pytest.raises((IntegrityError, AppendOnlyError)), transaction.atomic():
            change()
    assert AuditEntry.objects.count() == 2
    assert "is sound" in verify()


def test_old_entries_go_once_a_signed_checkpoint_stands_for_them(team: Team, alice: User) -> None:
    other = Team.objects.create(name="Other", slug="other")
    record(other)
    entries = record(team, 3)
    assert AuditEntry.objects.remove_before(team, entries[2].at, alice) == 2
    checkpoint = AuditCheckpoint.objects.get()
    assert (checkpoint.number, checkpoint.last_id) == (2, entries[1].pk)
    assert checkpoint.hash == entries[1].hash
    left = AuditEntry.objects.of(team).order_by("number")
    assert [(e.number, e.action) for e in left] == [(3, "noun.verb"), (4, "audit.removed")]
    assert (left[1].actor, left[1].new) == (alice, {"entries": 2, "up_to": 2})
    assert AuditEntry.objects.of(other).count() == 1
    assert "is sound" in verify()


def test_all_old_entries_may_go_and_the_chain_goes_on(team: Team) -> None:
    record(team, 3)
    for _ in range(2):
        AuditEntry.objects.remove_before(team, timezone.now() + timedelta(seconds=1), None)
    assert [e.number for e in AuditEntry.objects.of(team)] == [5]
    assert AuditCheckpoint.objects.count() == 2
    record(team)
    assert "2 to entry 6" in verify()


def test_nothing_old_leaves_nothing_behind(team: Team) -> None:
    record(team)
    assert AuditEntry.objects.remove_before(team, timezone.now() - timedelta(days=1), None) == 0
    assert not AuditCheckpoint.objects.exists()


def test_an_entry_costs_two_queries(team: Team, django_assert_num_queries: Any) -> None:
    record(team)
    locks = int(connection.vendor == "postgresql")
    with django_assert_num_queries(2 + locks):
        record(team)


def test_names_are_readable() -> None:
    assert readable_name("", "a@example.org") == "a@example.org"
    assert readable_name("Ann", "a@example.org") == "Ann <a@example.org>"


def test_the_longest_names_fit(db: None) -> None:
    person = User.objects.create(email=f"{'a' * 242}@example.org", name="n" * 100)
    team = Team.objects.create(name="t" * 100, slug="t")
    member = Member.objects.create(team=team, user=person, role=Role.ADMIN)
    kept = AuditEntry.objects.record(team, person, "member.added", member)
    fields = [f for f in AuditEntry._meta.fields if f.max_length]
    assert [f.name for f in fields if len(getattr(kept, f.name) or "") > (f.max_length or 0)] == []


def test_an_audit_entry_is_never_changed_or_deleted(team: Team) -> None:
    kept = AuditEntry.objects.record(team, None, "team.created", team)
    with pytest.raises(AppendOnlyError):
        kept.save()
    with pytest.raises(AppendOnlyError):
        kept.delete()
