"""What a reader gives for each row, and the two kinds of fault a file can have."""

from __future__ import annotations

from typing import Final, NamedTuple

from scoring.core.contract import Json

MAX_CELL: Final = 1024 * 1024  # characters of one table cell
MAX_LINE: Final = 16 * 1024 * 1024  # characters of one line, one record or one JSON value
MAX_COLUMNS: Final = 1_000


class Row(NamedTuple):
    """One row. `line` is where it starts, counted from 1; a table's fields are all texts."""

    line: int
    fields: dict[str, Json]


class RowProblem(NamedTuple):
    """A row that cannot be used although the rows after it can.

    `column` is a table's column or a path into an object, "" when unknown.
    """

    line: int
    column: str
    code: str
    message: str

    @property
    def said(self) -> str:
        """The message without its place, for where line and column stand beside it."""
        for place in (f"Line {self.line:,}, column {self.column}: ", f"Line {self.line:,}: "):
            if self.message.startswith(place):
                rest = self.message.removeprefix(place)
                return rest[:1].upper() + rest[1:]
        return self.message


class FileProblem(Exception):  # noqa: N818 - the word the project uses
    """Nothing further can be read. `code` is stable; the text says what, where, what to do."""

    def __init__(
        self, code: str, text: str, *, line: int | None = None, column: str | None = None
    ) -> None:
        self.code, self.text, self.line, self.column = code, text, line, column
        super().__init__(text)
