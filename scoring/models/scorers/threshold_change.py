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
    """Somebody changed the threshold meanwhile: `current` is theirs, None without the scorer.

    `what` says who did what and why, by `change`, the last row of its history.
    """

    def __init__(
        self, scorer: object, current: float | None, change: ThresholdChange | None = None
    ) -> None:
        self.current = current
        done = f"removed {scorer}"
        if current is not None:
            done = f"set the threshold of {scorer} to {to_text(current)}"
        who = "Another user" if change is None else change.changed_by or "The operator"
        reason = f" (“{change.reason}”)" if change and change.reason else ""
        self.what = f"{who} {done} in the meantime{reason}."
        super().__init__(f"{self.what} Nothing was changed.")


def refuse_stale(seen: float, current: float | None, scorer: Any, suite: Any = None) -> None:
    """Raise StaleThresholdError unless the current threshold, of a scorer in a suite or by default,
    is the one that was seen.
    """
    if current != seen:
        changes = ThresholdChange.objects.filter(scorer=scorer, suite=suite, new=current)
        raise StaleThresholdError(scorer, current, changes.select_related("changed_by").first())


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
    last row is the threshold it comes back with. Rows of one `revision` of the suite are one
    change.
    """

    suite = models.ForeignKey(
        "Suite", models.CASCADE, null=True, blank=True, related_name="threshold_changes"
    )
    scorer = models.ForeignKey("Scorer", models.CASCADE, related_name="threshold_changes")
    old = models.FloatField(null=True)
    new = models.FloatField(null=True)
    reason = models.TextField(blank=True)
    revision = models.PositiveIntegerField(null=True, help_text="Of the suite, since the change.")
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
    def change_key(self) -> str:
        """The same for all rows of one change."""
        return f"row {self.pk}" if self.revision is None else f"revision {self.revision}"

    @property
    def text(self) -> str:
        """What happened, such as "removed (was 0.9)"."""
        if self.old is None:
            return f"added at {to_text(self.new)}"
        if self.new is None:
            return f"removed (was {to_text(self.old)})"
        return f"{to_text(self.old)} → {to_text(self.new)}"
