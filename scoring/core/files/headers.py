"""Whether a table's first row names its columns or holds values already."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from scoring.core.contract import Json
from scoring.core.files.guess import is_known
from scoring.core.files.kinds import EMPTY, TEXT, kind_of_column

_LOOKED_AT: Final = 100  # rows
_SENTENCE_WORDS: Final = 4
_MOST: Final = 0.9  # of a column's values
_DIGITS: Final = re.compile(r"\d+")
_HEX: Final = re.compile(r"(?=[0-9a-f-]*\d)[0-9a-f]{8}[0-9a-f-]*", re.ASCII)


def looks_like_values(first: Sequence[str], below: Sequence[Sequence[Json]]) -> bool:
    """Whether the first row's cells are more like those of the rows below than like names.

    One name that is known, or one text above numbers, makes it a header. Otherwise one cell that
    is of the kind of its column is enough to doubt: a number above numbers, a sentence above
    sentences, `q1` above `q2`, or a value that comes again.
    """
    if not first or any(is_known(cell) for cell in first):
        return False
    rows = [row for row in below[:_LOOKED_AT] if list(row) != list(first)]
    columns = [[str(row[place]) for row in rows if row[place]] for place in range(len(first))]
    pairs = [(cell.strip(), column) for cell, column in zip(first, columns, strict=True)]
    if any(_is_name_of(cell, column) for cell, column in pairs):
        return False
    return any(_is_alike(cell, column) for cell, column in pairs if cell)


def _is_name_of(cell: str, column: Sequence[str]) -> bool:
    """Whether it is a text above values that are none."""
    return kind_of_column([cell]) == TEXT and kind_of_column(column) not in (TEXT, EMPTY)


def _is_alike(cell: str, column: Sequence[str]) -> bool:
    kind = kind_of_column([cell])
    if kind != TEXT:
        return _most(kind_of_column([value]) == kind for value in column)
    if _is_sentence(cell):
        return _most(_is_sentence(value) for value in column)
    shape = _shape(cell)
    is_numbered = shape != cell and bool(column) and _most(_shape(v) == shape for v in column)
    return is_numbered or cell in column


def _most(signs: Iterable[bool]) -> bool:
    """Whether nine of ten are true; nothing below tells nothing else."""
    found = list(signs)
    return sum(found) >= len(found) * _MOST


def _is_sentence(text: str) -> bool:
    return len(text.split()) >= _SENTENCE_WORDS and (len(text) > 60 or text[-1:] in ".?!…:")


def _shape(text: str) -> str:
    """The text with its numbers made alike, so that `q1` and `q27` have one shape."""
    return "#" if _HEX.fullmatch(text.lower()) else _DIGITS.sub("9", text)
