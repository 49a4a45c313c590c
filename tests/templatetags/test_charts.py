"""How geometry is set into SVG attributes."""

from __future__ import annotations

import pytest

from evalsite.templatetags.charts import anchor, length_share


@pytest.mark.parametrize(
    ("length", "whole", "text"), [(24, 96, "25%"), (0, 96, "0%"), (1, 3, "33.333%"), (5, 0, "0%")]
)
def test_a_length_is_a_share_of_its_axis(length: float, whole: float, text: str) -> None:
    assert length_share(length, whole) == text


@pytest.mark.parametrize(
    ("at", "whole", "held"), [(0, 960, "middle"), (864, 960, "middle"), (948, 960, "end")]
)
def test_words_near_the_end_of_an_axis_do_not_stick_out(at: float, whole: float, held: str) -> None:
    assert anchor(at, whole) == held


def test_an_axis_without_length_holds_its_words_in_the_middle() -> None:
    assert anchor(0, 0) == "middle"
