"""Notes about what a reader left out or found unusual, without any loss of data."""

from __future__ import annotations

from typing import Final, NamedTuple

EMPTY_COLUMN: Final = "empty_column"
ROW_OF_DELIMITERS: Final = "row_of_delimiters"
QUOTE_IN_CELL: Final = "quote_in_cell"
EXPORTED_SCORES: Final = "exported_scores"
MERGED_CELLS: Final = "merged_cells"
MERGED_FILLED: Final = "merged_filled"
HIDDEN_ROWS: Final = "hidden_rows"
HIDDEN_SKIPPED: Final = "hidden_skipped"
FORMATTED_CELLS: Final = "formatted_cells"
READ_AS_SHOWN: Final = "read_as_shown"
_MAX_DETAILS: Final = 5

#: For one and for several; `str.format` fills in the number, the first line or column, and details.
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
    MERGED_CELLS: (
        "Cells {details} are merged: only the first of them has the value, the others are empty. "
        "“Fill merged cells” gives it to all.",
        "{count:,} groups of cells are merged ({details}): only the first cell of each has the "
        "value, the others are empty. “Fill merged cells” gives it to all.",
    ),
    MERGED_FILLED: (
        "The merged cells {details} all have the value of the first.",
        "{count:,} groups of merged cells ({details}) all have the value of their first cell.",
    ),
    HIDDEN_ROWS: (
        "Line {first:,} is hidden, and read like the others. “Skip hidden rows” leaves it out.",
        "{count:,} rows are hidden, and read like the others; the first is line {first:,}. “Skip "
        "hidden rows” leaves them out.",
    ),
    HIDDEN_SKIPPED: (
        "Line {first:,} is hidden: skipped.",
        "{count:,} rows are hidden: skipped. The first is line {first:,}.",
    ),
    FORMATTED_CELLS: (
        "A cell shows something else than is read: {details}. “Numbers as shown” reads what is "
        "shown.",
        "{count:,} cells show something else than is read: {details}. “Numbers as shown” reads "
        "what is shown.",
    ),
    READ_AS_SHOWN: (
        "A number is read as Excel shows it: {details}.",
        "{count:,} numbers are read as Excel shows them: {details}.",
    ),
}


class Note(NamedTuple):
    """`first` is the line, or for EMPTY_COLUMN and EXPORTED_SCORES the column, counted from 1.

    `details` name the first of what the note is about.
    """

    code: str
    number: int
    first: int
    details: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        more = self.number - len(self.details)
        details = ", ".join(self.details) + (f" and {more:,} more" if more else "")
        text = _TEXTS[self.code][self.number > 1]
        return text.format(count=self.number, first=self.first, details=details)


class Notes:
    """Notes on one file, each kind counted."""

    def __init__(self) -> None:
        self._notes: dict[str, Note] = {}

    def add(self, code: str, position: int, detail: str = "") -> None:
        """Count one more; the first details are kept."""
        note = self._notes.get(code) or Note(code, 0, position)
        is_kept = detail and len(note.details) < _MAX_DETAILS
        details = (*note.details, detail) if is_kept else note.details
        self._notes[code] = note._replace(number=note.number + 1, details=details)

    @property
    def listed(self) -> tuple[Note, ...]:
        return tuple(self._notes.values())
