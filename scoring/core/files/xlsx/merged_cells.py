"""Merged cells of a sheet: where they are, and their value in each of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from scoring.core.files.rows import MAX_COLUMNS
from scoring.core.files.xlsx.cell_values import Cells
from scoring.core.files.xlsx.column_letters import column_index

MAX_GROUPS: Final = 100_000  # of merged cells; more are not filled

_REFERENCE: Final = re.compile(r"([A-Z]{1,3})([0-9]{1,8}):([A-Z]{1,3})([0-9]{1,8})")


class MergedCells(NamedTuple):
    """A group of merged cells; rows count from 1, columns from 0."""

    reference: str
    first_row: int
    last_row: int
    first_column: int
    last_column: int


def merged_cells(references: Iterable[str]) -> list[MergedCells]:
    """The groups of these references, such as `B2:B7`, by their first row; others are left out."""
    groups = []
    for reference in references:
        if match := _REFERENCE.fullmatch(reference):
            left, top, right, bottom = match.groups()
            rows = (int(top), int(bottom))
            groups.append(MergedCells(reference, *rows, column_index(left), column_index(right)))
    return sorted(groups, key=lambda group: group.first_row)


class MergedFiller:
    """Puts the value of merged cells, which the first of them holds, into the others.

    Rows come in their order. Groups of the header's row, `first_line`, are left as they are.
    """

    def __init__(self, groups: Iterable[MergedCells], first_line: int) -> None:
        self._coming = [group for group in groups if group.first_row > first_line][::-1]
        self._open: list[tuple[MergedCells, str]] = []

    def fill(self, cells: Cells) -> None:
        while self._coming and self._coming[-1].first_row <= cells.line:
            group = self._coming.pop()
            self._open.append((group, _value(group, cells)))
        if self._open:
            self._open = [one for one in self._open if one[0].last_row >= cells.line]
            del self._open[MAX_COLUMNS:]
        for group, value in self._open:
            _fill_in(cells.texts, group, value)


def _value(group: MergedCells, cells: Cells) -> str:
    """The text of the group's first cell; "" where its row has no texts."""
    is_first = group.first_row == cells.line and group.first_column < len(cells.texts)
    return cells.texts[group.first_column] if is_first else ""


def _fill_in(texts: list[str], group: MergedCells, value: str) -> None:
    end = min(group.last_column, MAX_COLUMNS - 1) + 1
    texts += [""] * (end - len(texts))
    for column in range(group.first_column, end):
        texts[column] = texts[column] or value
