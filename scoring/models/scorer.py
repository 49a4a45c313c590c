"""Scorers, their frozen versions, suites of them, and every change of a threshold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models, transaction
from django.db.models import Q

from scoring.models.audit import AuditEntry
from scoring.models.base import AddressedRow
from scoring.models.team import Team, User

UNIT = [MinValueValidator(0.0), MaxValueValidator(1.0)]


class ScorerQuerySet(models.QuerySet["Scorer"]):
    def visible_to(self, user: User) -> Self:
        return self.filter(team__in=Team.objects.of(user))

    def for_list(self) -> Self:
        """By name, with `current` joined and the attribute `suite_count`."""
        return (
            self.select_related("current")
            .annotate(suite_count=models.Count("entries__suite", distinct=True))
            .order_by("name")
        )


class Scorer(AddressedRow):
    """A named config of a scorer type with a default threshold."""

    team = models.ForeignKey(Team, models.CASCADE, related_name="scorers")
    name = models.CharField(max_length=120)
    type = models.CharField(max_length=60)
    threshold = models.FloatField("default threshold", validators=UNIT)
    current = models.ForeignKey(
        "ScorerVersion", models.PROTECT, null=True, editable=False, related_name="+"
    )
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")

    objects = ScorerQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "name"], name="scorer_name_once"),
            models.CheckConstraint(
                condition=Q(threshold__gte=0, threshold__lte=1), name="scorer_threshold_unit"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class ScorerVersion(models.Model):
    """A scorer's type and config at one moment; frozen, so an old score can be explained.

    `fingerprint` is SHA-256 over type, type version and config: equal fingerprints score alike.
    """

    scorer = models.ForeignKey(Scorer, models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    type = models.CharField(max_length=60)
    config = models.JSONField(default=dict)
    libraries = models.JSONField(default=dict, help_text="Versions of what computed the scores.")
    fingerprint = models.CharField(max_length=64)
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["scorer_id", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["scorer", "number"], name="scorer_version_once")
        ]

    def __str__(self) -> str:
        return f"{self.scorer} v{self.number}"


class SuiteQuerySet(models.QuerySet["Suite"]):
    def visible_to(self, user: User) -> Self:
        return self.filter(team__in=Team.objects.of(user))


class Suite(AddressedRow):
    """A named set of scorers. `revision` goes up with every change of an entry or a threshold."""

    team = models.ForeignKey(Team, models.CASCADE, related_name="suites")
    name = models.CharField(max_length=120)
    revision = models.PositiveIntegerField(default=1, editable=False)

    objects = SuiteQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "name"], name="suite_name_once")]

    def __str__(self) -> str:
        return self.name


class SuiteEntry(models.Model):
    """A scorer in a suite, with the threshold that counts there."""

    suite = models.ForeignKey(Suite, models.CASCADE, related_name="entries")
    scorer = models.ForeignKey(Scorer, models.PROTECT, related_name="entries")
    threshold = models.FloatField(validators=UNIT)
    position = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering = ["position", "id"]
        verbose_name_plural = "suite entries"
        constraints = [
            models.UniqueConstraint(fields=["suite", "scorer"], name="suite_scorer_once"),
            models.CheckConstraint(
                condition=Q(threshold__gte=0, threshold__lte=1), name="entry_threshold_unit"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.suite} · {self.scorer}"

    def change_threshold(self, new: float, *, by: User | None, reason: str) -> ThresholdChange:
        """Set the threshold, keep the change as a dated row and audit it, all or nothing.

        Raises ValidationError when nothing changes, the reason is blank, or `new` is outside 0..1.
        """
        old = self.threshold
        if not reason.strip():
            raise ValidationError({"reason": "Say why the threshold changes."})
        if new == old:
            raise ValidationError({"threshold": f"The threshold is {old} already."})
        self.threshold = new
        self.clean_fields(exclude=["suite", "scorer"])
        with transaction.atomic():
            self.save(update_fields=["threshold"])
            Suite.objects.filter(pk=self.suite_id).update(revision=models.F("revision") + 1)
            change = ThresholdChange.objects.create(
                entry=self, old=old, new=new, reason=reason.strip(), changed_by=by
            )
            described: Mapping[str, Any] = {"threshold": new, "reason": change.reason}
            AuditEntry.objects.record(
                self.suite.team,
                by,
                "threshold.changed",
                self,
                old={"threshold": old},
                new=described,
            )
        return change


class ThresholdChange(models.Model):
    """A dated change of one suite entry's threshold, and why."""

    entry = models.ForeignKey(SuiteEntry, models.CASCADE, related_name="threshold_changes")
    old = models.FloatField()
    new = models.FloatField()
    reason = models.TextField()
    changed_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    changed_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.entry}: {self.old} → {self.new}"
