"""The header of a table, in any format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scoring.core.contract import Json
from scoring.core.files.notes import EMPTY_COLUMN, Notes
from scoring.core.files.rows import MAX_COLUMNS, FileProblem

MAX_DELIMITER: Final = 10  # characters
_DELIMITER_NAMES: Final = {
    ",": "a comma",
    ";": "a semicolon",
    "\t": "a tab",
    "|": "a vertical bar",
    ", ": "a comma and a space",
    "; ": "a semicolon and a space",
    "| ": "a vertical bar and a space",
    " | ": "a vertical bar between spaces",
}


def check_columns(cells: Sequence[str], line: int) -> tuple[str, ...]:
    """The columns' names without outer white space, distinct even when case is ignored.

    "" for a column without a name, which may hold no values: see UnnamedColumns. Raises
    FileProblem: too_many_columns, empty_column_name (none has a name), duplicate_column,
    nul_character.
    """
    check_width(len(cells), line)
    names = tuple(cell.strip() for cell in cells)
    if not any(names):
        raise _unnamed(1, line)
    seen: dict[str, int] = {}
    for number, name in enumerate(names, start=1):
        if not name:
            continue
        if "\0" in name:
            text = f"The name of column {number} in line {line:,} holds a NUL character. Remove it."
            raise FileProblem("nul_character", text, line=line)
        first = seen.setdefault(name.casefold(), number)
        if first != number:
            text = (
                f"Columns {first} and {number} of line {line:,} are both called “{name}” "
                "(case and outer spaces do not count). Rename one, or read the file without header."
            )
            raise FileProblem("duplicate_column", text, line=line, column=name)
    return names


def check_width(width: int, line: int) -> None:
    """Raise FileProblem `too_many_columns`."""
    if width > MAX_COLUMNS:
        text = f"Line {line:,} has {width:,} columns; {MAX_COLUMNS:,} are possible. Remove some."
        raise FileProblem("too_many_columns", text, line=line)


def number_columns(width: int) -> tuple[str, ...]:
    """The names of a table's columns when no header names them."""
    return tuple(f"column {number}" for number in range(1, width + 1))


def check_delimiter(delimiter: str) -> None:
    """Raise FileProblem `delimiter` for what cannot divide columns; "" is left to the guess."""
    if delimiter and not divides_columns(delimiter):
        text = (
            f"{delimiter[:40]!r} cannot divide columns. Use a comma, a tab or up to "
            f"{MAX_DELIMITER} other characters, without quotes and line ends."
        )
        raise FileProblem("delimiter", text)


def divides_columns(delimiter: str) -> bool:
    """Whether the text can stand between columns."""
    return 0 < len(delimiter) <= MAX_DELIMITER and not set(delimiter) & {'"', "\r", "\n", "\0"}


def name_delimiter(delimiter: str) -> str:
    return _DELIMITER_NAMES.get(delimiter, f"“{delimiter}”")


class UnnamedColumns:
    """The columns of a header that have no name: left out, as long as they hold no values."""

    def __init__(self, columns: Sequence[str], header_line: int, notes: Notes) -> None:
        self._indexes = [index for index, name in enumerate(columns) if not name]
        self._header_line = header_line
        for index in self._indexes:
            notes.add(EMPTY_COLUMN, index + 1)

    def __bool__(self) -> bool:
        return bool(self._indexes)

    def drop(self, fields: dict[str, Json], cells: Sequence[str], line: int) -> dict[str, Json]:
        """The row's fields without them. Raises FileProblem `empty_column_name` for a value."""
        for index in self._indexes:
            if index < len(cells) and cells[index].strip():
                raise _unnamed(index + 1, self._header_line, line)
        fields.pop("", None)
        return fields


def _unnamed(number: int, header_line: int, line: int = 0) -> FileProblem:
    where = f", but line {line:,} has a value there" if line else ""
    text = (
        f"Column {number} of line {header_line:,} has no name{where}. Name every column in the "
        "header, or read the file without header."
    )
    return FileProblem("empty_column_name", text, line=header_line)
