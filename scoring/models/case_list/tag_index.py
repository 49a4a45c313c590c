"""An index of tags: the positions of the cases with a tag in a dataset version.

Found once by the worker: a version never changes. An index over tags would cost every import.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from django.db import models, transaction

from scoring.models.data.dataset import DatasetVersion
from scoring.models.locks import lock_row
from scoring.models.prepared_query import prepared_query

MAX_POSITIONS: Final = 2_000  # cases of a tag whose positions are kept
TAG_LENGTH: Final = 200
MAX_OFFERED: Final = 500  # tags
_LOOKED_AT: Final = 1_000  # cases, where the worker has not looked yet


def is_indexable(tag: str) -> bool:
    """Whether a database keeps the tag as it is."""
    return 0 < len(tag) <= TAG_LENGTH and "\0" not in tag


class TagIndexQuerySet(models.QuerySet["TagIndex"]):
    def keep(self, version: DatasetVersion, places: Mapping[str, Sequence[int] | None]) -> None:
        """By tag the positions of its cases, None where they are more than MAX_POSITIONS.

        `places` are all tags of the version that may be kept.
        """
        rows = [TagIndex(version=version, tag=tag, positions=at) for tag, at in places.items()]
        with transaction.atomic():
            lock_row(version, "state")
            self.filter(version=version).delete()
            self.bulk_create([TagIndex(version=version, tag=""), *rows], batch_size=200)

    def of(self, version: int, tag: str) -> TaggedPositions:
        """What is kept of the tag; one query."""
        if not is_indexable(tag):
            return UNKNOWN
        rows = self.filter(version=version, tag__in=["", tag]).values_list("tag", "positions")
        positions: dict[str, list[int] | None] = dict(rows)
        return TaggedPositions(positions.get(tag, [])) if positions else UNKNOWN

    def offered(self, version: DatasetVersion) -> list[str]:
        """Tags of the version to choose from, in order; none with signs that cannot be seen.

        All up to MAX_OFFERED where the worker has looked, else those of the first cases. One
        query or two.
        """
        tags = set(_first_indexed_tags(version.pk, limit=MAX_OFFERED + 1)) or _first_tags(version)
        return sorted(tag for tag in tags if is_indexable(tag) and tag.isprintable())[:MAX_OFFERED]


@prepared_query
def _first_indexed_tags(version: int, *, limit: int) -> models.QuerySet[TagIndex, str]:
    rows = TagIndex.objects.filter(version=version).order_by("tag")
    return rows.values_list("tag", flat=True)[:limit]


def _first_tags(version: DatasetVersion) -> set[str]:
    first = version.cases.filter(position__lte=_LOOKED_AT).order_by()
    lists = first.values_list("tags_json", flat=True).distinct()
    return {tag for written in lists for tag in json.loads(written)}


class TagIndex(models.Model):
    """One tag of a version and the positions of its cases, rising; None where they are many.

    A version whose tags were looked through also has a row for no tag, "".
    """

    version = models.ForeignKey(
        DatasetVersion, models.CASCADE, related_name="tag_index", db_index=False
    )
    tag = models.CharField(max_length=TAG_LENGTH, blank=True)
    positions = models.JSONField(null=True)

    objects = TagIndexQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["version", "tag"], name="tag_index_once")]
        verbose_name_plural = "tag indexes"

    def __str__(self) -> str:
        return f"{self.version}: {self.tag}"


class TaggedPositions(NamedTuple):
    """Where a tag's cases stand; None where they are many, or where nobody has looked yet."""

    positions: list[int] | None
    is_known: bool = True


UNKNOWN: Final = TaggedPositions(None, is_known=False)
