"""The texts of cells: numbers, days and escapes."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.files.xlsx.number_formats import day_text, format_kind, number_text, plain_text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_the_shortest_decimal_of_its_double(value: float) -> None:
    for written in (f"{value:.17g}", repr(value), f"{value:.20e}"):
        text = number_text(written)
        assert float(text) == value
        assert len(text) <= max(len(repr(value)), len(written))


@pytest.mark.parametrize("text", ["", "abc", "1e999", "-1e999", "nan", "1_0", "12.x"])
def test_what_is_no_finite_number_stays_as_it_is_written(text: str) -> None:
    assert number_text(text) == ("10" if text == "1_0" else text)


@given(st.datetimes(datetime(1900, 3, 1), datetime(9999, 12, 31)))
def test_days_read_as_the_calendar_has_them(moment: datetime) -> None:
    whole = moment.replace(microsecond=0)
    number = (whole - datetime(1899, 12, 30)) / timedelta(days=1)
    assert datetime.fromisoformat(day_text(repr(number), "day", is_1904=False)) == whole


@pytest.mark.parametrize(
    ("number", "is_1904", "text"),
    [
        ("0", True, "00:00:00"),
        ("1", True, "1904-01-02"),
        ("59", False, "1900-02-28"),
        ("60", False, "60"),  # 29 February 1900, which never was
        ("61", False, "1900-03-01"),
        ("2958465", False, "9999-12-31"),
        ("2958466", False, "2958466"),
        ("-1", False, "-1"),
        ("nan", False, "nan"),
        ("x", False, "x"),
        ("2958465", True, "2958465"),
    ],
)
def test_what_is_no_day_stays_its_number(number: str, is_1904: bool, text: str) -> None:
    assert day_text(number, "day", is_1904=is_1904) == text


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("General", ""),
        ("0.00", ""),
        ('0.0 "days"', ""),
        ("[Red]0", ""),
        ("[$-409]d-mmm-yy", "day"),
        ("yyyy\\-mm\\-dd", "day"),
        ("h:mm AM/PM", "day"),
        ("[h]:mm:ss", "elapsed"),
        ("[mm]:ss", "elapsed"),
        ("#,##0;[Red]-#,##0", ""),
        ("0_d", ""),
    ],
)
def test_a_number_format_shows_days_only_where_its_signs_say_so(code: str, kind: str) -> None:
    assert format_kind(code) == kind


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("a_x000D_\nb", "a\r\nb"),
        ("_x005F_x000D_", "_x000D_"),
        ("_xD83D__xDE00_", "😀"),
        ("_xZZZZ_", "_xZZZZ_"),
        ("snake_x_case", "snake_x_case"),
    ],
)
def test_escapes_of_a_text_are_undone(text: str, plain: str) -> None:
    assert plain_text(text) == plain
