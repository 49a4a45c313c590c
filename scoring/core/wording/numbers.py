"""Numbers as text, the same on every page, chart, report, message and command.

They are rounded half up by the digits a person would write, 0.415 to 0.42, where binary rounding
gives 0.41. What falls short of a limit never reads as having reached it: 0.9987 with two decimals
is "0.999", since "1.00" would say that nothing is missing.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from math import ceil
from typing import Final

MAX_DECIMALS: Final = 9  # as many as reported scores have
SCORE_DECIMALS: Final = 4
SMALL: Final = 0.001
MINUS: Final = "\N{MINUS SIGN}"
TIMES: Final = "\N{MULTIPLICATION SIGN}"
PER_CENT: Final = "\N{NARROW NO-BREAK SPACE}%"
_TYPEABLE: Final = str.maketrans({MINUS: "-", PER_CENT[0]: " "})
_ONE: Final = Decimal(1)
_HUNDRED: Final = Decimal(100)
_STEPS: Final = [Decimal(1).scaleb(-places) for places in range(MAX_DECIMALS + 1)]


@lru_cache(maxsize=4096)  # a page has hundreds of numbers, most of them a few times
def round_half_up(value: float, decimals: int) -> str:
    """Half up, away from zero."""
    return f"{_round(to_decimal(value), decimals):f}"


@lru_cache(maxsize=4096)
def number_text(value: float, decimals: int = 2, limit: float = 1) -> str:
    """With so many decimals, or as many as tell it from 0 and, from below, from 1 and `limit`."""
    return f"{_shorten(to_decimal(value), decimals, _ONE, to_decimal(limit)):f}"


def short_text(value: float, decimals: int = 3, limit: float = 1) -> str:
    """As `number_text`, without zeros at the end: 0.5, not 0.500."""
    text = number_text(value, decimals, limit)
    return text.rstrip("0").rstrip(".") if "." in text else text


def score_text(score: float, limit: float = 1) -> str:
    """A score in four decimals, or with as many as tell it from `limit`."""
    return short_text(score, SCORE_DECIMALS, limit)


def change_text(value: float) -> str:
    """A difference with its sign and three decimals, a small one with four, or with as many as
    tell it from 0 and from 1: an interval that ends at -0.00002 does not end at 0.
    """
    text = number_text(abs(value), 3 if abs(value) >= SMALL else 4)
    return "0" if not float(text) else f"{'+' if value > 0 else MINUS}{text}"


def share_text(share: float, decimals: int = 1, limit: float = 1) -> str:
    """A share from 0 to 1 in per cent, 0.872 as "87.2 %"; `limit` is a share, too."""
    value, percent_limit = 100 * to_decimal(share), 100 * to_decimal(limit)
    return f"{_shorten(value, decimals, _HUNDRED, percent_limit):f}{PER_CENT}"


def plain_share(share: float) -> str:
    """A share that somebody chose, in per cent as it is typed: 0.9 as "90 %"."""
    return f"{(100 * to_decimal(share)).normalize():f}{PER_CENT}"


def dollars_text(value: float) -> str:
    """1.5 as "$1.50", 0.00123 as "$0.0012": below one, two digits that say something."""
    if value >= 1 or value == 0:
        return f"${value:,.2f}"
    decimals = next((places for places in range(2, 12) if value >= 10 ** (1 - places)), 12)
    whole, _, part = f"{value:.{decimals}f}".partition(".")
    return f"${whole}.{part.rstrip('0').ljust(2, '0')}"


def short_count(value: float) -> str:
    """A number of cases, of which some may count in part: 1,204 or 0.7; rounded up."""
    tenths = ceil(round(10 * value, MAX_DECIMALS))  # sums of shares are inexact beyond these
    return f"{tenths / 10:,.1f}".removesuffix(".0")


def to_ascii(text: str) -> str:
    """A number for terminals and programs: with ASCII signs alone."""
    return text.translate(_TYPEABLE)


def to_decimal(value: float) -> Decimal:
    """The intended number: sums of floats are inexact beyond MAX_DECIMALS."""
    return Decimal(repr(round(float(value), MAX_DECIMALS)))


def _shorten(value: Decimal, decimals: int, whole: Decimal, limit: Decimal) -> Decimal:
    for places in range(decimals, MAX_DECIMALS):
        short = _round(value, places)
        is_same_side = (short < whole) == (value < whole) and (short < limit) == (value < limit)
        if is_same_side and bool(short) == bool(value):
            return short
    return value


def _round(value: Decimal, decimals: int) -> Decimal:
    return value.quantize(_STEPS[decimals], ROUND_HALF_UP)
