"""Vectors cached in the database, for every worker and every run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from django.db import connection, transaction
from django.utils import timezone

from scoring.core.embeddings.cache import CachedVector
from scoring.models import Embedding
from scoring.models.bulk import bulk_insert

KEYS_PER_QUERY: Final = 500
COLUMNS: Final = ("cache_key", "vector", "is_cut", "created_at")


class StoredVectors:
    """The rows of `Embedding` as a cache of vectors."""

    def get_many(self, keys: Sequence[str]) -> Mapping[str, CachedVector]:
        vectors: dict[str, CachedVector] = {}
        for start in range(0, len(keys), KEYS_PER_QUERY):
            rows = Embedding.objects.filter(cache_key__in=keys[start : start + KEYS_PER_QUERY])
            for key, vector, is_cut in rows.values_list("cache_key", "vector", "is_cut"):
                vectors[key] = CachedVector(bytes(vector), is_cut)
        return vectors

    def put_many(self, kept: Mapping[str, CachedVector]) -> None:
        """Store vectors; those that another worker has stored meanwhile stay."""
        now = connection.ops.adapt_datetimefield_value(timezone.now())
        rows = [(key, vector, is_cut, now) for key, (vector, is_cut) in kept.items()]
        with transaction.atomic():
            bulk_insert(Embedding, COLUMNS, rows, ignore_existing=True)
