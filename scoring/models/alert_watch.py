"""What alert rules have seen of each series, and when the worker looks again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

from django.db import models
from django.db.models import Q
from django.utils import timezone

from scoring.models.dataset import Dataset
from scoring.models.run import Run

if TYPE_CHECKING:
    from scoring.models.alert_rule import AlertRule


class WatchState(models.TextChoices):
    NEW = "new", "not looked at yet"
    FINE = "fine", "fine"
    FIRING = "firing", "firing"
    UNDECIDED = "undecided", "undecided"
    SILENT = "silent", "nothing to go by yet"


class AlertWatchQuerySet(models.QuerySet["AlertWatch"]):
    def look_at(self, rules: Sequence[AlertRule], series: Sequence[str]) -> None:
        """Let the worker look at these series under each of the rules, as soon as it can."""
        now = timezone.now()
        rows = [
            AlertWatch(rule=rule, series=name, look_at=now) for rule in rules for name in series
        ]
        self.bulk_create(
            rows,
            update_conflicts=True,
            unique_fields=["rule", "series"],
            update_fields=["look_at"],
        )

    def look_again(self, dataset: Dataset, series: str) -> None:
        """What this series is compared with has changed."""
        self.filter(rule__dataset=dataset, series=series).update(look_at=timezone.now())

    def due(self) -> Self:
        """Those to look at now, the longest waiting first, with rule, dataset and team."""
        living = Q(rule__deleted_at=None, rule__paused_at=None)
        found = self.filter(living, look_at__lte=timezone.now()).order_by("look_at")
        return found.select_related("rule__dataset__team")


class AlertWatch(models.Model):
    """A series under a rule: what its newest run came to, and when to look again.

    `look_at` is None until a run ends. `sentence` says what was seen in `run`, which is None where
    there is none. A look is claimed by moving `look_at` on, so that of several workers one looks.
    """

    rule = models.ForeignKey("AlertRule", models.CASCADE, related_name="watches")
    series = models.CharField(max_length=120, blank=True, default="")
    state = models.CharField(max_length=10, choices=WatchState.choices, default=WatchState.NEW)
    sentence = models.TextField(blank=True, default="")
    run = models.ForeignKey(Run, models.SET_NULL, null=True, related_name="+")
    seen_at = models.DateTimeField(null=True)
    look_at = models.DateTimeField(null=True)

    objects = AlertWatchQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "alert watches"
        constraints = [models.UniqueConstraint(fields=["rule", "series"], name="watched_once")]
        indexes = [models.Index(fields=["look_at"], name="watch_by_look")]

    def __str__(self) -> str:
        return f"{self.rule}{self.series and f' ({self.series})'}: {self.get_state_display()}"
