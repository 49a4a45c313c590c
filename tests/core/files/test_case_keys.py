"""Keys that come again: numbered inputs, duplicate ids, trials."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.files import AssignedKey, CaseKeys, RowProblem, case_key
from scoring.core.files.case_keys import FirstLines


@pytest.mark.parametrize(
    ("left", "right"),
    [({"a": 1, "b": 2}, {"b": 2, "a": 1}), (1, 1.0), ([1.5], [1.50])],
)
def test_equal_inputs_have_one_key(left: Any, right: Any) -> None:
    assert case_key(left) == case_key(right)


@pytest.mark.parametrize(
    ("left", "right"),
    [("1", 1), (None, ""), (None, "null"), (True, 1), ([1, 2], [2, 1]), ("é", "e")],
)
def test_different_inputs_have_different_keys(left: Any, right: Any) -> None:
    assert case_key(left) != case_key(right)


def test_the_key_of_a_text_is_known() -> None:
    # printf '"hello"' | sha256sum
    assert case_key("hello") == "5aa762ae383fbb72"


def test_repeated_inputs_are_numbered() -> None:
    keys = CaseKeys()
    placed = [keys.place_hash(key, line) for line, key in enumerate(["a", "b", "a", "a", "b"], 1)]
    assert [place.key for place in placed] == ["a", "b", "a#2", "a#3", "b#2"]
    assert all(place.is_new for place in placed)


def test_a_repeated_id_names_both_lines() -> None:
    keys = CaseKeys()
    assert keys.place_id("q1", 2) == AssignedKey("q1", is_new=True)
    found = keys.place_id("q1", 90_005)
    assert isinstance(found, RowProblem)
    assert (found.line, found.code) == (90_005, "duplicate_case")
    assert "Lines 2 and 90,005" in found.message


def test_an_id_may_come_once_a_trial() -> None:
    keys = CaseKeys(has_trials=True)
    placed = [keys.place_id("q1", 2, 1), keys.place_id("q1", 3, 0), keys.place_id("q2", 4, 0)]
    assert placed == [AssignedKey("q1", True), AssignedKey("q1", False), AssignedKey("q2", True)]
    found = keys.place_id("q1", 5, 1)
    assert isinstance(found, RowProblem)
    assert "trial 1" in found.message
    assert "Lines 2 and 5" in found.message


def test_repeated_inputs_are_numbered_within_their_trial() -> None:
    keys = CaseKeys(has_trials=True)
    placed = [keys.place_hash("a", line, trial) for line, trial in enumerate([0, 0, 1, 1, 2], 1)]
    assert placed == [
        AssignedKey("a", True),
        AssignedKey("a#2", True),
        AssignedKey("a", False),
        AssignedKey("a#2", False),
        AssignedKey("a", False),
    ]


def test_many_equal_inputs_take_no_quadratic_time() -> None:
    keys = CaseKeys()
    placed = [keys.place_hash("a", line) for line in range(1, 50_001)]
    assert placed[-1].key == "a#50000"


@given(st.lists(st.text(max_size=2), max_size=200))
def test_first_lines_agree_with_a_dict(keys: list[str]) -> None:
    seen: dict[str, int] = {}
    first_lines = FirstLines()
    for line, key in enumerate(keys, start=1):
        assert first_lines.add(key, line) == seen.get(key, 0)
        seen.setdefault(key, line)
    assert len(first_lines) == len(seen)


def test_first_lines_grow_and_stay_right() -> None:
    first_lines = FirstLines()
    for line in range(1, 20_001):
        assert first_lines.add(f"key {line}", line) == 0
    assert [first_lines.add(f"key {line}", 99) for line in (1, 4_096, 20_000)] == [1, 4_096, 20_000]
    assert len(first_lines) == 20_000
