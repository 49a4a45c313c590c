"""The letters by which a sheet names its columns."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from scoring.core.files.rows import FileProblem

_MAX_PLACE: Final = 16_384  # columns of a sheet


def letters_of(place: int) -> str:
    """The name a spreadsheet gives to the column at this place, counted from 0."""
    letters = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


@lru_cache(_MAX_PLACE)
def place_of(letters: str) -> int:
    """The column's place, counted from 0; raises FileProblem where no sheet has such a column."""
    place = 0
    if len(letters) > 3 or not (letters.isascii() and letters.isalpha()):
        place = _MAX_PLACE + 1
    for letter in letters.upper()[:3]:
        place = place * 26 + ord(letter) - ord("A") + 1
    if place > _MAX_PLACE:
        text = f"The workbook names a column {letters[:20]!r} that no sheet has. Save it again."
        raise FileProblem("corrupt_archive", text)
    return place - 1
