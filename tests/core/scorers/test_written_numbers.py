"""Numbers as people write them, exactly."""

from __future__ import annotations

from decimal import Decimal

import pytest

from scoring.core.scorers.written_numbers import is_decimal_comma, read_written
from tests.support.speed import quick_enough


@pytest.mark.parametrize(
    ("text", "number", "notes"),
    [
        ("12", "12", []),
        ("-1.5e3", "-1500", []),
        (
            "\u22121,234.50",
            "-1234.50",
            ["its minus is U+2212 (minus sign)", "its digits are grouped by commas"],
        ),
        ("33 %", "0.33", ["it ends with %"]),
        ("2¾", "2.75", ["¾ is a fraction"]),
        ("1_000", "1000", ["its digits are grouped by underscores"]),
        ("\uff11\uff12", "12", ["its digits are not 0 to 9"]),
    ],
)
def test_the_number_and_what_is_unusual_about_it(text: str, number: str, notes: list[str]) -> None:
    written = read_written(text)
    assert written is not None
    assert (written.value, written.notes) == (Decimal(number), notes)


@pytest.mark.parametrize(
    "text", ["", "1,23", "1,234 567", "12,345,67", "½½", "1.5½", "%", "e5", "1" * 500]
)
def test_anything_else_is_none(text: str) -> None:
    assert read_written(text) is None


@pytest.mark.parametrize(
    ("text", "is_one"), [("1,5", True), ("1.234,50", True), ("1,5,0", False), ("x", False)]
)
def test_a_decimal_comma_is_recognised(text: str, is_one: bool) -> None:
    assert is_decimal_comma(text) == is_one


@pytest.mark.parametrize("text", ["1 ", "1,", "0", "1,234", "\u2212", "½"])
def test_a_megabyte_is_refused_at_once(text: str) -> None:
    with quick_enough(1.0):
        assert read_written(text * 200_000) is None
