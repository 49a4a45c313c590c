"""What a row shows of two texts that differ."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.textdiff.first_difference import CONTEXT_CHARS, ELLIPSIS, first_difference

LONG = "The refund was issued in full and "


Parts = tuple[str, ...]


@pytest.mark.parametrize(
    ("before", "after", "first", "second"),
    [
        ("same", "same", ("same", "", ""), ("same", "", "")),
        (
            "paid on Monday, late",
            "paid on Tuesday, late",
            ("paid on ", "Monday", ", late"),
            ("paid on ", "Tuesday", ", late"),
        ),
        ("yes", "", ("", "yes", ""), ("", "", "")),
        ("yes", "yes.", ("yes", "", ""), ("yes", ".", "")),
        ("a b", "a c b", ("a ", "", "b"), ("a ", "c ", "b")),
        ("total 107", "total 108", ("total ", "107", ""), ("total ", "108", "")),
        ("aa", "a", ("", "aa", ""), ("", "a", "")),
        (
            LONG + "on time",
            LONG + "late",
            (ELLIPSIS + LONG[-CONTEXT_CHARS:], "on time", ""),
            (ELLIPSIS + LONG[-CONTEXT_CHARS:], "late", ""),
        ),
    ],
)
def test_words_that_differ_stand_between_what_is_the_same(
    before: str, after: str, first: Parts, second: Parts
) -> None:
    assert first_difference(before, after, whole=1_000, room=1_000) == (first, second)


@pytest.mark.parametrize(
    ("before", "after", "whole", "room", "first"),
    [
        ("one of x", "two of x", 8, 99, ("", "one of x", "")),  # it may go on
        ("one of x", "two of x", 9, 99, ("", "one", " of x")),
        ("a " + "x" * 50 + " z", "a y z", 99, 10, ("a ", "x" * 8, "")),
        ("a y z", "a " + "x" * 50 + " z", 99, 10, ("a ", "y", " z")),
        ("same" * 9, "same" * 9, 99, 10, ("samesamesa", "", "")),
    ],
)
def test_texts_are_cut_to_their_room_and_compared_as_far_as_they_are_whole(
    before: str, after: str, whole: int, room: int, first: Parts
) -> None:
    assert first_difference(before, after, whole=whole, room=room)[0] == first


texts = st.text("ab _.\N{LATIN SMALL LETTER E WITH ACUTE}", max_size=60)


@given(texts, texts, st.integers(1, 80))
def test_nothing_is_lost_behind_the_first_difference(before: str, after: str, whole: int) -> None:
    first, second = first_difference(before, after, whole=whole, room=99)
    assert before.endswith("".join(first).removeprefix(ELLIPSIS))
    assert after.endswith("".join(second).removeprefix(ELLIPSIS))
    assert (first.start, first.end) == (second.start, second.end)
    assert (first == second) == (before == after)
