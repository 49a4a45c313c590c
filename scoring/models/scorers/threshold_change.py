"""Changes of thresholds: when one is allowed, and a dated row of each."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q

from scoring.core.json_text import to_text
from scoring.models.team.team import User

UNIT = [MinValueValidator(0.0), MaxValueValidator(1.0)]
REASON_NEEDED = "Enter a reason for the threshold change."


class StaleThresholdError(Exception):
    """Somebody changed the threshold meanwhile: `current` is theirs, None without the scorer."""

    def __init__(self, current: float | None) -> None:
        self.current = current
        done = (
            "removed the scorer" if current is None else f"set the threshold to {to_text(current)}"
        )
        super().__init__(f"Another user {done} in the meantime. Nothing was changed.")


def use_current_threshold(subject: Any, seen: float, current: float | None) -> None:
    """Give a scorer, or a suite's entry, its threshold as the database has it, None without a row.

    Raises StaleThresholdError where that is not the one that was seen.
    """
    if current is not None:
        subject.threshold = current
    if current != seen:
        raise StaleThresholdError(current)


def check_change(old: float, new: float, reason: str) -> None:
    """Raise ValidationError for a threshold that stays, or that changes without a reason."""
    if not reason.strip():
        raise ValidationError({"reason": REASON_NEEDED})
    if new == old:
        raise ValidationError({"threshold": f"The threshold is {old} already."})


class ThresholdChange(models.Model):
    """A dated change of the threshold a suite has for a scorer, and why; without a suite, of the
    scorer's default.

    `old` is None where the scorer was added, `new` where it was removed; both need no reason. The
    row outlives the suite's entry, so a scorer that is taken out keeps its past, and `old` of its
    last row is the threshold it comes back with.
    """

    suite = models.ForeignKey(
        "Suite", models.CASCADE, null=True, blank=True, related_name="threshold_changes"
    )
    scorer = models.ForeignKey("Scorer", models.CASCADE, related_name="threshold_changes")
    old = models.FloatField(null=True)
    new = models.FloatField(null=True)
    reason = models.TextField(blank=True)
    changed_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    changed_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(old=None, new__isnull=False)
                | Q(old__isnull=False, new=None)
                | (Q(old__isnull=False, new__isnull=False) & ~Q(reason="")),
                name="threshold_change_has_reason",
            )
        ]

    def __str__(self) -> str:
        return f"{self.suite or 'default'} · {self.scorer}: {self.text}"

    @property
    def text(self) -> str:
        """What happened, such as "removed (was 0.9)"."""
        if self.old is None:
            return f"added at {to_text(self.new)}"
        if self.new is None:
            return f"removed (was {to_text(self.old)})"
        return f"{to_text(self.old)} → {to_text(self.new)}"
