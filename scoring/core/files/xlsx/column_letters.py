"""The letters that name the columns of a sheet."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from scoring.core.files.rows import FileProblem

_MAX_COLUMNS: Final = 16_384  # of a sheet
_LETTERS: Final = re.compile("[A-Za-z]{1,3}")


def column_letters(index: int) -> str:
    """The name a spreadsheet gives to the column at this index, from 0."""
    letters, number = "", index + 1
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


@lru_cache(_MAX_COLUMNS)
def column_index(letters: str) -> int:
    """The column's index, from 0; raises FileProblem where no sheet has such a column."""
    number = 0
    for letter in letters.upper()[:4]:
        number = number * 26 + ord(letter) - ord("A") + 1
    if number > _MAX_COLUMNS or not _LETTERS.fullmatch(letters):
        text = f"The workbook names a column {letters[:20]!r} that no sheet has. Save it again."
        raise FileProblem("corrupt_archive", text)
    return number - 1
