"""Numbers are written alike everywhere, and never as if a limit were reached that is not."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.wording.numbers import (
    change_text,
    number_text,
    plain_share,
    round_half_up,
    share_text,
    short_count,
    short_text,
    to_ascii,
)

SCORES = st.integers(0, 10**9).map(lambda billionths: billionths / 10**9)


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (0.415, 2, "0.42"),
        (0.125, 2, "0.13"),
        (2.5, 0, "3"),
        (-0.415, 2, "-0.42"),
        (0.1 + 0.2, 1, "0.3"),
        (0.9987, 2, "1.00"),
        (12_345.678, 2, "12345.68"),
    ],
)
def test_halves_are_rounded_up_by_their_decimals(value: float, decimals: int, text: str) -> None:
    assert round_half_up(value, decimals) == text


@pytest.mark.parametrize(
    ("value", "limit", "text"),
    [
        (0.415, 1, "0.42"),
        (1.0, 1, "1.00"),
        (0.9949, 1, "0.99"),
        (0.9987, 1, "0.999"),
        (0.999999999, 1, "0.999999999"),
        (0.9999999999, 1, "1.00"),
        (0.0, 1, "0.00"),
        (0.004, 1, "0.004"),
        (0.6996, 0.7, "0.6996"),
        (0.6996, 0.8, "0.70"),
        (0.7, 0.7, "0.70"),
        (0.8751, 0.875, "0.88"),
        (3.9987, 4, "3.999"),
    ],
)
def test_what_falls_short_of_a_limit_shows_it(value: float, limit: float, text: str) -> None:
    assert number_text(value, 2, limit) == text


@given(value=SCORES, decimals=st.integers(0, 6), limit=SCORES)
def test_a_number_lies_on_its_side_of_1_0_and_the_limit(
    value: float, decimals: int, limit: float
) -> None:
    text = Decimal(number_text(value, decimals, limit))
    meant = Decimal(str(value))
    assert (text == 0) == (meant == 0)
    for bound in (Decimal(1), Decimal(str(limit))):
        assert (text < bound) == (meant < bound)
    places = max(decimals, -int(text.as_tuple().exponent))
    assert text == meant.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)


@pytest.mark.parametrize(
    ("share", "decimals", "limit", "text"),
    [
        (0.872, 1, 1, "87.2\u202f%"),
        (1.0, 1, 1, "100.0\u202f%"),
        (0.0, 0, 1, "0\u202f%"),
        (0.145, 0, 1, "15\u202f%"),
        (0.9996, 1, 1, "99.96\u202f%"),
        (0.0004, 1, 1, "0.04\u202f%"),
        (899_999 / 1_000_000, 1, 0.9, "89.9999\u202f%"),
        (0.93, 1, 0.925, "93.0\u202f%"),
    ],
)
def test_a_share_is_in_per_cent(share: float, decimals: int, limit: float, text: str) -> None:
    assert share_text(share, decimals, limit) == text


@pytest.mark.parametrize(
    ("share", "text"), [(0.9, "90"), (1, "100"), (0.925, "92.5"), (0, "0"), (0.07, "7")]
)
def test_a_share_that_was_typed_is_as_it_was_typed(share: float, text: str) -> None:
    assert plain_share(share) == f"{text}\u202f%"


@pytest.mark.parametrize(
    ("value", "text"), [(0.5, "0.5"), (0.71, "0.71"), (10, "10"), (0.9997, "0.9997"), (0, "0")]
)
def test_a_short_number_ends_without_zeros(value: float, text: str) -> None:
    assert short_text(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0215, "+0.022"),
        (-0.5, "\u22120.500"),
        (0.0004, "+0.0004"),
        (0.0, "0"),
        (-0.00002, "\u22120.00002"),
        (-0.00023, "\u22120.0002"),
        (0.9996, "+0.9996"),
    ],
)
def test_a_change_has_a_sign_and_is_not_rounded_away(value: float, text: str) -> None:
    assert change_text(value) == text


def test_a_terminal_gets_signs_that_a_keyboard_has() -> None:
    assert float(to_ascii(change_text(-0.5))) == -0.5
    assert to_ascii(share_text(0.5)) == "50.0 %"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (3, "3"),
        (1204, "1,204"),
        (1 / 3, "0.4"),
        (2.04, "2.1"),
        (3 - 1e-12, "3"),
        (3 + 1e-12, "3"),
        (2.95, "3"),
        (2e6 + 0.25, "2,000,000.3"),
    ],
)
def test_cases_that_count_in_part_are_rounded_up(value: float, text: str) -> None:
    assert short_count(value) == text
