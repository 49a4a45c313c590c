"""What rows of a sheet become where Excel shows them otherwise than it stores them."""

from __future__ import annotations

import re
from typing import Final, NamedTuple, TypedDict

from scoring.core.files.notes import (
    FORMATTED_CELLS,
    HIDDEN_ROWS,
    HIDDEN_SKIPPED,
    MERGED_CELLS,
    MERGED_FILLED,
    READ_AS_SHOWN,
    Notes,
)
from scoring.core.files.xlsx.cell_values import Cells
from scoring.core.files.xlsx.column_letters import column_letters
from scoring.core.files.xlsx.merged_cells import MergedCells, MergedFiller

MAX_SHAPES: Final = 100  # of numbers; others are only counted


class CellReading(NamedTuple):
    """Whether merged cells have their value throughout, hidden rows are skipped, and numbers read
    as Excel shows them.
    """

    fill_merged: bool = False
    skip_hidden: bool = False
    as_shown: bool = False


class CellOptions(TypedDict, total=False):
    """The fields of CellReading as keyword arguments."""

    fill_merged: bool
    skip_hidden: bool
    as_shown: bool


AS_STORED: Final = CellReading()


class RowReader:
    """Applies a reading to the rows of a sheet, in their order, and notes what is unusual.

    `merged` are the groups of merged cells, where these are to be filled.
    """

    def __init__(self, reading: CellReading, notes: Notes, merged: list[MergedCells]) -> None:
        self._reading, self._notes, self._merged = reading, notes, merged
        self._filler: MergedFiller | None = None
        self._first_line = 0  # of the header
        self._shapes: set[str] = set()  # of numbers that the notes have shown

    def read(self, row: Cells) -> Cells | None:
        """The row as it is meant; None for one to skip."""
        if row.is_hidden:
            skips = self._reading.skip_hidden
            self._notes.add(HIDDEN_SKIPPED if skips else HIDDEN_ROWS, row.line)
            if skips:
                return None
        if row.shown:
            self._show(row)
        if not self._first_line:
            self._first_line = row.line
            self._filler = MergedFiller(self._merged, row.line) if self._merged else None
        if self._filler:
            self._filler.fill(row)
        return row

    def note_merged(self, merged: list[MergedCells]) -> None:
        """Note the groups of merged cells below the header, once all rows are read."""
        code = MERGED_FILLED if self._reading.fill_merged else MERGED_CELLS
        for group in merged:
            if group.first_row > self._first_line:
                self._notes.add(code, group.first_row, group.reference)

    def _show(self, row: Cells) -> None:
        code = READ_AS_SHOWN if self._reading.as_shown else FORMATTED_CELLS
        for column, shown in row.shown.items():
            self._notes.add(code, row.line, self._example(row, column, shown))
            if self._reading.as_shown:
                row.texts[column] = shown

    def _example(self, row: Cells, column: int, shown: str) -> str:
        """The cell, what it shows and what is read; "" where one of its kind was named before."""
        shape = re.sub(r"\d+", "0", shown)
        if shape in self._shapes or len(self._shapes) > MAX_SHAPES:
            return ""
        self._shapes.add(shape)
        cell = f"{column_letters(column)}{row.line}"
        if self._reading.as_shown:
            return f"{cell} as “{shown}”"
        return f"{cell} “{shown}” as {row.texts[column]}"
