"""How long a team keeps what it has stored."""

from __future__ import annotations

from typing import ClassVar, Final, Self

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils import timezone

from scoring.models.team.team import Team

MAX_DAYS: Final = 36_500
MIN_AUDIT_DAYS: Final = 90  # lest an admin's own traces be gone before anybody looks


def _days(minimum: int) -> models.PositiveIntegerField[int | None, int | None]:
    """A column of days; None where nothing goes."""
    limits = [MinValueValidator(minimum), MaxValueValidator(MAX_DAYS)]
    return models.PositiveIntegerField(null=True, blank=True, validators=limits)


class RetentionPolicyQuerySet(models.QuerySet["RetentionPolicy"]):
    def due(self) -> Self:
        """Those to apply by now."""
        return self.filter(due_at__lte=timezone.now()).select_related("team")


class RetentionPolicy(models.Model):
    """A team's retention rules: for how many days it keeps runs, texts, replies and audit entries.

    `due_at` is when they are applied next; None where nothing is ever removed.
    """

    team = models.OneToOneField(Team, models.CASCADE, related_name="retention_policy")
    runs_days = _days(1)
    texts_days = _days(1)
    replies_days = _days(1)
    audit_days = _days(MIN_AUDIT_DAYS)
    due_at = models.DateTimeField(null=True, editable=False)

    objects = RetentionPolicyQuerySet.as_manager()

    #: The fields that hold days.
    RULES: ClassVar = ("runs_days", "texts_days", "replies_days", "audit_days")

    class Meta:
        verbose_name_plural = "retention policies"

    def __str__(self) -> str:
        return f"retention rules of {self.team}"

    @property
    def days(self) -> dict[str, int | None]:
        """Every rule's days, by the field's name."""
        return {name: getattr(self, name) for name in self.RULES}
