"""Leaves paired and compared: unordered arrays, ignored paths, tolerances, and at what cost."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

from tests.core.scorers.test_json_comparison import JSON
from tests.support import oracles
from tests.support.scoring import one
from tests.support.speed import quick_enough


@pytest.mark.parametrize(
    ("output", "expected", "score"),
    [
        ([3, 1, 2], [1, 2, 3], 1.0),
        ([1, 2], [1, 2, 3], 2 / 3),
        (["b", "x", "a"], ["a", "b"], 1.0),
        ([], [1], 0.0),
        (
            [{"id": 2, "v": "b"}, {"id": 1, "v": "a"}],
            [{"id": 1, "v": "a"}, {"id": 2, "v": "b"}],
            1.0,
        ),
        ([[2, 1], [4, 3]], [[3, 4], [1, 2]], 1.0),
        # the greedy choice of the first best would lose here
        ([10, 9], [9, 12], (1 + 10 / 12) / 2),
        ({"a": 1}, [1, 2], 0.0),
    ],
)
def test_unordered_arrays_pair_items_for_the_best_total(
    output: Any, expected: Any, score: float
) -> None:
    result = one("json_similarity", output, expected, {"array_mode": "unordered"})
    assert result.score == pytest.approx(score, abs=1e-9)


@pytest.mark.parametrize(("items", "score"), [(200, 1.0), (201, 0.0)])
def test_unordered_arrays_over_200_items_are_compared_by_position(items: int, score: float) -> None:
    numbers = [10.0**n for n in range(items)]
    config = {"array_mode": "unordered"}
    shifted = [*numbers[1:], numbers[0]]
    result = one("json_similarity", shifted, numbers, config)
    assert result.score == pytest.approx(score, abs=0.01)


def test_nested_unordered_arrays_do_not_block() -> None:
    expected = [[[n * m for n in range(12)] for m in range(12)] for _ in range(12)]
    with quick_enough(10):
        result = one("json_similarity", expected, expected, {"array_mode": "unordered"})
        assert result.score == 1.0


def test_long_texts_in_leaves_do_not_block() -> None:
    with quick_enough(8):
        config = {"array_mode": "unordered"}
        one("json_similarity", {"a": "ab" * 500_000}, {"a": "ba" * 400_000}, config)
        one("json_similarity", ["ab" * 5_000] * 100, ["ba" * 5_000] * 100, config)


@pytest.mark.parametrize(
    ("ignored", "score"),
    [
        ([], 0.0),
        (["id"], 0.2),
        (["id", "items[*].at"], 1 / 3),
        (["id", "items[0]"], 1 / 3),
        (["items"], 0.5),
        (["*.at"], 0.0),
        (["missing.path[3]"], 0.0),
    ],
)
def test_ignored_paths_do_not_count(ignored: list[str], score: float) -> None:
    expected = {"id": 1, "at": "xx", "items": [{"at": "aa", "v": 1}, {"at": "bb", "v": 2}]}
    output = {"id": 9, "at": "yy", "items": [{"at": "zz", "v": 9}, {"at": "zz", "v": 9}]}
    if score:
        output["at"] = "xx"
    result = one("json_similarity", output, expected, {"ignore_paths": ignored})
    assert result.score == pytest.approx(score, abs=1e-9)


def test_ignoring_everything_skips() -> None:
    assert one("json_similarity", {"a": 1}, {"a": 1}, {"ignore_paths": ["$"]}).status == "skipped"


def test_the_stored_expected_value_is_not_changed_by_ignoring() -> None:
    expected = {"a": {"b": 1, "c": 2}}
    one("json_similarity", expected, expected, {"ignore_paths": ["a.b"]})
    assert expected == {"a": {"b": 1, "c": 2}}


@pytest.mark.parametrize(
    ("output", "tolerance", "score"),
    [(1.1, 0.1, 1.0), (1.2, 0.1, 0.8), (99, 0.01, 0.0), (1.05, None, 0.95), (1.0, 0, 1.0)],
)
def test_a_number_within_the_tolerance_counts_fully(
    output: float, tolerance: float | None, score: float
) -> None:
    result = one("json_similarity", {"a": output}, {"a": 1.0}, {"number_tolerance": tolerance})
    assert result.score == pytest.approx(score, abs=1e-9)


@given(JSON)
def test_a_value_is_entirely_similar_to_itself(value: Any) -> None:
    for mode in ("index", "unordered"):
        result = one("json_similarity", {"v": value}, {"v": value}, {"array_mode": mode})
        assert result.score in (1.0, None)
        assert (result.score is None) == (oracles.leaves(value) == 0)


@settings(deadline=None)
@given(JSON, JSON)
def test_unordered_is_never_worse_than_by_position(output: Any, expected: Any) -> None:
    by_position = one("json_similarity", {"v": output}, {"v": expected})
    paired = one("json_similarity", {"v": output}, {"v": expected}, {"array_mode": "unordered"})
    assert paired.status == by_position.status
    if paired.score is not None and by_position.score is not None:
        assert paired.score >= by_position.score - 1e-9
