"""Which cases of a version repeat earlier ones, or are much like them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from django.db import models

from scoring.models.dataset import DatasetVersion


class Likeness(NamedTuple):
    """The position of an earlier case, and how alike the inputs are: 1 for equal ones."""

    first: int
    similarity: float


class LikenessesQuerySet(models.QuerySet["Likenesses"]):
    def of(self, version: DatasetVersion) -> dict[int, Likeness]:
        """By position the cases that are like an earlier one; none before they were looked for."""
        kept = self.filter(pk=version.pk).values_list("repeats", "near").first()
        repeats, near = kept or ((), ())
        alike = {place: Likeness(first, share) for place, first, share in near}
        return alike | {place: Likeness(first, 1.0) for place, first in repeats}

    def keep(
        self,
        version: DatasetVersion,
        repeats: Sequence[tuple[int, int]],
        near: Sequence[tuple[int, int, float]],
    ) -> None:
        self.update_or_create(pk=version.pk, defaults={"repeats": repeats, "near": near})


class Likenesses(models.Model):
    """What was found of one version, by positions.

    `repeats` pairs a case with the first one of the same input, `near` adds how alike they are.
    """

    version = models.OneToOneField(
        DatasetVersion, models.CASCADE, primary_key=True, related_name="likenesses"
    )
    repeats = models.JSONField(default=list)
    near = models.JSONField(default=list)

    objects = LikenessesQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "likenesses"

    def __str__(self) -> str:
        return f"likenesses of {self.version}"
