"""Vectors in the database: kept once, found by key, unchanged to the last bit."""

from __future__ import annotations

import random

import numpy as np
import pytest

from scoring.core.embeddings.cache import CachedVector, embed_texts
from scoring.engine.services.vector_store import KEYS_PER_QUERY, StoredVectors
from scoring.models import Embedding
from tests.core.embeddings.test_cache import Letters

pytestmark = pytest.mark.django_db


def vectors(count: int) -> dict[str, CachedVector]:
    chance = random.Random(7)
    return {
        f"{n:064x}": CachedVector(chance.randbytes(1_536), is_cut=n % 3 == 0) for n in range(count)
    }


@pytest.mark.parametrize("count", [0, 1, 99, 2 * KEYS_PER_QUERY + 1])
def test_what_is_kept_comes_back_unchanged(count: int) -> None:
    kept = vectors(count)
    StoredVectors().put_many(kept)
    assert StoredVectors().get_many([*kept, "f" * 64]) == kept
    assert Embedding.objects.count() == count


def test_keys_are_looked_up_in_few_queries(django_assert_num_queries: pytest.FixtureDef) -> None:
    keys = list(vectors(KEYS_PER_QUERY + 1))
    with django_assert_num_queries(2):  # type: ignore[operator]  # it is a function
        StoredVectors().get_many(keys)


def test_the_first_vector_of_a_key_stays() -> None:
    first, second = CachedVector(b"aaaa", is_cut=False), CachedVector(b"bbbb", is_cut=True)
    StoredVectors().put_many({"k": first})
    StoredVectors().put_many({"k": second, "l": second})
    assert StoredVectors().get_many(["k", "l"]) == {"k": first, "l": second}


def test_a_text_without_vector_is_kept_as_one() -> None:
    letters = Letters()
    for _ in range(2):
        found = embed_texts(["x", "ab"], StoredVectors(), letters)
        assert np.linalg.norm(found.matrix, axis=1) == pytest.approx([0, 1], abs=1e-6)
    assert letters.computed == [["x", "ab"]]
