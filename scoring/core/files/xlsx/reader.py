"""Rows of a sheet as a stream; every cell is a text, as in a CSV file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import BinaryIO, Final

from scoring.core.contract import Json
from scoring.core.files.columns.table_header import (
    UnnamedColumns,
    check_columns,
    check_width,
    number_columns,
)
from scoring.core.files.notes import Notes
from scoring.core.files.rows import FileProblem, Row, RowProblem
from scoring.core.files.xlsx.cell_reading import AS_STORED, CellReading, RowReader
from scoring.core.files.xlsx.cell_values import Cells
from scoring.core.files.xlsx.column_letters import column_letters
from scoring.core.files.xlsx.merged_cells import merged_cells
from scoring.core.files.xlsx.sheet import Sheet
from scoring.core.files.xlsx.workbook import Workbook

_MAX_SHEETS: Final = 20  # looked at for one that suits


def read_xlsx(
    file: BinaryIO,
    sheet: str = "",
    *,
    has_header: bool = True,
    skip_lines: int = 0,
    reading: CellReading = AS_STORED,
    notes: Notes | None = None,
    report_share: Callable[[float], object] = lambda _: None,
) -> Iterator[Row | RowProblem]:
    """The rows below the header of a sheet, the first one for "". Rows without a text are left out.
    So are, with a note, columns without name or value, and what stands above line `skip_lines`.
    Merged cells, hidden rows and numbers that show otherwise are noted, and read by `reading`.

    `report_share` is called from time to time with the share of the sheet that was read, 0 to 1.
    Raises FileProblem; see Workbook.
    """
    notes = notes or Notes()
    rows = _rows(Workbook(file), sheet, skip_lines, reading, notes, report_share)
    first = next(rows, None)
    if first is None:
        raise FileProblem("no_rows", "The sheet has no rows. Choose another one, or add some.")
    columns = _columns(first, has_header=has_header)
    unnamed = UnnamedColumns(columns, first.line, notes)
    is_empty = has_header
    if not has_header:
        yield _row(first, columns, unnamed)
    for row in rows:
        is_empty = False
        yield _row(row, columns, unnamed)
    if is_empty:
        raise FileProblem("no_rows", "The sheet has no rows below its header. Add at least one.")


def read_sheets(
    file: BinaryIO,
    sheet: str = "",
    *,
    has_header: bool = True,
    skip_lines: int = 0,
    reading: CellReading = AS_STORED,
    suits: Callable[[tuple[str, ...]], bool] = lambda _: True,
) -> tuple[tuple[str, ...], str, tuple[str, ...]]:
    """The names of all sheets, of the one that is read, and of its columns.

    For "" that is the first one shown whose columns suit, else the first.
    """
    book = Workbook(file)
    columns_of = partial(
        _columns_of, book, has_header=has_header, skip_lines=skip_lines, reading=reading
    )
    name = sheet or _first_suitable(book, lambda name: suits(columns_of(name)))
    return tuple(book.sheets), book.sheet_named(name), columns_of(name)


def _first_suitable(book: Workbook, suits: Callable[[str], bool]) -> str:
    for name in book.visible_sheets[:_MAX_SHEETS] if len(book.visible_sheets) > 1 else ():
        with suppress(FileProblem):  # raised where the sheet is read
            if suits(name):
                return name
    return ""


def _columns_of(
    book: Workbook, sheet: str, *, has_header: bool, skip_lines: int, reading: CellReading
) -> tuple[str, ...]:
    first = next(_rows(book, sheet, skip_lines, reading._replace(fill_merged=False)), None)
    return _columns(first, has_header=has_header) if first else ()


def _columns(first: Cells, *, has_header: bool) -> tuple[str, ...]:
    for index, (code, message) in first.faults.items():
        where = f"Line {first.line:,}, column {column_letters(index)}: "
        raise FileProblem(code, where + message, line=first.line)
    width = max(number for number, text in enumerate(first.texts, start=1) if text)
    check_width(width, first.line)
    if has_header:
        return check_columns(first.texts[:width], first.line)
    return number_columns(width)


def _row(cells: Cells, columns: tuple[str, ...], unnamed: UnnamedColumns) -> Row | RowProblem:
    line, texts, faults = cells.line, cells.texts, cells.faults
    for index, (code, message) in faults.items():
        column = columns[index] if index < len(columns) else column_letters(index)
        return RowProblem(line, column, code, f"Line {line:,}, column {column}: {message}")
    missing = len(columns) - len(texts)
    if missing < 0 and any(texts[missing:]):
        return _too_wide(cells, len(columns))
    if missing > 0:
        texts += [""] * missing
    fields: dict[str, Json] = dict(zip(columns, texts, strict=False))
    return Row(line, unnamed.drop(fields, texts, line) if unnamed else fields)


def _too_wide(cells: Cells, width: int) -> RowProblem:
    beyond = next(index for index, text in enumerate(cells.texts) if index >= width and text)
    message = (
        f"Line {cells.line:,} has a text in column {column_letters(beyond)}, but the header ends "
        f"with {column_letters(width - 1)}. Name the column, or empty the cell."
    )
    return RowProblem(cells.line, "", "row_width", message)


def _rows(
    book: Workbook,
    sheet: str,
    skip_lines: int,
    reading: CellReading,
    notes: Notes | None = None,
    report_share: Callable[[float], object] = lambda _: None,
) -> Iterator[Cells]:
    """The rows as they are meant. Merged cells are noted behind the last."""
    sheet_reader = Sheet(book)
    part = book.sheets[book.sheet_named(sheet)]
    merged = merged_cells(book.merged_references(part)) if reading.fill_merged else []
    rows = RowReader(reading, notes or Notes(), merged)
    for size in book.read(part, sheet_reader.handlers):
        report_share(size / book.size_of(part))
        for cells in sheet_reader.rows:
            if cells.line > skip_lines and (row := rows.read(cells)):
                yield row
        sheet_reader.rows.clear()
    rows.note_merged(merged_cells(sheet_reader.merged))
