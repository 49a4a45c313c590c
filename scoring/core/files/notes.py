"""Notes about what a reader left out or found unusual, without any loss of data."""

from __future__ import annotations

from typing import Final, NamedTuple

EMPTY_COLUMN: Final = "empty_column"
ROW_OF_DELIMITERS: Final = "row_of_delimiters"
QUOTE_IN_CELL: Final = "quote_in_cell"
EXPORTED_SCORES: Final = "exported_scores"

#: For one and for several; `str.format` fills in the number and the first line or column.
_TEXTS: Final = {
    EMPTY_COLUMN: (
        "Column {first:,} has no name and no values: left out.",
        "{count:,} columns have no name and no values: left out. The first is column {first:,}.",
    ),
    ROW_OF_DELIMITERS: (
        "Line {first:,} holds nothing but delimiters: skipped.",
        "{count:,} rows hold nothing but delimiters: skipped. The first is line {first:,}.",
    ),
    QUOTE_IN_CELL: (
        "Line {first:,} has a quote inside a cell that is not quoted; it is kept as text.",
        "{count:,} rows have a quote inside a cell that is not quoted; it is kept as text. "
        "The first is line {first:,}.",
    ),
    EXPORTED_SCORES: (
        "Column {first:,} holds verdicts or scores of an exported run: left out.",
        "{count:,} columns hold verdicts and scores of an exported run: left out. "
        "The first is column {first:,}.",
    ),
}


class Note(NamedTuple):
    """`first` is the line, or for EMPTY_COLUMN and EXPORTED_SCORES the column, counted from 1."""

    code: str
    number: int
    first: int

    @property
    def message(self) -> str:
        return _TEXTS[self.code][self.number > 1].format(count=self.number, first=self.first)


class Notes:
    """Notes on one file, each kind counted."""

    def __init__(self) -> None:
        self._notes: dict[str, Note] = {}

    def add(self, code: str, position: int) -> None:
        note = self._notes.get(code, Note(code, 0, position))
        self._notes[code] = note._replace(number=note.number + 1)

    @property
    def listed(self) -> tuple[Note, ...]:
        return tuple(self._notes.values())
