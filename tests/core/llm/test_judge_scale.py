"""Scales: which answers they know, and what each answer scores."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.llm.judge_scale import MINUS, Choices, Range, Scale

MENU = Choices({"good": 1.0, "fair": 0.5, "bad": 0.0})


@pytest.mark.parametrize(
    ("scale", "value", "is_known"),
    [
        (MENU, "fair", True),
        (MENU, "Fair", False),
        (MENU, 1, False),
        (MENU, ["fair"], False),
        (Range(1, 5), 1, True),
        (Range(1, 5), 5.0, True),
        (Range(1, 5), 5.01, False),
        (Range(1, 5), "3", False),
    ],
)
def test_a_scale_knows_its_answers(scale: Scale, value: Any, is_known: bool) -> None:
    assert scale.knows(value) is is_known


@pytest.mark.parametrize(
    ("scale", "value", "score", "words", "arithmetic"),
    [
        (MENU, "fair", 0.5, "good 1, fair 0.5, bad 0", ""),
        (Range(1, 5), 4.0, 0.75, "1 to 5, mapped to 0 to 1", "(4 - 1) / (5 - 1)"),
        (Range(-1, 1), 9, 1.0, "-1 to 1, mapped to 0 to 1", "(9 - -1) / (1 - -1)"),
        (Range(1, 5), 0, 0.0, "1 to 5, mapped to 0 to 1", "(0 - 1) / (5 - 1)"),
    ],
)
def test_an_answer_has_a_score_and_its_arithmetic(
    scale: Scale, value: str | float, score: float, words: str, arithmetic: str
) -> None:
    assert (scale.score(value), scale.words()) == (score, words)
    assert scale.arithmetic(value) == arithmetic.replace(" - ", f" {MINUS} ")


@given(share=st.floats(0, 1), low=st.floats(-1e9, 1e9), width=st.floats(1e-3, 1e9))
def test_a_number_and_its_score_stand_for_each_other(
    share: float, low: float, width: float
) -> None:
    scale = Range(low, low + width)
    assert scale.score(scale.number(share)) == pytest.approx(share, abs=1e-3)
    assert scale.low - 1e-6 <= scale.number(share) <= scale.high + 1e-6
