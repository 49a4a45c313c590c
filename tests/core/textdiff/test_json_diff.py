"""Leaves of JSON values beside each other."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.json_path import parse_path
from scoring.core.textdiff.json_diff import compare_paths


@pytest.mark.parametrize(
    ("values", "rows"),
    [
        (({"a": 1}, {"a": 2}), [("a", ("1", "2"))]),
        (({"a": 880.0}, {"a": 880}), [("a", ("880", "880"))]),
        (({"a": True}, {"a": 1}), [("a", ("true", "1"))]),
        (({"a": None}, {}), [("a", ("null", None)), ("$", (None, "{}"))]),
        (({"a": {}}, {"a": []}), [("a", ("{}", "[]"))]),
        (([1, [2]], [1, [2, 3]]),
            [("[0]", ("1", "1")), ("[1][0]", ("2", "2")), ("[1][1]", (None, "3"))]),
        (({"b": 1, "a": 2}, {"c": "é", "a": 2}),
            [("b", ("1", None)), ("a", ("2", "2")), ("c", (None, '"é"'))]),
        (({"x y": {"*": 0}}, {}), [('["x y"]["*"]', ("0", None)), ("$", (None, "{}"))]),
        (([1], [1], [2]), [("[0]", ("1", "1", "2"))]),
    ],
)  # fmt: skip
def test_every_leaf_of_any_value_has_a_row(
    values: tuple[Any, ...], rows: list[tuple[str, tuple[str | None, ...]]]
) -> None:
    assert [(row.path, row.leaves) for row in compare_paths(values)] == rows


leaves = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
names = st.text(max_size=4)
structures = st.recursive(
    leaves,
    lambda parts: st.lists(parts, max_size=3) | st.dictionaries(names, parts, max_size=3),
    max_leaves=12,
)


def at(value: Any, path: str) -> Any:
    for step in parse_path(path):
        value = value[step]
    return value


@given(structures, structures)
def test_a_row_holds_what_each_value_has_at_its_path(one: Any, other: Any) -> None:
    rows = compare_paths((one, other))
    assert len({row.path for row in rows}) == len(rows)
    for row in rows:
        for value, leaf in zip((one, other), row.leaves, strict=True):
            if leaf is not None and '""' not in row.path:
                assert json.loads(leaf) == at(value, row.path)


@given(structures)
def test_a_value_does_not_differ_from_itself(value: Any) -> None:
    assert all(
        one == other for _, (one, other) in compare_paths((value, json.loads(json.dumps(value))))
    )
