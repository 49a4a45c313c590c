"""How texts are cut, marked and written alike before a page shows them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.textdiff.text_layout import (
    SHOWN_CHARS,
    TALL_CHARS,
    TALL_CHARS_FOLDED,
    Block,
    TextLayout,
    display_text,
    layout_text,
    mark_spans,
    normalize_pair,
)


@pytest.mark.parametrize(
    ("expected", "output", "difference"),
    [
        ({"a": 1, "b": [2, 3]}, '{"b":[2,3],"a":1}', ""),
        ('{"a": {"x": 1, "y": 2}}', '{"a":{"y":2,"x":1.0}}', ""),
        ([{"a": 1, "b": 2}], '[{"b": 2, "a": 1}]', ""),
        ({"a": "ü\u200b"}, '{"a": "\\u00fc\\u200b"}', ""),
        ({"a": 1}, '{"z": 0, "a": 1}', ',\n  "z": 0'),
        ({"a": 0.5}, '{"a": 0.25}', "0.25"),
    ],
)
def test_values_that_are_equal_as_json_are_written_alike(
    expected: Any, output: str, difference: str
) -> None:
    both = normalize_pair(expected, output)
    assert both is not None
    assert (both[0] == both[1]) == (not difference)
    assert difference in both[1]


@pytest.mark.parametrize(
    ("expected", "output"),
    [
        ("10", "10"),
        ({"a": 1}, "a is 1"),
        ({"a": 1}, '{"a": 1, "a": 2}'),
        ({"a": 1}, "[" * 100_000),
        ("[see above]", "[1]"),
        ({"a": 1}, "[" + "1," * 200_000 + "1]"),
        ({"a": 1}, 2**70),
    ],
)
def test_what_is_no_sound_json_of_a_readable_size_stays_as_it_is(
    expected: Any, output: Any
) -> None:
    assert normalize_pair(expected, output) is None


@pytest.mark.parametrize("number", [2**70, 1e300, -0.5, 123456789.25])
def test_no_number_changes_when_it_is_formatted(number: float) -> None:
    both = normalize_pair([number], json.dumps([number]))
    assert both is not None
    assert [json.loads(text) for text in both] == [[number], [number]]


def test_a_cut_text_counts_what_it_hides() -> None:
    assert layout_text("a" * SHOWN_CHARS).hidden == 0
    assert layout_text("a" * (SHOWN_CHARS + 3)).hidden == 3


_ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda parts: st.lists(parts, max_size=3) | st.dictionaries(st.text(max_size=4), parts),
    max_leaves=12,
)


@given(_ANY)
def test_json_is_laid_out_as_python_does_and_a_text_is_left_as_it_is(value: Any) -> None:
    laid_out = json.dumps(value, ensure_ascii=False, indent=2)
    assert display_text(value) == (value if isinstance(value, str) else laid_out)


@pytest.mark.parametrize(
    ("in_sight", "folded", "is_tall"),
    [
        (TALL_CHARS, 0, False),
        (TALL_CHARS + 1, 0, True),
        (TALL_CHARS + 1, 9, False),
        (TALL_CHARS_FOLDED, 99_999, False),
        (TALL_CHARS_FOLDED + 1, 9, True),
    ],
)
def test_a_folded_text_may_be_taller_before_it_scrolls(
    in_sight: int, folded: int, is_tall: bool
) -> None:
    fold = [Block("", mark_spans("x" * folded), folded="many lines")] if folded else []
    assert TextLayout([Block("", mark_spans("x" * in_sight)), *fold]).is_tall == is_tall
