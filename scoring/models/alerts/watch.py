"""The state of each watched series, and when the worker evaluates it again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from django.db import models
from django.dispatch import receiver
from django.utils import timezone

from scoring.models.data.dataset import Dataset
from scoring.models.pairs.comparison import baseline_changed
from scoring.models.reviews.waiver import sign_off_changed
from scoring.models.runs.run import Run

if TYPE_CHECKING:
    from scoring.models.alerts.rule import AlertRule


class WatchState(models.TextChoices):
    NEW = "new", "not looked at yet"
    FINE = "fine", "fine"
    WARNING = "warning", "warning"
    FIRING = "firing", "firing"
    UNDECIDED = "undecided", "undecided"
    SILENT = "silent", "nothing to go by yet"


class AlertWatchQuerySet(models.QuerySet["AlertWatch"]):
    def schedule(self, rules: Sequence[AlertRule], series: Sequence[str]) -> None:
        """Let the worker look at these series under each of the rules, as soon as it can."""
        now = timezone.now()
        ordered = sorted(rules, key=lambda rule: rule.pk)  # no deadlock between two of them
        self.bulk_create(
            [
                AlertWatch(rule=rule, series=name, evaluate_at=now)
                for rule in ordered
                for name in sorted(series)
            ],
            update_conflicts=True,
            unique_fields=["rule", "series"],
            update_fields=["evaluate_at"],
        )

    def reschedule(self, dataset: Dataset, series: str | None = None) -> None:
        """What is compared with has changed, or what counts of it: in a series, or in all."""
        watches = self.filter(rule__dataset=dataset)
        if series is not None:
            watches = watches.filter(series=series)
        watches.update(evaluate_at=timezone.now())

    def due(self) -> Self:
        """Those to look at now, the longest waiting first, with rule, dataset and team."""
        watches = self.filter(
            rule__deleted_at=None, rule__paused_at=None, evaluate_at__lte=timezone.now()
        )
        return watches.select_related("rule__dataset__team").order_by("evaluate_at")


class AlertWatch(models.Model):
    """A series under a rule: what its newest run came to, and when to look again.

    `evaluate_at` is None until a run ends. `sentence` says what was seen in `run`, which is None
    where there is none. A worker claims a watch by postponing `evaluate_at`, so that only one
    evaluates it.
    """

    rule = models.ForeignKey("AlertRule", models.CASCADE, related_name="watches")
    series = models.CharField(max_length=120, blank=True, default="")
    state = models.CharField(max_length=10, choices=WatchState.choices, default=WatchState.NEW)
    sentence = models.TextField(blank=True, default="")
    run = models.ForeignKey(Run, models.SET_NULL, null=True, related_name="+")
    seen_at = models.DateTimeField(null=True)
    evaluate_at = models.DateTimeField(null=True)

    objects = AlertWatchQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "alert watches"
        constraints = [models.UniqueConstraint(fields=["rule", "series"], name="watched_once")]
        indexes = [models.Index(fields=["evaluate_at"], name="watch_by_time")]

    def __str__(self) -> str:
        return f"{self.rule}{self.series and f' ({self.series})'}: {self.get_state_display()}"


@receiver(baseline_changed)
def _look_again(dataset: Dataset, series: str, **_: Any) -> None:
    AlertWatch.objects.reschedule(dataset, series)


@receiver(sign_off_changed)
def _count_again(dataset: Dataset, **_: Any) -> None:
    AlertWatch.objects.reschedule(dataset)
