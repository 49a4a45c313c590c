"""The text of a workbook's cell: numbers, days and texts written without loss."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from decimal import Decimal
from math import floor, isfinite
from typing import Final, NamedTuple

_ESCAPE: Final = re.compile(r"_x([0-9A-Fa-f]{4})_")
_PAIR: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_WHOLE: Final = re.compile(r"-?(?:0|[1-9][0-9]*)")
_LITERALS: Final = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?![hms]+\])[^\]]*\]', re.IGNORECASE)
_ELAPSED: Final = re.compile(r"\[[hms]+\]", re.IGNORECASE)
_DAY_LETTERS: Final = re.compile(r"[ymdhs]", re.IGNORECASE)
# The formats that have a number and no text of their own, and show days or times.
DAY_FORMATS: Final = frozenset({*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)})
ELAPSED_FORMAT: Final = 46
_DAY_MS: Final = 86_400_000
_MAX_DAYS: Final = 2_958_466  # the first day of the year 10000


def plain_text(text: str) -> str:
    """The text with its escapes undone: `_x000D_` is a carriage return (ECMA-376 part 1, 22.4.2.4).

    An escaped half of a pair stays alone when its other half does not follow.
    """
    if "_x" not in text:
        return text
    unescaped = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)
    return _PAIR.sub(_join_pair, unescaped)


def _join_pair(pair: re.Match[str]) -> str:
    return pair[0].encode("utf-16", "surrogatepass").decode("utf-16")


def format_kind(code: str) -> str:
    """`day`, `elapsed` or "" for a number format's first section."""
    letters = _LITERALS.sub("", code.partition(";")[0])
    if _ELAPSED.search(letters):
        return "elapsed"
    return "day" if _DAY_LETTERS.search(letters) else ""


def number_text(text: str) -> str:
    """The shortest decimal of the same double; whole numbers are left as they are written."""
    if _WHOLE.fullmatch(text):
        return text
    try:
        number = float(text)
    except ValueError:
        return text
    if not isfinite(number):
        return text
    return repr(number).removesuffix(".0")


def day_text(text: str, kind: str, *, is_1904: bool) -> str:
    """ISO 8601 of a cell formatted as a day or a time, or hours of an elapsed time.

    A number that is no day of the calendar is returned as a number.
    """
    try:
        number = float(text)
    except ValueError:
        return text
    if not 0 <= number < _MAX_DAYS:
        return number_text(text)
    days, rest = divmod(round(number * _DAY_MS), _DAY_MS)
    if kind == "elapsed":
        return _clock(days * 24, rest)
    if number < 1:
        return _clock(0, rest)
    day = _day(floor(days), is_1904=is_1904)
    if day is None:
        return number_text(text)
    return day.date().isoformat() + (f"T{_clock(0, rest)}" if rest else "")


class Moment(NamedTuple):
    """A moment of the calendar that counts from 1900, as Excel tells it; Monday is weekday 0.

    Before the first day it is the time on day 0 of January 1900.
    """

    year: int
    month: int
    day: int
    weekday: int
    hour: int
    minute: int
    second: int


def moment_of(seconds: Decimal) -> Moment | None:
    """The moment so many seconds after the start of day 0; None outside of the calendar."""
    days, rest = divmod(int(seconds), 86_400)
    if not 0 <= days < _MAX_DAYS:
        return None
    clock = (rest // 3_600, rest // 60 % 60, rest % 60)
    if not days:
        return Moment(1900, 1, 0, 5, *clock)
    day = _day(days, is_1904=False)
    return Moment(day.year, day.month, day.day, day.weekday(), *clock) if day else None


def _day(days: int, *, is_1904: bool) -> datetime | None:
    if is_1904:
        first = datetime(1904, 1, 1)
    elif days == 60:  # the 29 February 1900 that never was
        return None
    else:
        first = datetime(1899, 12, 31 if days < 60 else 30)
    try:
        return first + timedelta(days=days)
    except OverflowError:
        return None


def _clock(hours: int, milliseconds: int) -> str:
    seconds, fraction = divmod(milliseconds, 1000)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    clock = f"{hours + hour:02d}:{minute:02d}:{second:02d}"
    return f"{clock}.{fraction:03d}" if fraction else clock
