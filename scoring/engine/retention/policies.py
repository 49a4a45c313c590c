"""A team's retention rules, and the job that applies them once a day."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from django.db import transaction
from django.utils import timezone

from scoring.engine.jobs.isolation import do_each
from scoring.engine.retention import removal
from scoring.models import AuditEntry, RetentionPolicy, Team, User

#: Between two applications, and from a change to the first one.
PERIOD: Final = timedelta(days=1)


def policy_of(team: Team) -> RetentionPolicy:
    """The team's rules; without any of them where none were set, and then not stored."""
    policy = RetentionPolicy.objects.filter(team=team).first()
    return policy or RetentionPolicy(team=team)


def change_policy(team: Team, days: Mapping[str, int | None], by: User) -> RetentionPolicy:
    """Set the days of every rule. They are applied for the first time a PERIOD from now."""
    with transaction.atomic():
        Team.objects.lock(team)
        policy = policy_of(team)
        old, new = policy.days, dict(days)
        if old == new:
            return policy
        for name, count in new.items():
            setattr(policy, name, count)
        policy.due_at = timezone.now() + PERIOD if any(new.values()) else None
        policy.save()
        AuditEntry.objects.record(team, by, "retention.changed", policy, old=old, new=new)
    return policy


def apply_due_policies() -> None:
    """Remove what is too old by the rules of every team whose turn it is."""
    do_each(RetentionPolicy.objects.due(), apply_policy, "applying retention rules")


def apply_policy(policy: RetentionPolicy) -> None:
    """Remove what is too old by these rules.

    A process that is killed meanwhile leaves the rest to the next one, which finds it as old.
    """
    now = timezone.now()
    for name, count in policy.days.items():
        if count:
            removal.REMOVALS[name](policy.team, now - timedelta(days=count))
    unchanged = RetentionPolicy.objects.filter(pk=policy.pk, due_at=policy.due_at)
    unchanged.update(due_at=now + PERIOD)
