"""Fields and numbers that several pages share."""

from __future__ import annotations

from typing import Any

import pytest
from django import forms

from evalsite.pages.web.fields import LongTextField, PositionField, whole_number
from scoring.models.case_paging import CasePosition


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("007", 7),
        ("999999999", 999_999_999),
        ("1000000000", None),
        ("", None),
        ("-1", None),
        ("1.0", None),
        (" 1", None),
        ("٣", None),
        ("²", None),
    ],
)
def test_only_few_ascii_digits_are_a_number(text: str, number: int | None) -> None:
    assert whole_number(text) == number


def test_more_digits_are_read_where_they_fit() -> None:
    assert whole_number("9" * 18, max_digits=18) == 10**18 - 1
    assert whole_number("9" * 19, max_digits=18) is None


@pytest.mark.parametrize(("text", "place"), [("", None), ("173", (173,)), ("173.2", (173, 2))])
def test_a_place_is_a_position_and_perhaps_a_trial(
    text: str, place: tuple[int, ...] | None
) -> None:
    position: Any = PositionField(required=False).clean(text)
    assert position == (place and CasePosition(*place))


@pytest.mark.parametrize("text", ["x", "1.", ".1", "1.2.3", "-1", "1234567890"])
def test_any_other_text_is_no_place(text: str) -> None:
    with pytest.raises(forms.ValidationError, match="no place in the table"):
        PositionField().clean(text)


def test_a_long_text_keeps_its_white_space_but_for_line_ends() -> None:
    assert LongTextField().clean(" a\r\nb \n") == " a\nb \n"
