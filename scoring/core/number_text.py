"""Numbers in words: as every page, chart, report, message and command writes them.

They are rounded half up by the digits a person would write, 0.415 to 0.42, where binary rounding
gives 0.41. What falls short of a limit never reads as having reached it: 0.9987 with two decimals
is "0.999", since "1.00" would say that nothing is missing.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from typing import Final

MOST_DECIMALS: Final = 9  # as many as reported scores have
SMALL: Final = 0.001
MINUS: Final = "\N{MINUS SIGN}"
PER_CENT: Final = "\N{NARROW NO-BREAK SPACE}%"
_TYPEABLE: Final = str.maketrans({MINUS: "-", PER_CENT[0]: " "})
_ONE: Final = Decimal(1)
_HUNDRED: Final = Decimal(100)
_STEPS: Final = [Decimal(1).scaleb(-places) for places in range(MOST_DECIMALS + 1)]


def rounded(value: float, decimals: int) -> str:
    """Half up, away from zero."""
    return f"{_rounded(exact(value), decimals):f}"


def number_text(value: float, decimals: int = 2, limit: float = 1) -> str:
    """With so many decimals, or as many as tell it from 0 and, from below, from 1 and `limit`."""
    return f"{_told(exact(value), decimals, _ONE, exact(limit)):f}"


def short_text(value: float, decimals: int = 3, limit: float = 1) -> str:
    """As `number_text`, without zeros at the end: 0.5, not 0.500."""
    text = number_text(value, decimals, limit)
    return text.rstrip("0").rstrip(".") if "." in text else text


def change_text(value: float) -> str:
    """A difference with its sign and three decimals, a small one with four."""
    text = rounded(abs(value), 3 if abs(value) >= SMALL else 4)
    return "0" if not float(text) else f"{'+' if value > 0 else MINUS}{text}"


def share_text(share: float, decimals: int = 1, limit: float = 1) -> str:
    """A share from 0 to 1 in per cent, 0.872 as "87.2 %"; `limit` is a share, too."""
    return f"{_told(100 * exact(share), decimals, _HUNDRED, 100 * exact(limit)):f}{PER_CENT}"


def typed_share(share: float) -> str:
    """A share that somebody chose, in per cent as it is typed: 0.9 as "90 %"."""
    return f"{(100 * exact(share)).normalize():f}{PER_CENT}"


def dollars_text(value: float) -> str:
    """1.5 as "$1.50", 0.00123 as "$0.0012": below one, two digits that say something."""
    if value >= 1 or value == 0:
        return f"${value:,.2f}"
    decimals = next((places for places in range(2, 12) if value >= 10 ** (1 - places)), 12)
    whole, _, part = f"{value:.{decimals}f}".partition(".")
    return f"${whole}.{part.rstrip('0').ljust(2, '0')}"


def typeable(text: str) -> str:
    """A number as a terminal has it and a program reads it back: with signs of a keyboard alone."""
    return text.translate(_TYPEABLE)


def exact(value: float) -> Decimal:
    """The number that is meant: sums of floats are off beyond MOST_DECIMALS."""
    return Decimal(repr(round(float(value), MOST_DECIMALS)))


def _told(value: Decimal, decimals: int, whole: Decimal, limit: Decimal) -> Decimal:
    for places in range(decimals, MOST_DECIMALS):
        text = _rounded(value, places)
        is_below = (text < whole) == (value < whole) and (text < limit) == (value < limit)
        if is_below and bool(text) == bool(value):
            return text
    return value


def _rounded(value: Decimal, decimals: int) -> Decimal:
    return value.quantize(_STEPS[decimals], ROUND_HALF_UP)
