"""What Excel shows of a number: its value in the number format of its cell.

Known are digits, groups, decimals, per cent, fractions, texts around them, and days and times in
English. A format with anything else (exponents, conditions) shows nothing that is known here, nor
do the days that every computer writes in its own way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from fractions import Fraction
from functools import lru_cache
from typing import Final

from scoring.core.files.xlsx.format_parts import Part, format_sections
from scoring.core.files.xlsx.shown_days import show_days

NumberFormatter = Callable[[Decimal], str | None]

_MAX_CODE: Final = 255  # characters, as in Excel
_MAX_SECTIONS: Final = 4
_SHOWN_DIGITS: Final = Context(prec=15)
_EXACT: Final = Context(prec=400)
_FRACTION: Final = re.compile(r"(#?) ?\?+/(?:(\?+)|([1-9]\d{0,3}))")


@lru_cache(maxsize=512)
def compile_format(code: str) -> NumberFormatter | None:
    """What shows a number in this format; None for a format that is not known here."""
    sections = format_sections(code) if len(code) <= _MAX_CODE else []
    formatters = [_section(parts) for parts in sections[:3]]
    if not sections or len(sections) > _MAX_SECTIONS or not all(formatters):
        return None

    def show(number: Decimal) -> str | None:
        place = 1 if number < 0 else 2 if not number else 0
        chosen = formatters[place] if place < len(formatters) else formatters[0]
        text = chosen(abs(number)) if chosen else None
        return f"-{text}" if text and number < 0 and len(formatters) == 1 else text

    return show


def show_number(value: str, formatter: NumberFormatter) -> str | None:
    """The stored value as it is shown; None where it is no number."""
    try:
        return formatter(_SHOWN_DIGITS.create_decimal_from_float(float(value)))
    except (ValueError, InvalidOperation, OverflowError):
        return None


def _section(parts: Sequence[Part]) -> NumberFormatter | None:
    kinds = {part.kind for part in parts}
    if "unknown" in kinds:
        return None
    if "day" in kinds:
        return None if "percent" in kinds else show_days(parts)
    written = "".join(part.text for part in parts)
    if "digit" not in kinds:
        return lambda _: written.strip()
    if fraction := _FRACTION.fullmatch(written):
        return _show_fraction(*fraction.groups())
    return None if "/" in written else _show_digits(parts)


def _show_digits(parts: Sequence[Part]) -> NumberFormatter:
    kinds = [part.kind for part in parts]
    point = kinds.index("point") if "point" in kinds else len(parts)
    digits = [place for place, kind in enumerate(kinds) if kind == "digit"]
    whole = [place for place in digits if place < point]
    decimals = [parts[place].text for place in digits if place > point]
    commas = [place for place, kind in enumerate(kinds) if kind == "comma"]
    is_grouped = any(whole[0] < place < whole[-1] for place in commas) if whole else False
    in_thousands = sum(place > max(whole, default=-1) for place in commas)
    scale = 2 * kinds.count("percent") - 3 * in_thousands
    before, behind = parts[: min(point, digits[-1] + 1)], parts[digits[-1] + 1 :]
    rest = "".join(part.text for part in behind if part.kind in ("literal", "percent"))

    def show(number: Decimal) -> str:
        step = Decimal(1).scaleb(-len(decimals))
        rounded = _EXACT.scaleb(number, scale).quantize(step, ROUND_HALF_UP, _EXACT)
        integer, _, fraction = f"{rounded:f}".partition(".")
        text = _fill_in(before, integer.lstrip("0"), is_grouped)
        sign = "." if "point" in kinds else ""
        return f"{text}{sign}{_trim(decimals, fraction)}{rest}".strip()

    return show


def _fill_in(parts: Sequence[Part], integer: str, is_grouped: bool) -> str:
    """The digits before the point, put into their places from the right."""
    text, left, count = "", list(integer), 0
    places = sum(part.kind == "digit" for part in parts)
    for part in reversed(parts):
        if part.kind != "digit":
            text = ("" if part.kind == "comma" else part.text) + text
            continue
        places -= 1
        for digit in _take(left, part.text, takes_all=not places):
            is_between = is_grouped and count and not count % 3
            text, count = f"{digit}{',' * is_between}{text}", count + 1
    return text


def _take(left: list[str], place: str, *, takes_all: bool) -> Iterator[str]:
    """The digits of one place, from the right; the first place takes all that are left."""
    if not left and place == "0":
        yield "0"
    elif left:
        yield left.pop()
    while takes_all and left:
        yield left.pop()


def _trim(places: Sequence[str], fraction: str) -> str:
    """The decimals without the zeros that a place of `#` or `?` does not show."""
    digits = list(fraction)
    while digits and digits[-1] == "0" and places[len(digits) - 1] != "0":
        digits.pop()
    return "".join(digits)


def _show_fraction(has_whole: str, marks: str | None, fixed: str | None) -> NumberFormatter:
    def show(number: Decimal) -> str:
        exact = Fraction(number)
        if fixed:
            above, below = round(exact * int(fixed)), int(fixed)
        else:
            above, below = exact.limit_denominator(10 ** len(marks or "?") - 1).as_integer_ratio()
        whole, above = divmod(above, below) if has_whole else (0, above)
        if not above:
            return str(whole)
        return f"{whole or ''} {above}/{below}".strip()

    return show
