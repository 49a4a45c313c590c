"""Alerts: each firing of a rule, until it is resolved, and its deliveries."""

from __future__ import annotations

from typing import Final, Self

from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.db.models import Q
from django.utils import timezone

from scoring.models.alerts.rule import AlertRule
from scoring.models.alerts.webhook import mask_target
from scoring.models.base import AddressedRow
from scoring.models.runs.run import Run
from scoring.models.team.audit_entry import AuditEntry
from scoring.models.team.team import Team, User


class AlertState(models.TextChoices):
    """Of an alert that is not over."""

    FIRING = "firing"
    WARNING = "warning"  # beyond the warning limit alone
    UNDECIDED = "undecided"  # the newest run's figure cannot be told


STATES: Final = (*AlertState.values, "resolved")


class AlertQuerySet(models.QuerySet["Alert"]):
    def visible_to(self, user: User) -> Self:
        """Those of rules that nobody has deleted, in the person's teams."""
        return self.of_living().filter(rule__team__in=Team.objects.of(user))

    def of_living(self) -> Self:
        return self.filter(rule__deleted_at=None)

    def for_list(self) -> Self:
        """Open ones first, each the newest first; rule, dataset, runs and person are joined."""
        rows = self.select_related(
            "rule__dataset", "rule__team", "acknowledged_by", "run", "resolved_by_run"
        )
        return rows.order_by(models.F("resolved_at").desc(nulls_first=True), "-opened_at", "-pk")

    def for_open_list(self) -> Self:
        """Those that are not over, the newest first, with what a list of them shows joined."""
        rows = self.unresolved().select_related("rule__dataset", "acknowledged_by", "run")
        return rows.order_by("-opened_at", "-pk")

    def unresolved(self) -> Self:
        """Firing, warning or undecided."""
        return self.filter(resolved_at=None)

    def firing(self) -> Self:
        return self.unresolved().filter(state=AlertState.FIRING)

    def warning(self) -> Self:
        return self.unresolved().filter(state=AlertState.WARNING)

    def decided(self) -> Self:
        """Firing or warning."""
        return self.unresolved().exclude(state=AlertState.UNDECIDED)

    def undecided(self) -> Self:
        return self.unresolved().filter(state=AlertState.UNDECIDED)

    def resolved(self) -> Self:
        return self.filter(resolved_at__isnull=False)

    def in_state(self, state: str) -> Self:
        """By one of STATES; by any other word none."""
        querysets = {
            "firing": self.firing,
            "warning": self.warning,
            "undecided": self.undecided,
            "resolved": self.resolved,
        }
        return querysets.get(state, self.none)()


class Alert(AddressedRow):
    """One time a rule fired over a series; at most one of a rule and series is unresolved.

    `run` is the newest run that was judged so, None where runs are missing, `baseline` the one it
    was compared with, if any, and `limit` and `value` are what was compared, in the kind's own
    unit. `note` says why a later run could not be judged. `notified_at` is when people were last
    notified, `remind_at` when they are notified again, None for never. An alert that is over
    because its figure is fine again has a `resolved_by_run`, except one that waited for any run.
    """

    rule = models.ForeignKey(AlertRule, models.CASCADE, related_name="alerts")
    series = models.CharField(max_length=120, blank=True, default="")
    state = models.CharField(max_length=10, choices=AlertState.choices, default=AlertState.FIRING)
    run = models.ForeignKey(Run, models.SET_NULL, null=True, related_name="alerts")
    baseline = models.ForeignKey(Run, models.SET_NULL, null=True, related_name="+")
    value = models.FloatField(null=True)
    limit = models.FloatField(null=True)
    sentence = models.TextField()
    note = models.TextField(blank=True, default="")
    opened_at = models.DateTimeField(default=timezone.now)
    notified_at = models.DateTimeField(null=True)
    remind_at = models.DateTimeField(null=True)
    acknowledged_at = models.DateTimeField(null=True)
    acknowledged_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    resolved_at = models.DateTimeField(null=True)
    resolved_by_run = models.ForeignKey(Run, models.SET_NULL, null=True, related_name="+")

    objects = AlertQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["rule", "series"], condition=Q(resolved_at=None), name="one_open_alert"
            )
        ]
        indexes = [models.Index(fields=["remind_at"], name="alert_to_remind")]

    def __str__(self) -> str:
        return self.sentence

    @property
    def is_open(self) -> bool:
        return self.resolved_at is None

    @property
    def standing(self) -> str:
        """One of STATES."""
        return self.state if self.is_open else "resolved"

    def acknowledge(self, *, by: User) -> None:
        """Stop reminders: people are notified once more when the alert is over, and not before.

        Acknowledging twice keeps the first. Raises ValidationError for an alert that is over.
        """
        if not self.is_open:
            raise ValidationError("The alert is over: there is nothing to acknowledge.")
        now = timezone.now()
        with transaction.atomic():
            rows = Alert.objects.unresolved().filter(pk=self.pk, acknowledged_at=None)
            if rows.update(acknowledged_at=now, acknowledged_by=by, remind_at=None):
                AuditEntry.objects.record(self.rule.team, by, "alert.acknowledged", self)
        self.refresh_from_db(
            fields=["acknowledged_at", "acknowledged_by", "remind_at", "resolved_at"]
        )


class Channel(models.TextChoices):
    SITE = "site", "site"
    WEBHOOK = "webhook", "webhook"
    EMAIL = "email", "e-mail"


class Event(models.TextChoices):
    OPENED = "opened"
    AGAIN = "again"
    RESOLVED = "resolved"
    TEST = "test"


class DeliveryState(models.TextChoices):
    WAITING = "waiting"
    SENT = "sent"
    FAILED = "failed"


class AlertDeliveryQuerySet(models.QuerySet["AlertDelivery"]):
    def due(self) -> Self:
        """Those to send now, the longest waiting first; rule and team are joined."""
        ready = self.filter(state=DeliveryState.WAITING, next_try_at__lte=timezone.now())
        return ready.select_related("rule__team").order_by("next_try_at", "pk")

    def for_list(self) -> Self:
        """The newest first, with alert joined."""
        return self.select_related("alert").order_by("-pk")


class AlertDelivery(AddressedRow):
    """One message to one target by one channel; `uuid` is its event id for the receiver.

    `target` is the rule's `webhook_target` or the address, empty for the site. `message` is frozen
    when the event happens, at `happened_at`; a test belongs to no alert. `error` says why the last
    try failed. A process claims a try by postponing `next_try_at`.
    """

    rule = models.ForeignKey(AlertRule, models.CASCADE, related_name="deliveries")
    alert = models.ForeignKey(Alert, models.CASCADE, null=True, related_name="deliveries")
    channel = models.CharField(max_length=10, choices=Channel.choices)
    target = models.CharField(max_length=500, blank=True, default="")
    event = models.CharField(max_length=10, choices=Event.choices)
    happened_at = models.DateTimeField()
    message = models.JSONField(default=dict)
    state = models.CharField(
        max_length=10, choices=DeliveryState.choices, default=DeliveryState.WAITING
    )
    try_count = models.PositiveSmallIntegerField(default=0)
    next_try_at = models.DateTimeField(null=True)
    sent_at = models.DateTimeField(null=True)
    error = models.TextField(blank=True, default="")

    objects = AlertDeliveryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "alert deliveries"
        constraints = [
            models.UniqueConstraint(
                fields=["alert", "event", "happened_at", "channel", "target"],
                name="delivered_once",
            )
        ]
        indexes = [models.Index(fields=["state", "next_try_at"], name="delivery_by_try")]

    def __str__(self) -> str:
        return f"{self.get_channel_display()} {self.event} {self.state}"

    @property
    def target_shown(self) -> str:
        """The target as everybody may see it: only host and last characters of a webhook."""
        return mask_target(self.target) if self.channel == Channel.WEBHOOK else self.target
