"""CSV rows as RFC 4180 defines them; every cell is kept character for character."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from scoring.core.files.columns.table_header import (
    UnnamedColumns,
    check_columns,
    check_width,
    name_delimiter,
    number_columns,
)
from scoring.core.files.csv.dialect import is_blank
from scoring.core.files.csv.records import Dialect, Records
from scoring.core.files.decoding import Lines
from scoring.core.files.notes import Notes
from scoring.core.files.rows import FileProblem, Row, RowProblem
from scoring.core.files.source import Source

_Numbered = Iterator[tuple[int, list[str] | RowProblem]]


def read_csv(
    source: Source,
    dialect: Dialect,
    encoding: str = "",
    *,
    has_header: bool = True,
    skip_lines: int = 0,
    notes: Notes | None = None,
) -> Iterator[Row | RowProblem]:
    """The rows below the header. Blank lines are left out wherever they are.

    So are, with a note, rows of nothing but delimiters and columns without name or value. Without
    a header the first row tells how many columns there are, which are then numbered.

    A fault that certainly ends with its line is a RowProblem. After any other, such as an open
    quote, the rest cannot be trusted: FileProblem is raised.
    """
    lines, notes = Lines(source, encoding), notes or Notes()
    records = iter(Records(lines, dialect, notes, skip_lines=skip_lines))
    header_line = 0
    if has_header:
        header_line, columns = _read_header(records)
    else:
        columns, records = _number_columns(records)
    unnamed = UnnamedColumns(columns, header_line, notes)
    width, is_empty = len(columns), True
    for line, cells in records:
        if isinstance(cells, RowProblem):
            yield cells
        elif len(cells) != width:
            if is_blank(cells):
                continue
            measure = "the header" if has_header else "the first row"
            yield _wrong_width(line, len(cells), f"{measure} has", width, dialect)
        elif lines.has_nul and (column := _column_with_nul(columns, cells)) is not None:
            text = f"Line {line:,}, column {column}: the cell holds a NUL character. Remove it."
            yield RowProblem(line, column, "nul_character", text)
        else:
            fields = dict(zip(columns, cells, strict=True))
            yield Row(line, unnamed.drop(fields, cells, line) if unnamed else fields)
        is_empty = False
    if is_empty:
        raise _no_rows("no rows below its header")


def read_header(
    source: Source,
    dialect: Dialect,
    encoding: str = "",
    *,
    has_header: bool = True,
    skip_lines: int = 0,
) -> tuple[str, ...]:
    """The columns' names, the first line that is not blank; "" for a column without one."""
    records = iter(Records(Lines(source, encoding), dialect, skip_lines=skip_lines))
    return _read_header(records)[1] if has_header else _number_columns(records)[0]


def _is_separator_line(line: int, cells: Sequence[str]) -> bool:
    """Whether it is the first line `sep=;`, which names the delimiter for Excel."""
    return line == 1 and [cell.lower() for cell in cells] in (["sep=", ""], ["sep="])


def _read_header(records: _Numbered) -> tuple[int, tuple[str, ...]]:
    for line, cells in records:
        if isinstance(cells, RowProblem):
            raise FileProblem(cells.code, cells.message, line=line)
        if not (is_blank(cells) or _is_separator_line(line, cells)):
            return line, check_columns(cells, line)
    raise _no_rows("no rows")


def _number_columns(records: _Numbered) -> tuple[tuple[str, ...], _Numbered]:
    """Numbered columns, as many as the first record that can be read, and all records."""
    passed: list[tuple[int, list[str] | RowProblem]] = []
    for line, cells in records:
        if isinstance(cells, RowProblem):
            passed.append((line, cells))
        elif not (is_blank(cells) or _is_separator_line(line, cells)):
            passed.append((line, cells))
            check_width(len(cells), line)
            return number_columns(len(cells)), chain(passed, records)
    if passed:
        return ("column 1",), iter(passed)
    raise _no_rows("no rows")


def _no_rows(what: str) -> FileProblem:
    return FileProblem("no_rows", f"The file has {what}. Add at least one.")


def _column_with_nul(columns: Sequence[str], cells: Sequence[str]) -> str | None:
    return next((name for name, cell in zip(columns, cells, strict=True) if "\0" in cell), None)


def _wrong_width(line: int, count: int, measure: str, wanted: int, dialect: Dialect) -> RowProblem:
    cells = "1 cell" if count == 1 else f"{count:,} cells"
    columns = "1 column" if wanted == 1 else f"{wanted:,} columns"
    text = (
        f"Line {line:,} has {cells}, {measure} {columns}. Quote texts that hold "
        f"{name_delimiter(dialect.delimiter)} or a line end, or choose another delimiter."
    )
    return RowProblem(line, "", "row_width", text)
