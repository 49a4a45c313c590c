"""The header of a table, whatever format it comes in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scoring.core.files.rows import MAX_COLUMNS, FileProblem

_SPOKEN: Final = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a vertical bar"}


def checked_columns(cells: Sequence[str], line: int) -> tuple[str, ...]:
    """The columns' names without outer white space, distinct even when case is ignored.

    Raises FileProblem: too_many_columns, empty_column_name, duplicate_column, nul_character.
    """
    refuse_many(len(cells), line)
    names = tuple(cell.strip() for cell in cells)
    seen: dict[str, int] = {}
    for place, name in enumerate(names, start=1):
        _refuse_unusable(name, place, line)
        first = seen.setdefault(name.casefold(), place)
        if first != place:
            text = (
                f"Columns {first} and {place} of line {line:,} are both called “{name}” "
                "(case and outer spaces do not count). Rename one, or read the file without header."
            )
            raise FileProblem("duplicate_column", text, line=line, column=name)
    return names


def refuse_many(width: int, line: int) -> None:
    """Raise FileProblem `too_many_columns`."""
    if width > MAX_COLUMNS:
        text = f"Line {line:,} has {width:,} columns; {MAX_COLUMNS:,} are possible. Remove some."
        raise FileProblem("too_many_columns", text, line=line)


def numbered_columns(width: int) -> tuple[str, ...]:
    """The names of a table's columns when no header names them."""
    return tuple(f"column {place}" for place in range(1, width + 1))


def check_delimiter(delimiter: str) -> None:
    """Raise FileProblem `delimiter` for what cannot divide columns; "" is left to the guess."""
    if len(delimiter) > 1 or delimiter in {'"', "\r", "\n", "\0"}:
        text = f"{delimiter!r} cannot divide columns. Use one sign, such as a comma, or a tab."
        raise FileProblem("delimiter", text)


def spoken_delimiter(delimiter: str) -> str:
    return _SPOKEN.get(delimiter, f"“{delimiter}”")


def _refuse_unusable(name: str, place: int, line: int) -> None:
    if not name:
        text = (
            f"Column {place} of line {line:,} has no name. Name every column in the header, or "
            "read the file without header."
        )
        raise FileProblem("empty_column_name", text, line=line)
    if "\0" in name:
        text = f"The name of column {place} in line {line:,} holds a NUL character. Remove it."
        raise FileProblem("nul_character", text, line=line)
