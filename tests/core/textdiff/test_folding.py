"""Where long unchanged stretches are folded: enough stays in sight, and nothing is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.textdiff.folding import CONTEXT, MIN_FOLDED, amount_text, fold_text

LINES = "".join(f"line {n}\n" for n in range(40))
PROSE = "word " * 400


@given(st.text(st.sampled_from("ab \n\u200b"), max_size=1_500), st.booleans(), st.booleans())
def test_the_three_parts_are_the_text(text: str, keeps_start: bool, keeps_end: bool) -> None:
    parts = fold_text(text, keeps_start=keeps_start, keeps_end=keeps_end)
    assert "".join(parts) == text
    if parts[1]:
        assert bool(parts[0]) == keeps_start
        assert bool(parts[2]) == keeps_end
        assert max(len(parts[0]), len(parts[2])) <= CONTEXT


@pytest.mark.parametrize(
    ("keeps_start", "keeps_end", "start", "end"),
    [
        (True, True, "line 0\nline 1\nline 2\n", "line 37\nline 38\nline 39\n"),
        (False, True, "", "line 37\nline 38\nline 39\n"),
        (True, False, "line 0\nline 1\nline 2\n", ""),
    ],
)
def test_three_lines_stay_on_either_side_of_what_differs(
    keeps_start: bool, keeps_end: bool, start: str, end: str
) -> None:
    found = fold_text(LINES, keeps_start=keeps_start, keeps_end=keeps_end)
    assert (found[0], found[2]) == (start, end)


def test_text_without_lines_is_cut_at_words() -> None:
    start, folded, end = fold_text(PROSE, keeps_start=True, keeps_end=True)
    assert start.endswith("word ")
    assert folded.startswith("word")
    assert end.split() == ["word"] * (len(end) // 5)


@pytest.mark.parametrize("text", ["", "short", "a\nb\nc\n", "x" * (2 * CONTEXT + MIN_FOLDED - 1)])
def test_what_would_save_little_is_not_folded(text: str) -> None:
    assert fold_text(text, keeps_start=True, keeps_end=True) == (text, "", "")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x" * 1_240, "1,240 unchanged characters"),
        ("x" * 500 + "\n\n", "502 unchanged characters"),
        ("x\n" * 37, "37 unchanged lines"),
        ("\n" * 1_234, "1,234 unchanged lines"),
    ],
)
def test_a_fold_says_how_much_it_hides(text: str, said: str) -> None:
    assert amount_text(text, "unchanged") == said
