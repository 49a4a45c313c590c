"""CSV and its relatives: rows as RFC 4180 means them, every cell kept character for character."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

from scoring.core.files.lines import Lines, line_ends
from scoring.core.files.rows import MAX_CELL, MAX_LINE, FileProblem, Row, RowProblem
from scoring.core.files.source import Source
from scoring.core.files.table import (
    checked_columns,
    numbered_columns,
    refuse_many,
    spoken_delimiter,
)

_DELIMITERS: Final = (",", "\t", ";", "|")
_QUOTES: Final[tuple[str, ...]] = ('"', "'")
UNQUOTED: Final = "none"
_TOLD: Final = re.compile(r"(?i)\ufeff?sep=(?P<delimiter>[^\"\w\s]|\t)[\r\n]*\Z")
_SAMPLE_RECORDS: Final = 200
_HELD_LINES: Final = 50_000  # then joined, since short texts cost ten times their length


class Dialect(NamedTuple):
    """`quote` is one sign, or UNQUOTED where quotes are text."""

    delimiter: str
    quote: str

    @property
    def mark(self) -> str:
        """A sign that no text holds stands for UNQUOTED."""
        return "\ufffe" if self.quote == UNQUOTED else self.quote


_UNKNOWN: Final = Dialect("", "")


def read_csv(
    source: Source, dialect: Dialect, encoding: str = "", *, has_header: bool = True
) -> Iterator[Row | RowProblem]:
    """The rows below the header. Blank lines are left out wherever they are.

    Without a header the first row tells how many columns there are, which are then numbered.

    A fault that surely ends with its line is a RowProblem; after one that does not (an open
    quote) what follows cannot be trusted, so it raises FileProblem.
    """
    lines = Lines(source, encoding)
    records = iter(_Records(lines, dialect))
    if has_header:
        columns = _header(records, dialect)
    else:
        columns, records = _unheaded(records)
    width, is_empty = len(columns), True
    for line, cells in records:
        if isinstance(cells, RowProblem):
            yield cells
        elif len(cells) != width:
            if _is_blank(cells):
                continue
            problem = _wrong_width(line, len(cells), width, dialect)
            yield problem if has_header else _of_first_row(problem)
        elif lines.has_nul and (place := _with_nul(cells)) is not None:
            yield _nul(line, columns[place])
        else:
            yield Row(line, dict(zip(columns, cells, strict=True)))
        is_empty = False
    if is_empty:
        raise _no_rows("no rows below its header")


def read_header(
    source: Source, dialect: Dialect, encoding: str = "", *, has_header: bool = True
) -> tuple[str, ...]:
    """The columns' names: the first line that is not blank."""
    records = iter(_Records(Lines(source, encoding), dialect))
    return _header(records, dialect) if has_header else _unheaded(records)[0]


def guess_dialect(
    lines: Sequence[str],
    wanted: Dialect = _UNKNOWN,
    *,
    is_whole: bool = True,
    is_tsv: bool = False,
) -> Dialect:
    """The dialect under which the most records have one width above 1; `"` and commas at a tie.

    One column is the answer only when no delimiter divides at least half of the records alike.
    What is `wanted` is not guessed, nor what a first line `sep=;` tells. `is_whole`: the lines are
    not cut off at the end.
    """
    told = _TOLD.match(lines[0]) if lines else None
    if told and not wanted.delimiter:
        wanted = wanted._replace(delimiter=told["delimiter"])
    order = ("\t", *_DELIMITERS) if is_tsv else _DELIMITERS
    delimiters = (wanted.delimiter,) if wanted.delimiter else order
    # With any `"` about, an open one would pass as text under the other quote.
    quotes = _QUOTES[:1] if any('"' in line for line in lines) else _QUOTES
    quotes = (wanted.quote,) if wanted.quote else quotes
    dialects = [Dialect(delimiter, quote) for quote in quotes for delimiter in delimiters]
    return max(dialects, key=lambda dialect: _fit(lines, dialect, is_whole=is_whole))


class _Records:
    """Numbered records: cells, or the problem of a record whose end is certain."""

    def __init__(self, lines: Iterable[str], dialect: Dialect) -> None:
        self._dialect = dialect
        self._seen: list[str] = []  # physical lines of the record being read
        self._size = 0
        self._line = 1  # on which that record starts
        self._reader = csv.reader(self._followed(lines), **_strict(dialect))

    def __iter__(self) -> Iterator[tuple[int, list[str] | RowProblem]]:
        reader, seen = self._reader, self._seen
        while True:
            self._line = reader.line_num + 1
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as fault:
                yield self._line, self._problem(str(fault))
            else:
                yield self._line, cells
            seen.clear()

    def _followed(self, lines: Iterable[str]) -> Iterator[str]:
        for line in lines:
            if self._seen:
                self._refuse_endless(line)
            else:
                self._size = len(line)
            self._seen.append(line)
            yield line

    def _refuse_endless(self, line: str) -> None:
        self._size += len(line)
        if self._size > MAX_LINE:
            text = (
                f"The record that starts in line {self._line:,} is longer than {MAX_LINE:,} "
                "characters. Close its quotes, or shorten it."
            )
            raise FileProblem("line_too_long", text, line=self._line)
        if len(self._seen) > _HELD_LINES:
            self._seen[:] = ["".join(self._seen)]

    def _problem(self, fault: str) -> RowProblem:
        if "unexpected end" in fault:
            raise self._unclosed()
        place = self._reader.line_num
        if "field limit" in fault:
            code, text = "cell_too_long", _cell_too_long(place)
        else:
            code, text = "bad_quote", _bad_quote(place, self._dialect)
        if place > self._line or self._seen[0].count(self._dialect.mark) % 2:
            raise FileProblem(code, text, line=place)
        return RowProblem(self._line, "", code, text)

    def _unclosed(self) -> FileProblem:
        line = self._line + _line_of_open_quote("".join(self._seen), self._dialect)
        text = (
            f"The quote opened in line {line:,} is never closed. Close it; a quote inside a "
            "quoted cell is written twice."
        )
        return FileProblem("unclosed_quote", text, line=line)


def _strict(dialect: Dialect) -> dict[str, Any]:
    # The csv module keeps one limit for the whole process; no one else here reads CSV.
    csv.field_size_limit(MAX_CELL)
    return {
        "delimiter": dialect.delimiter,
        "quotechar": dialect.mark,
        "quoting": csv.QUOTE_NONE if dialect.quote == UNQUOTED else csv.QUOTE_MINIMAL,
        "doublequote": True,
        "strict": True,
    }


def _line_of_open_quote(record: str, dialect: Dialect) -> int:
    """How many lines below the record's first line its unclosed quote stands."""
    quote, delimiter = re.escape(dialect.quote), re.escape(dialect.delimiter)
    whole_cell = re.compile(
        rf"(?:{quote}(?:[^{quote}]++|{quote}{quote})*+{quote}|(?!{quote})[^{delimiter}\r\n]*+)"
        rf"(?:{delimiter}|\r\n|\r|\n)"
    )
    place = 0
    while found := whole_cell.match(record, place):
        place = found.end()
    return line_ends(record[:place])


def _is_told(line: int, cells: Sequence[str]) -> bool:
    """Whether it is the first line `sep=;`, by which Excel is told what parts columns."""
    return line == 1 and [cell.lower() for cell in cells] in (["sep=", ""], ["sep="])


def _header(
    records: Iterator[tuple[int, list[str] | RowProblem]], dialect: Dialect
) -> tuple[str, ...]:
    for line, cells in records:
        if isinstance(cells, RowProblem):
            raise FileProblem(cells.code, cells.message, line=line)
        if not (_is_blank(cells) or _is_told(line, cells)):
            _refuse_spaced_quotes(cells, line, dialect)
            return checked_columns(cells, line)
    raise _no_rows("no rows")


_Numbered = Iterator[tuple[int, list[str] | RowProblem]]


def _unheaded(records: _Numbered) -> tuple[tuple[str, ...], _Numbered]:
    """Numbered columns, as many as the first record that is not blank, and all records."""
    passed: list[tuple[int, list[str] | RowProblem]] = []
    for line, cells in records:
        if isinstance(cells, RowProblem):
            passed.append((line, cells))
        elif not (_is_blank(cells) or _is_told(line, cells)):
            refuse_many(len(cells), line)
            return numbered_columns(len(cells)), chain([*passed, (line, cells)], records)
    if passed:
        return ("column 1",), iter(passed)
    raise _no_rows("no rows")


def _refuse_spaced_quotes(cells: Sequence[str], line: int, dialect: Dialect) -> None:
    for place, cell in enumerate(cells, start=1):
        name = cell.strip()
        if name != cell and len(name) > 1 and name[0] == name[-1] == dialect.quote:
            text = (
                f"Line {line:,}, column {place}: the space before the quote makes the quote part "
                "of the text. Remove the spaces beside the delimiters."
            )
            raise FileProblem("bad_quote", text, line=line, column=name)


def _no_rows(found: str) -> FileProblem:
    return FileProblem("no_rows", f"The file has {found}. Add at least one.")


def _is_blank(cells: Sequence[str]) -> bool:
    return not cells or (len(cells) == 1 and not cells[0].strip())


def _with_nul(cells: Sequence[str]) -> int | None:
    return next((place for place, cell in enumerate(cells) if "\0" in cell), None)


def _fit(
    lines: Sequence[str], dialect: Dialect, *, is_whole: bool
) -> tuple[bool, bool, float, int]:
    widths, is_clean = _widths(lines, dialect, is_whole=is_whole)
    usual = max(set(widths), key=widths.count, default=0)
    share = widths.count(usual) / len(widths) if usual > 1 else 0.0
    is_even = is_clean and share == 1.0
    return is_even, dialect.quote == '"', share if share >= 0.5 else 0.0, usual if share else 0


def _widths(lines: Sequence[str], dialect: Dialect, *, is_whole: bool) -> tuple[list[int], bool]:
    """The widths of the first records, and whether all of them could be read."""
    widths: list[int] = []
    reader = csv.reader(lines, **_strict(dialect))
    try:
        for cells in reader:
            if not _is_blank(cells):
                widths.append(len(cells))
            if len(widths) >= _SAMPLE_RECORDS:
                return widths, True
    except csv.Error as fault:
        return widths, not is_whole and "unexpected end" in str(fault)
    return (widths if is_whole else widths[:-1] or widths), True


def _wrong_width(line: int, found: int, needed: int, dialect: Dialect) -> RowProblem:
    cells = "1 cell" if found == 1 else f"{found:,} cells"
    columns = "1 column" if needed == 1 else f"{needed:,} columns"
    text = (
        f"Line {line:,} has {cells}, the header has {columns}. Quote texts that hold "
        f"{spoken_delimiter(dialect.delimiter)} or a line end, or choose another delimiter."
    )
    return RowProblem(line, "", "row_width", text)


def _of_first_row(problem: RowProblem) -> RowProblem:
    """Said of a table whose first row is no header."""
    return problem._replace(message=problem.message.replace("the header", "the first row"))


def _nul(line: int, column: str) -> RowProblem:
    text = f"Line {line:,}, column {column}: the cell holds a NUL character. Remove it."
    return RowProblem(line, column, "nul_character", text)


def _cell_too_long(line: int) -> str:
    return (
        f"A cell that reaches line {line:,} is longer than {MAX_CELL:,} characters. "
        "Shorten it, or close the quote that opens it."
    )


def _bad_quote(line: int, dialect: Dialect) -> str:
    return (
        f"Line {line:,}: text follows the closing quote of a cell. Write a quote inside a quoted "
        f"cell twice ({dialect.quote * 2})."
    )
