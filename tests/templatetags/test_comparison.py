"""How the numbers of a comparison are set."""

# ruff: noqa: RUF001  pages show a true minus sign

from __future__ import annotations

import pytest

from evalsite.templatetags.comparison import change, emphasize, p_value, size


@pytest.mark.parametrize(
    ("p", "text"),
    [(None, "–"), (1.0, "1.000"), (0.0312, "0.031"), (0.00002, "< 0.001"), (0.0, "< 0.001")],
)
def test_a_chance_is_told_without_its_name(p: float | None, text: str) -> None:
    assert p_value(p) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (0.0, "0"),
        (0.35, "+0.350"),
        (-0.12345, "−0.123"),
        (0.0004, "+0.0004"),
        (-0.00001, "−0.00001"),
        (1.0, "+1.000"),
    ],
)
def test_a_change_has_its_sign_and_enough_decimals(value: float | None, text: str) -> None:
    assert change(value) == text


def test_a_size_has_no_sign() -> None:
    assert [size(0.0581), size(0.0), size(None)] == ["0.058", "0", "–"]


@pytest.mark.parametrize(
    ("sentence", "name", "html"),
    [
        ("close fell by 0.1", "close", "<b>close</b> fell by 0.1"),
        ("No case has a score of a<b here", "a<b", "No case has a score of <b>a&lt;b</b> here"),
        ("1 < 2", "close", "1 &lt; 2"),
    ],
)
def test_a_scorers_name_is_set_off_in_its_sentence(sentence: str, name: str, html: str) -> None:
    assert emphasize(sentence, name) == html
