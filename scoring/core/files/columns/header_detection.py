"""Detection of a header: whether the first row of a table names its columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from scoring.core.contract import Json
from scoring.core.files.columns.column_types import EMPTY, TEXT, column_type
from scoring.core.files.columns.guess import is_known

_MAX_ROWS: Final = 100
_SENTENCE_WORDS: Final = 4
_MOST: Final = 0.9  # of a column's values
_DIGITS: Final = re.compile(r"\d+")
_HEX: Final = re.compile(r"(?=[0-9a-f-]*\d)[0-9a-f]{8}[0-9a-f-]*", re.ASCII)


def looks_like_values(first: Sequence[str], below: Sequence[Sequence[Json]]) -> bool:
    """Whether the first row's cells are more like those of the rows below than like names.

    A known name, or a text above numbers, makes it a header. Otherwise one cell of the kind of its
    column is enough to doubt: a number above numbers, a sentence above sentences, `q1` above `q2`,
    or a value that is repeated.
    """
    if not first or any(is_known(cell) for cell in first):
        return False
    rows = [row for row in below[:_MAX_ROWS] if list(row) != list(first)]
    pairs = [
        (cell.strip(), [str(row[index]) for row in rows if row[index]])
        for index, cell in enumerate(first)
    ]
    if any(_is_name_of(cell, column) for cell, column in pairs):
        return False
    return any(_is_alike(cell, column) for cell, column in pairs if cell)


def _is_name_of(cell: str, column: Sequence[str]) -> bool:
    """Whether it is a text above values of another kind."""
    return column_type([cell]) == TEXT and column_type(column) not in (TEXT, EMPTY)


def _is_alike(cell: str, column: Sequence[str]) -> bool:
    kind = column_type([cell])
    if kind != TEXT:
        return _most(column_type([value]) == kind for value in column)
    if _is_sentence(cell):
        return _most(_is_sentence(value) for value in column)
    shape = _shape(cell)
    is_numbered = shape != cell and bool(column) and _most(_shape(v) == shape for v in column)
    return is_numbered or cell in column


def _most(flags: Iterable[bool]) -> bool:
    """Whether nine of ten are true, which an empty column is, too."""
    values = list(flags)
    return sum(values) >= len(values) * _MOST


def _is_sentence(text: str) -> bool:
    return len(text.split()) >= _SENTENCE_WORDS and (len(text) > 60 or text[-1:] in ".?!…:")


def _shape(text: str) -> str:
    """The text with its numbers made alike, so that `q1` and `q27` have one shape."""
    return "#" if _HEX.fullmatch(text.lower()) else _DIGITS.sub("9", text)
