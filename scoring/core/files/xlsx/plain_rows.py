"""Rows of a sheet out of plainly written cells, many at once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from scoring.core.files.rows import MAX_COLUMNS
from scoring.core.files.xlsx.letters import letters_of, place_of
from scoring.core.files.xlsx.plain import PlainCells, plain_cells, unescaped
from scoring.core.files.xlsx.values import Cells, Values, fault_of

_LETTERS: Final = [letters_of(place) for place in range(MAX_COLUMNS)]


def plain_rows(rows: str, values: Values, line: int) -> tuple[list[Cells], int] | None:
    """The rows below `line` that are not blank, and the line of the last one.

    None for what only the parser can tell: rows that are not written in a known way, cells out of
    order or that name a text which the workbook lacks.
    """
    cells = plain_cells(rows)
    texts = _texts(cells, values) if cells else None
    if cells is None or texts is None:
        return None
    may_have_faults = values.shared.has_escapes or "_x" in rows
    starts = [place for place, mark in enumerate(cells.begins) if mark]
    found: list[Cells] = []
    for start, end in pairwise([*starts, len(texts)]):
        line = max(line + 1, int(cells.lines[start] or 0))
        row = _in_place(cells.letters[start:end], texts[start:end])
        if row is None:
            return None
        if any(row):
            found.append(Cells(line, row, _faults(row) if may_have_faults else {}))
    return found, line


def _texts(cells: PlainCells, values: Values) -> list[str] | None:
    """What the cells stand for; None when one names a text that is not there."""
    places = [int(place) for place in cells.places if place is not None]
    try:
        shared = values.shared.several(places)
        if len(shared) == len(cells.places):
            return shared
        said = iter(shared)
        return [
            next(said) if cell[0] is not None else _said(values, *cell[1:])
            for cell in zip(
                *(cells.places, cells.values, cells.texts, cells.kinds, cells.styles), strict=True
            )
        ]
    except (ValueError, IndexError):
        return None


def _said(
    values: Values, value: str | None, text: str | None, kind: str | None, style: str | None
) -> str:
    held = text if value is None else value
    return "" if held is None else values.text_of(unescaped(held), kind or "n", style or "")


def _in_place(letters: Sequence[str | None], texts: list[str]) -> list[str] | None:
    """The texts from the first column on; None unless each cell stands behind the one before."""
    if letters == _LETTERS[: len(letters)] or not any(letters):
        return texts
    row: list[str] = []
    for name, text in zip(letters, texts, strict=True):
        place = place_of(name) if name else -1
        if place < len(row):
            return None
        row += [""] * (place - len(row))
        row.append(text)
    return row


def _faults(row: Sequence[str]) -> dict[int, tuple[str, str]]:
    found = ((place, fault_of(text)) for place, text in enumerate(row))
    return {place: fault for place, fault in found if fault}
