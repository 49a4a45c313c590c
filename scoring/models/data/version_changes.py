"""Changes between two versions of a dataset; cases are matched by key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple
from uuid import UUID

from django.db import models
from django.db.models import Exists, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Coalesce

from scoring.models.data.dataset import CONTENT, Case, CaseContent, DatasetVersion

MAX_POSITIONS: Final = 1_000  # positions that may be remembered
FIELDS: Final = ("input", "expected", "references", "metadata", "tags")


class ChangeKind(models.TextChoices):
    ADDED = "added"
    REMOVED = "removed"
    EDITED = "edited"


class VersionChanges(models.Model):
    """How many cases two versions tell apart. Versions never change, so this is counted once."""

    old = models.ForeignKey(DatasetVersion, models.CASCADE, related_name="+", db_index=False)
    new = models.ForeignKey(DatasetVersion, models.CASCADE, related_name="+")
    added = models.PositiveIntegerField()
    removed = models.PositiveIntegerField()
    edited = models.PositiveIntegerField()

    class Meta:
        verbose_name_plural = "version changes"
        constraints = [models.UniqueConstraint(fields=["old", "new"], name="changes_once")]

    def __str__(self) -> str:
        return f"{self.old} to {self.new}"

    def count(self, kind: str) -> int:
        return int(getattr(self, kind))

    @property
    def unchanged(self) -> int:
        """How many cases are the same in both."""
        return self.new.case_count - self.added - self.edited


class ChangedCase(NamedTuple):
    """A case as it was and as it is; None on the side that lacks it. `fields` are the edited."""

    key: str
    position: int
    old: Case | None
    new: Case | None
    fields: Sequence[str]


@dataclass(frozen=True)
class Changes:
    """Two versions of one dataset side by side."""

    old: DatasetVersion
    new: DatasetVersion

    def counted(self) -> VersionChanges:
        """The counts, stored once they are known."""
        pair = {"old": self.old, "new": self.new}
        changes = VersionChanges.objects.filter(**pair).first()
        if changes is None:
            counts = {kind.value: self.cases(kind).count() for kind in ChangeKind}
            changes, _ = VersionChanges.objects.get_or_create(**pair, defaults=counts)
        changes.old, changes.new = self.old, self.new
        return changes

    def cases(self, kind: ChangeKind) -> QuerySet[Case]:
        """The cases of that kind in order: of the old version where they were removed, else of
        the new.
        """
        if kind == ChangeKind.REMOVED:
            return _of(self.old).filter(~Exists(_same_key(self.new)))
        if kind == ChangeKind.ADDED:
            return _of(self.new).filter(~Exists(_same_key(self.old)))
        return _of(self.new).filter(Exists(_edited(self.old)))

    def few_or_all(self, kind: ChangeKind, count: int) -> QuerySet[Case]:
        """The same, of which there are `count`. Few are searched once in a process, since versions
        never change, and found by their positions from then on.
        """
        if count > MAX_POSITIONS:
            return self.cases(kind)
        positions = _positions(self.old.uuid, self.new.uuid, kind) if count else ()
        shown = self.old if kind == ChangeKind.REMOVED else self.new
        return _of(shown).filter(position__in=positions)

    def with_other_version(self, kind: ChangeKind, cases: Sequence[Case]) -> list[ChangedCase]:
        """Each of these cases with what it is in the other version."""
        if kind == ChangeKind.REMOVED:
            return [ChangedCase(case.key, case.position, case, None, ()) for case in cases]
        keys = [case.key for case in cases] if kind == ChangeKind.EDITED else []
        old = {case.key: case for case in _of(self.old).filter(key__in=keys)}
        return [
            ChangedCase(
                case.key,
                case.position,
                old.get(case.key),
                case,
                edited_fields(old.get(case.key), case),
            )
            for case in cases
        ]


@lru_cache(maxsize=256)
def _positions(old: UUID, new: UUID, kind: ChangeKind) -> tuple[int, ...]:
    """Of the cases of that kind between the versions of these ids."""
    sides = (DatasetVersion.objects.get(uuid=version) for version in (old, new))
    return tuple(Changes(*sides).cases(kind).values_list("position", flat=True))


def _of(version: DatasetVersion) -> QuerySet[Case]:
    return Case.objects.filter(version=version).order_by("position")


def _same_key(version: DatasetVersion) -> QuerySet[Case]:
    return Case.objects.filter(version=version, key=OuterRef("key")).order_by()


def _edited(version: DatasetVersion) -> QuerySet[Case]:
    """The case of that key in the version where any of its columns differs from the outer row."""
    nothing = Value("", models.TextField())  # no JSON is an empty text
    differs = ~Q(held=Coalesce(OuterRef("expected_json"), nothing))
    for name in CONTENT:
        if name != "expected_json":
            differs |= ~Q(**{name: OuterRef(name)})
    return _same_key(version).alias(held=Coalesce("expected_json", nothing)).filter(differs)


def edited_fields(old: CaseContent | None, new: CaseContent) -> list[str]:
    """The names of the fields in which the two differ; none where there is no old one."""
    pairs = zip(FIELDS, CONTENT, strict=True)
    return [name for name, column in pairs if old and getattr(old, column) != getattr(new, column)]
