"""The kind of values in a column, inferred from a sample."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from scoring.core.contract import Json
from scoring.core.files.rows import MISSING, Missing

EMPTY: Final = "empty"
TEXT: Final = "text"
NUMBER: Final = "number"
BOOLEAN: Final = "true or false"
DATE: Final = "date"
JSON: Final = "JSON"

_PATTERNS: Final = {
    NUMBER: re.compile(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?\s*", re.ASCII),
    BOOLEAN: re.compile(r"(?i)true|false"),
    DATE: re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?)?"),
    JSON: re.compile(r'(?s)\{\s*(?:"[^"]*"\s*:.*)?\}|\[\s*(?:["\d{\[tfn-].*)?\]'),
}


def column_type(values: Iterable[Json | Missing]) -> str:
    """One kind for all values that are not empty, missing or null; text where they differ.

    A text counts as what it looks like: it is kept as it is all the same.
    """
    kinds = {_kind(value) for value in values if value not in (MISSING, None, "")}
    if not kinds:
        return EMPTY
    return kinds.pop() if len(kinds) == 1 else TEXT


def _kind(value: Json | Missing) -> str:
    if isinstance(value, bool):
        return BOOLEAN
    if isinstance(value, int | float):
        return NUMBER
    if isinstance(value, dict | list):
        return JSON
    text = str(value)[:2_000]
    return next((kind for kind, sign in _PATTERNS.items() if sign.fullmatch(text)), TEXT)
