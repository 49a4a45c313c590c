"""Similarity of texts, and which cases are compared."""

from __future__ import annotations

import pytest

from scoring.core.stats.text_drift import (
    MAX_CASES,
    MAX_CHARACTERS,
    mean_similarity,
    sample_positions,
)
from tests.support import oracles


def test_up_to_five_hundred_cases_all_are_looked_at() -> None:
    assert sample_positions(0) == []
    assert sample_positions(MAX_CASES) == list(range(1, MAX_CASES + 1))


def test_of_more_a_sample_is_the_same_each_time() -> None:
    chosen = sample_positions(100_000)
    assert chosen == sample_positions(100_000) == sorted(set(chosen))
    assert len(chosen) == MAX_CASES
    assert (chosen[0] >= 1, chosen[-1] <= 100_000) == (True, True)
    assert sum(place > 50_000 for place in chosen) == pytest.approx(250, abs=60)


def test_similarity_is_the_textbooks() -> None:
    pairs = [("kitten", "sitting"), ("", ""), ("abc", "abc"), ("abc", "xyz")]
    kitten = 1 - oracles.levenshtein("kitten", "sitting") / 7
    assert mean_similarity(pairs) == pytest.approx((kitten + 1 + 1 + 0) / 4)


def test_without_pairs_there_is_no_similarity() -> None:
    assert mean_similarity([]) is None


def test_only_the_beginning_of_long_texts_counts() -> None:
    start = "a" * MAX_CHARACTERS
    assert mean_similarity([(start + "b" * 9000, start + "c" * 10)]) == 1.0
