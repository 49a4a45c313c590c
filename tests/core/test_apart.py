"""What a row shows of two texts that differ."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.apart import CUT, LEAD, Part, apart

LONG = "The refund was issued in full and "


@pytest.mark.parametrize(
    ("before", "after", "parts"),
    [
        ("same", "same", (Part("same"), Part("same"))),
        (
            "paid on Monday, late",
            "paid on Tuesday, late",
            (Part("paid on ", "Monday", ", late"), Part("paid on ", "Tuesday", ", late")),
        ),
        ("yes", "", (Part("", "yes", ""), Part("", "", ""))),
        ("yes", "yes.", (Part("yes", "", ""), Part("yes", ".", ""))),
        ("a b", "a c b", (Part("a ", "", "b"), Part("a ", "c ", "b"))),
        ("total 107", "total 108", (Part("total ", "107", ""), Part("total ", "108", ""))),
        ("aa", "a", (Part("", "aa", ""), Part("", "a", ""))),
        (
            LONG + "on time",
            LONG + "late",
            (
                Part(CUT + LONG[-LEAD:], "on time", ""),
                Part(CUT + LONG[-LEAD:], "late", ""),
            ),
        ),
    ],
)
def test_words_that_differ_stand_between_what_is_the_same(
    before: str, after: str, parts: tuple[Part, Part]
) -> None:
    assert apart(before, after, whole=1_000, room=1_000) == parts


def test_the_end_of_a_text_that_may_go_on_is_not_taken_for_the_same() -> None:
    assert apart("one of x", "two of x", whole=8, room=99)[0] == Part("", "one of x", "")
    assert apart("one of x", "two of x", whole=9, room=99)[0] == Part("", "one", " of x")


def test_long_words_are_cut_to_the_room_there_is() -> None:
    before, after = apart("a " + "x" * 50 + " z", "a y z", whole=99, room=10)
    assert (before, after) == (Part("a ", "x" * 8, ""), Part("a ", "y", " z"))
    assert apart("same" * 9, "same" * 9, whole=99, room=10)[0] == Part("samesamesa")


texts = st.text("ab _.\N{LATIN SMALL LETTER E WITH ACUTE}", max_size=60)


@given(texts, texts, st.integers(1, 80))
def test_nothing_is_lost_behind_the_first_difference(before: str, after: str, whole: int) -> None:
    for text, part in zip((before, after), apart(before, after, whole=whole, room=99), strict=True):
        assert text.endswith("".join(part).removeprefix(CUT))
    first, second = apart(before, after, whole=whole, room=99)
    assert (first.start, first.end) == (second.start, second.end)
    assert (first == second) == (before == after)
