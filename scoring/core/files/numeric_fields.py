"""Numeric fields of a row: a JSON number or its text; empty, null and missing are None."""

from __future__ import annotations

import re
from typing import Final

from scoring.core.contract import Json
from scoring.core.files.rows import MISSING, CellProblem, Missing

MAX_COUNT: Final = 2**31 - 1  # what an integer column of either database holds
MAX_AMOUNT: Final = 1e12

_DECIMAL: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?", re.ASCII)


def read_count(value: Json | Missing, column: str) -> int | None:
    """A whole number from 0 to MAX_COUNT; "12.0" is 12."""
    number = read_amount(value, column, MAX_COUNT)
    if number is None:
        return None
    if number != int(number):
        text = f"{_quote(value)} is no whole number from 0 to {MAX_COUNT:,}. Correct it."
        raise CellProblem("out_of_range", column, text)
    return int(number)


def read_amount(value: Json | Missing, column: str, most: float = MAX_AMOUNT) -> float | None:
    """A number from 0 to `most`."""
    if value is MISSING or value is None or (isinstance(value, str) and not value.strip()):
        return None
    if isinstance(value, str):
        is_number = len(value) <= 40 and _DECIMAL.fullmatch(value.strip()) is not None
    else:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number:
        text = f"{_quote(value)} is not a number. Write it like 412 or 0.25."
        raise CellProblem("not_a_number", column, text)
    number = float(value) if isinstance(value, str) else value  # no float holds a huge integer
    if not 0 <= number <= most:
        text = f"{_quote(value)} is out of range: 0 to {most:,.0f}. Correct it."
        raise CellProblem("out_of_range", column, text)
    return float(number)


def _quote(value: Json) -> str:
    text = value if isinstance(value, str) else repr(value)[:60]
    return f"“{text[:40]}…”" if len(text) > 40 else f"“{text}”"
