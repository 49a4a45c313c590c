"""What a cell can be besides a JSON value: missing, or unusable."""

from __future__ import annotations

from enum import Enum
from typing import Final


class Missing(Enum):
    """The value of a field that a row does not have: neither null nor an empty text."""

    MISSING = "missing"


MISSING: Final = Missing.MISSING


class CellProblem(Exception):  # noqa: N818 - the word the project uses
    """One cell makes its row unusable. `column` is "" when no single one is at fault."""

    def __init__(self, code: str, column: str, text: str) -> None:
        self.code, self.column, self.text = code, column, text
        super().__init__(text)
