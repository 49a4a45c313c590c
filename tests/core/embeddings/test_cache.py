"""The cache in front of every embedder: what is computed, what is kept, what comes back."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from threading import Barrier, Lock
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.embeddings.cache import (
    SAVE_EVERY,
    CachedVector,
    MemoryCache,
    embed_texts,
    text_key_function,
)
from scoring.core.embeddings.errors import EmbeddingError
from tests.support.waiting import DEADLINE_SECONDS


class Letters:
    """Counts the letters a, b and c of a text; a text of more than nine letters is cut."""

    model = "letters@1"
    step = 3

    def __init__(self, turn: AbstractContextManager[Any] | None = None) -> None:
        self.key = text_key_function("local", "letters", "1")
        self.computed: list[list[str]] = []
        self._turn = turn or nullcontext()

    def turn(self) -> AbstractContextManager[Any]:
        return self._turn

    def compute(self, texts: Sequence[str]) -> tuple[Any, Sequence[bool]]:
        self.computed.append(list(texts))
        rows = [[text.count(letter) for letter in "abc"] for text in texts]
        return np.array(rows), [len(text) > 9 for text in texts]


def test_rows_have_length_1_or_are_0_and_come_in_order() -> None:
    vectors = embed_texts(["aaa", "x", "aabb", "aaab" * 3], MemoryCache(), Letters())
    unit = 1 / math.sqrt(2)
    wanted = [[1, 0, 0], [0, 0, 0], [unit, unit, 0], [3 / math.sqrt(10), 1 / math.sqrt(10), 0]]
    assert vectors.matrix.dtype == np.float32
    assert vectors.matrix == pytest.approx(np.array(wanted), abs=1e-7)
    assert list(vectors.is_cut) == [False, False, False, True]
    assert vectors.model == "letters@1"


def test_each_distinct_text_is_computed_once_in_order_of_length() -> None:
    letters, cache = Letters(), MemoryCache()
    embed_texts(["abc", "a", "abc", "ab", "a"], cache, letters)
    embed_texts(["ab", "c", "abc"], cache, letters)
    assert letters.computed == [["a", "ab", "abc"], ["c"]]


def test_whoever_listens_hears_of_every_step() -> None:
    letters, cache = Letters(), MemoryCache()
    embed_texts(["a", "b"], cache, letters)
    shares: list[float] = []
    texts = ["a", "b", "aa", "bb", "ab", "ba", "aaa", "a"]
    heard = embed_texts(texts, cache, letters, shares.append)
    assert shares == [5 / 7, 1.0]
    assert [len(block) for block in letters.computed] == [2, 3, 2]
    assert heard.matrix.tobytes() == embed_texts(texts, MemoryCache(), Letters()).matrix.tobytes()


def test_no_texts_give_no_rows() -> None:
    assert embed_texts([], MemoryCache(), Letters()).matrix.shape == (0, 0)


def test_half_characters_are_replaced_before_anybody_reads_them() -> None:
    letters = Letters()
    embed_texts(["a\ud800"], MemoryCache(), letters)
    assert letters.computed == [["a?"]]


def test_what_is_computed_is_kept_block_by_block() -> None:
    """A worker that is killed loses one block at most."""

    class Failing(Letters):
        def compute(self, texts: Sequence[str]) -> tuple[Any, Sequence[bool]]:
            if self.computed:
                raise EmbeddingError("embedding_failed", "gone")
            return super().compute(texts)

    cache, texts = MemoryCache(), ["a" * n for n in range(1, SAVE_EVERY + 2)]
    with pytest.raises(EmbeddingError):
        embed_texts(texts, cache, Failing())
    letters = Letters()
    embed_texts(texts, cache, letters)
    assert letters.computed == [texts[-1:]]


def test_two_threads_that_want_one_text_compute_it_once() -> None:
    letters, cache = Letters(Lock()), MemoryCache()
    together = Barrier(4)

    class Slow:
        """Finds nothing before all have looked."""

        def get_many(self, keys: Sequence[str]) -> Mapping[str, CachedVector]:
            found = cache.get_many(keys)
            if not letters._turn.locked():  # type: ignore[attr-defined]
                together.wait(DEADLINE_SECONDS)
            return found

        put_many = cache.put_many

    with ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(embed_texts, ["ab", "b"], Slow(), letters) for _ in range(4)]
    assert {job.result().matrix.tobytes() for job in jobs} == {
        embed_texts(["ab", "b"], cache, letters).matrix.tobytes()
    }
    assert letters.computed == [["b", "ab"]]


class Wrong(Letters):
    def __init__(self, matrix: Any) -> None:
        super().__init__()
        self._matrix = matrix

    def compute(self, texts: Sequence[str]) -> tuple[Any, Sequence[bool]]:
        return self._matrix, [False] * len(texts)


@pytest.mark.parametrize(
    "matrix", [[[math.nan, 1.0]], [[math.inf, 1.0]], [[1.0], [1.0]], [1.0]], ids=str
)
def test_vectors_that_are_no_vectors_are_refused_and_not_kept(matrix: Any) -> None:
    cache = MemoryCache()
    with pytest.raises(EmbeddingError, match="no numbers"):
        embed_texts(["a"], cache, Wrong(np.array(matrix)))
    assert cache.get_many([Letters().key("a")]) == {}


def test_vectors_of_another_size_under_one_name_are_refused() -> None:
    cache = MemoryCache()
    embed_texts(["b"], cache, Wrong(np.array([[1.0, 0.0]])))
    with pytest.raises(EmbeddingError, match="differ in size"):
        embed_texts(["a", "b"], cache, Letters())


@given(st.lists(st.text("abc", max_size=12), max_size=12), st.integers(0, 99))
def test_batch_equals_one_by_one_and_permuting_permutes(texts: list[str], seed: int) -> None:
    whole = embed_texts(texts, MemoryCache(), Letters()).matrix
    order = random.Random(seed).sample(range(len(texts)), len(texts))
    permuted = embed_texts([texts[place] for place in order], MemoryCache(), Letters()).matrix
    for place, text in enumerate(texts):
        (alone,) = embed_texts([text], MemoryCache(), Letters()).matrix
        assert whole[place][: len(alone)] == pytest.approx(alone, abs=1e-5)
        assert len(alone) or not whole[place].any()
    assert all((permuted[new] == whole[old]).all() for new, old in enumerate(order))


def test_the_oldest_vectors_make_room() -> None:
    row = CachedVector(b"\0" * 100, is_cut=False)
    cache = MemoryCache(room_bytes=1_200)  # three of 400
    cache.put_many({"a": row, "b": row, "c": row})
    cache.get_many(["a"])
    cache.put_many({"d": row, "a": row})
    assert sorted(cache.get_many(["a", "b", "c", "d"])) == ["a", "c", "d"]


PARTS = ("local", "m", "r", "text")


@pytest.mark.parametrize("place", range(4))
def test_everything_that_decides_a_vector_is_in_its_key(place: int) -> None:
    changed = [*PARTS[:place], "other", *PARTS[place + 1 :]]
    key = text_key_function(*PARTS[:3])(PARTS[3])
    assert key == text_key_function(*PARTS[:3])(PARTS[3])
    assert len(key) == 64
    assert key != text_key_function(*changed[:3])(changed[3])


def test_no_text_reads_as_another_models() -> None:
    assert text_key_function("a", "b", "c")("d") != text_key_function("a", "b", 'c"d')("")
