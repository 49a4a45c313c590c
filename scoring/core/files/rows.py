"""Rows as readers yield them, and the errors of cells, rows and files."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Final, NamedTuple

from scoring.core.contract import Json

MAX_CELL: Final = 1024 * 1024  # characters of one table cell
MAX_LINE: Final = 16 * 1024 * 1024  # characters of one line, one record or one JSON value
MAX_COLUMNS: Final = 1_000


class Missing(Enum):
    """The value of a field that a row does not have: neither null nor an empty text."""

    MISSING = "missing"


MISSING: Final = Missing.MISSING


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
    def short_message(self) -> str:
        """The message without line and column, to be shown beside them."""
        for prefix in (f"Line {self.line:,}, column {self.column}: ", f"Line {self.line:,}: "):
            if self.message.startswith(prefix):
                rest = self.message.removeprefix(prefix)
                return rest[:1].upper() + rest[1:]
        return self.message


class CellProblem(Exception):  # noqa: N818 - the word the project uses
    """One cell makes its row unusable. `column` is "" when no single one is at fault."""

    def __init__(self, code: str, column: str, text: str) -> None:
        self.code, self.column, self.text = code, column, text
        super().__init__(text)


class FileProblem(Exception):  # noqa: N818 - the word the project uses
    """Nothing further can be read. `code` is stable; the text says what, where, what to do."""

    def __init__(
        self, code: str, text: str, *, line: int | None = None, column: str | None = None
    ) -> None:
        self.code, self.text, self.line, self.column = code, text, line, column
        super().__init__(text)


class EncodingProblem(FileProblem):
    """The file is not what its encoding was taken for; `candidates` are what it may be instead."""

    def __init__(self, text: str, candidates: Sequence[str], *, line: int) -> None:
        super().__init__("encoding", text, line=line)
        self.candidates = candidates
