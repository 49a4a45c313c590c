"""Near duplicates: cases of a version that repeat or resemble earlier ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db import models

from scoring.models.data.dataset import DatasetVersion
from scoring.models.prepared_query import prepared_query


class NearDuplicate(NamedTuple):
    """The position of an earlier case, and how alike the inputs are: 1 for equal ones."""

    first: int
    similarity: float


class VersionDuplicatesQuerySet(models.QuerySet["VersionDuplicates"]):
    def of(self, version: DatasetVersion) -> dict[int, NearDuplicate]:
        """By position the cases that are like an earlier one; none before they were looked for."""
        row = _repeats_and_near.first(version.pk)
        repeats, near = row or ((), ())
        alike = {position: NearDuplicate(first, share) for position, first, share in near}
        return alike | {position: NearDuplicate(first, 1.0) for position, first in repeats}

    def keep(
        self,
        version: DatasetVersion,
        repeats: Sequence[tuple[int, int]],
        near: Sequence[tuple[int, int, float]],
    ) -> None:
        self.update_or_create(pk=version.pk, defaults={"repeats": repeats, "near": near})


@prepared_query
def _repeats_and_near(version: int) -> models.QuerySet[VersionDuplicates, tuple[Any, Any]]:
    rows = VersionDuplicates.objects.filter(pk=version)
    return rows.values_list("repeats", "near")


class VersionDuplicates(models.Model):
    """What was found of one version, by positions.

    `repeats` pairs a case with the first one of the same input, `near` adds how alike they are.
    """

    version = models.OneToOneField(
        DatasetVersion, models.CASCADE, primary_key=True, related_name="duplicates"
    )
    repeats = models.JSONField(default=list)
    near = models.JSONField(default=list)

    objects = VersionDuplicatesQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "duplicates"

    def __str__(self) -> str:
        return f"near duplicates of {self.version}"
