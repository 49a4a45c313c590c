"""A number format shows what Excel shows, or is not known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.files.xlsx.shown_numbers import compile_format, show_number
from tests.support.speed import quick_enough

SHOWN = [
    ("00000", "1234", "01234"),
    ("0", "1234567890123456", "1234567890123460"),  # Excel shows 15 digits
    ("0%", "0.5", "50%"),
    ("0%", "0.07000000000000001", "7%"),
    ("0.0%", "0.12345", "12.3%"),
    ("0.00", "1", "1.00"),
    ("0.0", "0.25", "0.3"),
    ("#.##", "0.5", ".5"),
    ("0.0#", "0.5", "0.5"),
    (".00", "0.5", ".50"),
    ("#", "0", ""),
    ("#,##0", "1234567", "1,234,567"),
    ("#,##0", "12", "12"),
    ("#,##0,", "1234567", "1,235"),
    ('0.0,,"M"', "1234567", "1.2M"),
    ('"$"#,##0.00', "1234.5", "$1,234.50"),
    ('"$"#,##0.00', "-1234.5", "-$1,234.50"),
    ("#,##0.00 [$€-407]", "1234.5", "1,234.50 €"),
    ("#,##0.00;[Red](#,##0.00)", "-1234.5", "(1,234.50)"),
    ("_($* #,##0.00_)", "5", "$5.00"),
    ("0;-0;;@", "0", ""),
    ("0;-0;;@", "-5", "-5"),
    ('0;0;"none"', "0", "none"),
    ('0" apples"', "3", "3 apples"),
    ("000-00-0000", "123456789", "123-45-6789"),
    ("(000) 000-0000", "15551234567", "(1555) 123-4567"),
    ("# ?/?", "0.25", "1/4"),
    ("# ?/?", "1.5", "1 1/2"),
    ("# ?/?", "2", "2"),
    ("# ?/8", "0.5", "4/8"),
    ("# ??/??", "0.333", "1/3"),
]
UNKNOWN = ["General", "0.00E+00", "@", "[>100]0", "0/0/0", "mmmm 0", "d%", "x", "", "0;0;0;0;0"]


@pytest.mark.parametrize(("code", "value", "text"), SHOWN)
def test_numbers_are_shown_as_excel_shows_them(code: str, value: str, text: str) -> None:
    show = compile_format(code)
    assert show is not None
    assert show_number(value, show) == text


@pytest.mark.parametrize("code", UNKNOWN)
def test_other_formats_are_not_known(code: str) -> None:
    show = compile_format(code)
    assert show is None or show_number("5", show) == ""


@pytest.mark.parametrize("value", ["", "x", "nan", "inf", "1e999"])
def test_what_is_no_number_is_not_shown(value: str) -> None:
    show = compile_format("0.00")
    assert show is not None
    assert show_number(value, show) is None


@given(st.text('0#?.,%"\\_*[]$hmsdyAP/;-@E+ €', max_size=30), st.floats(-1e20, 1e20))
def test_no_format_raises(code: str, number: float) -> None:
    if show := compile_format(code):
        show_number(repr(number), show)


@pytest.mark.parametrize("part", ["0", "#,", "[h]", '"', "m", ";", "0.0"])
def test_a_format_is_read_at_once_however_long(part: str) -> None:
    with quick_enough(1.0):
        for length in (255, 100_000):
            if show := compile_format((part * length)[:length]):
                show_number("1e300", show)
