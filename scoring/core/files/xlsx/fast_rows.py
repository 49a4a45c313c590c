"""Fast reading of rows with simple cells, many at once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from scoring.core.files.rows import MAX_COLUMNS
from scoring.core.files.xlsx.cell_values import Cells, Values, cell_fault
from scoring.core.files.xlsx.column_letters import column_index, column_letters
from scoring.core.files.xlsx.fast_cells import PlainCells, plain_cells, unescape_xml

HIDDEN: Final = ("1", "true")  # what the attribute says of a hidden row
_LETTERS: Final = [column_letters(index) for index in range(MAX_COLUMNS)]


def plain_rows(rows: str, values: Values, line: int) -> tuple[list[Cells], int] | None:
    """The rows below `line` that are not blank, and the line of the last one.

    None for what only the parser can tell: rows that are not written in a known way, or cells that
    are out of order or name a text which the workbook lacks.
    """
    cells = plain_cells(rows)
    texts = _texts(cells, values) if cells else None
    if cells is None or texts is None:
        return None
    shown = _shown(cells, texts, values) if values.formatters else {}
    may_have_faults = values.shared.has_escapes or "_x" in rows
    starts = [index for index, begin in enumerate(cells.begins) if begin]
    result: list[Cells] = []
    for start, end in pairwise([*starts, len(texts)]):
        line = max(line + 1, int(cells.lines[start] or 0))
        letters = cells.letters[start:end]
        row = _align(letters, texts[start:end])
        if row is None:
            return None
        if any(row):
            faults = _faults(row) if may_have_faults else {}
            own = _columns_shown(shown, start, letters) if shown else {}
            result.append(Cells(line, row, faults, cells.hidden[start] in HIDDEN, own))
    return result, line


def _shown(cells: PlainCells, texts: Sequence[str], values: Values) -> dict[int, str]:
    """What is shown otherwise than it reads, by the place of its cell."""
    numbers = (
        (place, value, style)
        for place, (value, style, kind) in enumerate(
            zip(cells.values, cells.styles, cells.kinds, strict=True)
        )
        if style in values.formatters and value and kind in (None, "n")
    )
    return {
        place: shown
        for place, value, style in numbers
        if (shown := values.shown_of(value, texts[place], style)) is not None
    }


def _columns_shown(
    shown: dict[int, str], start: int, letters: Sequence[str | None]
) -> dict[int, str]:
    """Those of the row whose cells begin at this place, by the index of their column."""
    return {
        column_index(name) if name else index: shown[start + index]
        for index, name in enumerate(letters)
        if start + index in shown
    }


def _texts(cells: PlainCells, values: Values) -> list[str] | None:
    """The texts of the cells; None when one names a text that does not exist."""
    indexes = [int(index) for index in cells.shared if index is not None]
    try:
        shared_texts = values.shared.get_many(indexes)
        if len(shared_texts) == len(cells.shared):
            return shared_texts
        shared = iter(shared_texts)
        return [
            next(shared) if cell[0] is not None else _own_text(values, *cell[1:])
            for cell in zip(
                *(cells.shared, cells.values, cells.texts, cells.kinds, cells.styles), strict=True
            )
        ]
    except (ValueError, IndexError):
        return None


def _own_text(
    values: Values, value: str | None, text: str | None, kind: str | None, style: str | None
) -> str:
    content = text if value is None else value
    if content is None:
        return ""
    return values.text_of(unescape_xml(content), kind or "n", style or "")


def _align(letters: Sequence[str | None], texts: list[str]) -> list[str] | None:
    """The texts from the first column on; None unless each cell follows the one before."""
    if letters == _LETTERS[: len(letters)] or not any(letters):
        return texts
    row: list[str] = []
    for name, text in zip(letters, texts, strict=True):
        index = column_index(name) if name else -1
        if index < len(row):
            return None
        row += [""] * (index - len(row))
        row.append(text)
    return row


def _faults(row: Sequence[str]) -> dict[int, tuple[str, str]]:
    return {index: fault for index, text in enumerate(row) if (fault := cell_fault(text))}
