"""Rules are set with a day's notice, and applied once a day."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from scoring.engine.retention import policies, removal
from scoring.engine.worker.main import clean_up
from scoring.models import AuditEntry, ModelCall, RetentionPolicy, Team, User
from tests.engine.retention.conftest import AGE, Store

NONE = dict.fromkeys(RetentionPolicy.RULES)
REPLIES = {**NONE, "replies_days": AGE.days // 2}


def make_due() -> None:
    RetentionPolicy.objects.update(due_at=timezone.now())


def removed() -> int:
    return ModelCall.objects.exclude(removed_at=None).count()


def test_a_change_is_audited_and_waits_a_day(team: Team, alice: User) -> None:
    policy = policies.change_policy(team, REPLIES, alice)
    assert policy.due_at
    assert policy.due_at > timezone.now() + timedelta(hours=23)
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.old, entry.new) == ("retention.changed", NONE, REPLIES)
    policies.change_policy(team, REPLIES, alice)
    assert AuditEntry.objects.count() == 1


def test_without_rules_nothing_is_ever_due(team: Team, alice: User) -> None:
    policies.change_policy(team, REPLIES, alice)
    assert policies.change_policy(team, NONE, alice).due_at is None
    assert policies.policy_of(team).days == NONE


def test_rules_are_applied_when_they_are_due_and_a_day_later(store: Store, alice: User) -> None:
    policies.change_policy(store.team, REPLIES, alice)
    policies.apply_due_policies()
    assert removed() == 0
    make_due()
    clean_up()
    assert removed() == 1
    due = RetentionPolicy.objects.get().due_at
    assert due
    assert due > timezone.now() + timedelta(hours=23)


def test_a_team_whose_rules_fail_holds_up_no_other(
    store: Store, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = Team.objects.create(name="First", slug="first")
    for team in (first, store.team):
        policies.change_policy(team, REPLIES, alice)
    make_due()
    remove = removal.remove_replies

    def fail_for_first(team: Team, before: object) -> None:
        if team == first:
            raise RuntimeError
        remove(team, before)  # type: ignore[arg-type]

    monkeypatch.setitem(removal.REMOVALS, "replies_days", fail_for_first)  # type: ignore[arg-type]
    policies.apply_due_policies()
    assert removed() == 1
    assert RetentionPolicy.objects.due().get().team == first


def test_rules_that_are_changed_while_they_are_applied_get_their_day(
    store: Store, alice: User
) -> None:
    policies.change_policy(store.team, REPLIES, alice)
    make_due()
    applied = RetentionPolicy.objects.get()
    changed = policies.change_policy(store.team, {**REPLIES, "runs_days": 500}, alice)
    policies.apply_policy(applied)
    assert RetentionPolicy.objects.get().due_at == changed.due_at
