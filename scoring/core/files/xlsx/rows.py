"""Rows of one sheet of a workbook, as a stream; every cell is a text, as in a CSV file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import BinaryIO, Final

from scoring.core.files.rows import FileProblem, Row, RowProblem
from scoring.core.files.table import checked_columns, numbered_columns, refuse_many
from scoring.core.files.xlsx.letters import letters_of
from scoring.core.files.xlsx.sheet import Sheet
from scoring.core.files.xlsx.values import Cells
from scoring.core.files.xlsx.workbook import Workbook

_LOOKED_AT: Final = 20  # sheets


def read_xlsx(
    file: BinaryIO,
    sheet: str = "",
    *,
    has_header: bool = True,
    tell_share: Callable[[float], object] = lambda _: None,
) -> Iterator[Row | RowProblem]:
    """The rows below the header of a sheet, the first one for "". Rows without a text are left out.

    `tell_share` is told now and then how much of the sheet was read, 0 to 1. Raises FileProblem;
    see Workbook.
    """
    rows = _rows(Workbook(file), sheet, tell_share)
    first = next(rows, None)
    if first is None:
        raise FileProblem("no_rows", "The sheet has no rows. Choose another one, or add some.")
    columns = _columns(first, has_header=has_header)
    is_empty = has_header
    if not has_header:
        yield _row(first, columns)
    for row in rows:
        is_empty = False
        yield _row(row, columns)
    if is_empty:
        raise FileProblem("no_rows", "The sheet has no rows below its header. Add at least one.")


def read_sheets(
    file: BinaryIO,
    sheet: str = "",
    *,
    has_header: bool = True,
    suits: Callable[[tuple[str, ...]], bool] = lambda _: True,
) -> tuple[tuple[str, ...], str, tuple[str, ...]]:
    """The names of all sheets, of the one that is read, and of its columns.

    For "" that is the first one shown whose columns suit, else the first.
    """
    book = Workbook(file)
    name = sheet or _suiting(book, suits, has_header=has_header)
    return (
        tuple(book.sheets),
        book.sheet_named(name),
        _columns_of(book, name, has_header=has_header),
    )


def _suiting(book: Workbook, suits: Callable[[tuple[str, ...]], bool], *, has_header: bool) -> str:
    for name in book.shown[:_LOOKED_AT] if len(book.shown) > 1 else ():
        with suppress(FileProblem):  # told where the sheet is read
            if suits(_columns_of(book, name, has_header=has_header)):
                return name
    return ""


def _columns_of(book: Workbook, sheet: str, *, has_header: bool) -> tuple[str, ...]:
    first = next(_rows(book, sheet), None)
    return _columns(first, has_header=has_header) if first else ()


def _columns(first: Cells, *, has_header: bool) -> tuple[str, ...]:
    for place, (code, said) in first.faults.items():
        where = f"Line {first.line:,}, column {letters_of(place)}: "
        raise FileProblem(code, where + said, line=first.line)
    width = max(place for place, text in enumerate(first.texts, start=1) if text)
    refuse_many(width, first.line)
    if has_header:
        return checked_columns(first.texts[:width], first.line)
    return numbered_columns(width)


def _row(cells: Cells, columns: tuple[str, ...]) -> Row | RowProblem:
    line, texts, faults = cells
    for place, (code, said) in faults.items():
        column = columns[place] if place < len(columns) else letters_of(place)
        where = f"Line {line:,}, column {column}: "
        return RowProblem(line, column, code, where + said)
    missing = len(columns) - len(texts)
    if missing < 0 and any(texts[missing:]):
        return _too_wide(cells, len(columns))
    if missing > 0:
        texts += [""] * missing
    return Row(line, dict(zip(columns, texts, strict=False)))


def _too_wide(cells: Cells, width: int) -> RowProblem:
    beyond = next(place for place, text in enumerate(cells.texts) if place >= width and text)
    said = (
        f"Line {cells.line:,} has a text in column {letters_of(beyond)}, but the header ends with "
        f"{letters_of(width - 1)}. Name the column, or empty the cell."
    )
    return RowProblem(cells.line, "", "row_width", said)


def _rows(
    book: Workbook, sheet: str, tell_share: Callable[[float], object] = lambda _: None
) -> Iterator[Cells]:
    reader = Sheet(book)
    part = book.sheets[book.sheet_named(sheet)]
    for fed in book.read(part, reader.handlers):
        tell_share(fed / book.size_of(part))
        yield from reader.rows
        reader.rows.clear()
