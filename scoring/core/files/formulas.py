"""Cells that a spreadsheet would run as formulas: marked on export, unmarked on import.

A cell that begins with one of FORMULA_SIGNS is prefixed with MARK, and its row names the column in
a last column MARKED. So the mark can be removed again, also where texts begin with it themselves.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from scoring.core.contract import Json
from scoring.core.files.rows import Row, RowProblem

MARK: Final = "'"
MARKED: Final = "_marked"
#: OWASP's list (CSV injection): the signs, white space that is skipped, full-width twins.
FORMULA_SIGNS: Final = frozenset("=+-@\t\r\n＝＋－＠")  # noqa: RUF001  these are meant


def is_formula(cell: str) -> bool:
    return cell[:1] in FORMULA_SIGNS


def mark_formula(columns: Sequence[str], cells: Sequence[str]) -> list[str]:
    """The cells with their marks, then the JSON list of the columns that have one."""
    names = [name for name, cell in zip(columns, cells, strict=True) if is_formula(cell)]
    if not names:
        return [*cells, ""]
    with_marks = [MARK + cell if is_formula(cell) else cell for cell in cells]
    return [*with_marks, json.dumps(names, ensure_ascii=False, separators=(",", ":"))]


def unmark_formula(rows: Iterable[Row | RowProblem]) -> Iterator[Row | RowProblem]:
    """The rows of a table without their marks, where these are still there."""
    for row in rows:
        if isinstance(row, Row) and MARKED in row.fields:
            _unmark(row.fields)
        yield row


def _unmark(fields: dict[str, Json]) -> None:
    try:
        names = json.loads(fields.pop(MARKED))
    except (ValueError, TypeError):
        return
    for name in names if isinstance(names, list) else ():
        cell = fields.get(name) if isinstance(name, str) else None
        if isinstance(cell, str) and cell.startswith(MARK) and is_formula(cell[1:]):
            fields[name] = cell[1:]
