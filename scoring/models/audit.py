"""Who changed what, from what, to what, when: written in the same transaction, never changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from django.db import models

from scoring.models.team import Team, User


class AuditQuerySet(models.QuerySet["AuditEntry"]):
    def about(self, *targets: models.Model) -> Self:
        """What was done to any of these, newest first."""
        asked = models.Q(pk__in=[])
        for target in targets:
            asked |= models.Q(**_named(target))
        return self.filter(asked)

    def record(
        self,
        team: Team | None,
        actor: User | None,
        action: str,
        target: models.Model,
        *,
        old: Mapping[str, Any] | None = None,
        new: Mapping[str, Any] | None = None,
    ) -> AuditEntry:
        """One entry. `actor` is None when the site itself acted; `action` reads `noun.verb`."""
        return self.create(
            team=team,
            actor=actor,
            action=action,
            **_named(target),
            target_name=str(target)[:200],
            old=dict(old or {}),
            new=dict(new or {}),
        )


def _named(target: models.Model) -> dict[str, str]:
    """The columns that say whom an entry is about."""
    return {
        "target_type": str(target._meta.verbose_name),
        "target_id": str(getattr(target, "uuid", target.pk)),
    }


class AppendOnlyError(Exception):
    """Raised by any attempt to change or delete an audit entry."""


class AuditEntry(models.Model):
    """One state change."""

    team = models.ForeignKey(Team, models.SET_NULL, null=True, related_name="audit_entries")
    actor = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    action = models.CharField(max_length=60)
    target_type = models.CharField(max_length=60)
    target_id = models.CharField(max_length=40)
    target_name = models.CharField(max_length=200)
    old = models.JSONField(default=dict)
    new = models.JSONField(default=dict)
    at = models.DateTimeField(auto_now_add=True)

    objects = AuditQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "audit entries"
        indexes = [models.Index(fields=["target_type", "target_id"], name="audit_by_target")]

    def __str__(self) -> str:
        return f"{self.action} {self.target_name}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if self.pk is not None:
            raise AppendOnlyError("an audit entry is never changed")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:  # noqa: ARG002
        raise AppendOnlyError("an audit entry is never deleted")
