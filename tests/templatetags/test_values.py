"""The beginning of a value, and what a mapping has under a key."""

from __future__ import annotations

from typing import Any

import pytest

from evalsite.templatetags.values import OPENING, lookup, opening


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("a text", "a text"),
        ("x" * OPENING, "x" * OPENING),
        ("x" * (OPENING + 1), "x" * OPENING + "…"),
        (None, "null"),
        ({"é": [1, "a"]}, '{"é": [1, "a"]}'),
        (["x" * OPENING], '["' + "x" * (OPENING - 2) + "…"),
    ],
)
def test_a_row_shows_so_much_of_a_value(value: Any, shown: str) -> None:
    assert opening(value) == shown


@pytest.mark.parametrize(
    ("found", "key", "value"),
    [({"a": 1}, "a", 1), ({"a": 1}, "b", None), ({}, "a", None), (None, "a", None)],
)
def test_a_key_that_is_not_there_is_none(found: Any, key: object, value: object) -> None:
    assert lookup(found, key) == value
