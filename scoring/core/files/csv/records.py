"""CSV records: cells with the line on which each record begins."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Any, Final, NamedTuple, Protocol

from scoring.core.files.decoding import line_ends
from scoring.core.files.notes import QUOTE_IN_CELL, ROW_OF_DELIMITERS, Notes
from scoring.core.files.rows import MAX_CELL, MAX_LINE, FileProblem, RowProblem

UNQUOTED: Final = "none"
_STAND_IN: Final = "\ud800"  # half a character, which no decoded text holds
_HELD_LINES: Final = 50_000  # then joined, since short texts cost ten times their length


class Dialect(NamedTuple):
    """`quote` is one sign, or UNQUOTED where quotes are text; a delimiter may have several."""

    delimiter: str
    quote: str

    @property
    def mark(self) -> str:
        """The quote character; one that no text holds for UNQUOTED."""
        return "\ufffe" if self.quote == UNQUOTED else self.quote


class CellReader(Protocol):
    """The interface of `csv.reader`."""

    @property
    def line_num(self) -> int: ...

    def __iter__(self) -> Iterator[list[str]]: ...

    def __next__(self) -> list[str]: ...


class LongDelimiterReader:
    """A `csv.reader` for delimiters of several characters, for which one character stands in."""

    def __init__(self, lines: Iterable[str], dialect: Dialect) -> None:
        self._delimiter = dialect.delimiter
        replaced = (line.replace(dialect.delimiter, _STAND_IN) for line in lines)
        self._reader = csv.reader(replaced, **_strict(dialect._replace(delimiter=_STAND_IN)))

    @property
    def line_num(self) -> int:
        return self._reader.line_num

    def __iter__(self) -> Iterator[list[str]]:
        return self

    def __next__(self) -> list[str]:
        cells = [cell.replace(_STAND_IN, self._delimiter) for cell in next(self._reader)]
        if any(len(cell) > MAX_CELL for cell in cells):
            raise csv.Error(f"field larger than field limit ({MAX_CELL})")
        return cells


def open_reader(lines: Iterable[str], dialect: Dialect) -> CellReader:
    """Yields the cells of each record; raises csv.Error."""
    if len(dialect.delimiter) > 1:
        return LongDelimiterReader(lines, dialect)
    return csv.reader(lines, **_strict(dialect))


class Records:
    """Numbered records: cells, or the problem of a record whose end is certain.

    Left out are the first `skip_lines` lines and, with a note, records of nothing but delimiters.
    """

    def __init__(
        self,
        lines: Iterable[str],
        dialect: Dialect,
        notes: Notes | None = None,
        *,
        skip_lines: int = 0,
    ) -> None:
        self._dialect = dialect
        self._notes = notes or Notes()
        self._skipped = skip_lines
        self._seen: list[str] = []  # physical lines of the record being read
        self._size = 0
        self._line = 1  # on which that record starts
        self._reader = open_reader(self._track(islice(lines, skip_lines, None)), dialect)

    def __iter__(self) -> Iterator[tuple[int, list[str] | RowProblem]]:
        reader, seen, mark = self._reader, self._seen, self._dialect.mark
        while True:
            self._line = reader.line_num + 1 + self._skipped
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as fault:
                yield self._line, self._problem(str(fault))
            else:
                text = "".join(cells)  # quicker than to look at each
                if mark in text:
                    yield self._line, self._check_quotes() or cells
                elif text or len(cells) < 2 or not self._is_bare():
                    yield self._line, cells
            seen.clear()

    def _is_bare(self) -> bool:
        """Whether the record holds nothing but delimiters, not even quotes; notes it if so."""
        is_bare = self._dialect.mark not in "".join(self._seen)
        if is_bare:
            self._notes.add(ROW_OF_DELIMITERS, self._line)
        return is_bare

    def _track(self, lines: Iterable[str]) -> Iterator[str]:
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

    def _check_quotes(self) -> RowProblem | None:
        """Note a quote inside a cell that is not quoted; one after a space is a problem."""
        record, mark = "".join(self._seen), self._dialect.mark
        if _tidy_pattern(self._dialect).match(record):  # the usual case, kept short
            return None
        bare = [cell for cell in _bare_cells(record, self._dialect) if mark in cell]
        spaced = next((cell for cell in bare if cell.lstrip().startswith(mark)), None)
        if spaced is None:
            if bare:
                self._notes.add(QUOTE_IN_CELL, self._line)
            return None
        text = _spaced_quote(self._line, self._dialect)
        if record.count(mark) % 2:
            raise FileProblem("bad_quote", text, line=self._line)
        return RowProblem(self._line, "", "bad_quote", text)

    def _problem(self, fault: str) -> RowProblem:
        if "unexpected end" in fault:
            raise self._unclosed()
        last_line = self._reader.line_num + self._skipped
        if "field limit" in fault:
            code, text = "cell_too_long", _cell_too_long(last_line)
        else:
            code, text = "bad_quote", _bad_quote(last_line, self._dialect)
        if last_line > self._line or self._seen[0].count(self._dialect.mark) % 2:
            raise FileProblem(code, text, line=last_line)
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


@lru_cache(maxsize=64)
def _tidy_pattern(dialect: Dialect) -> re.Pattern[str]:
    """Matches records whose quotes all quote cells; for a few of them the other one is needed."""
    quote, delimiter = re.escape(dialect.mark), re.escape(dialect.delimiter)
    first = re.escape(dialect.delimiter[0])
    cell = rf"(?:{quote}(?:[^{quote}]++|{quote}{quote})*+{quote}|[^{quote}{first}\r\n]*+)"
    return re.compile(rf"{cell}(?:{delimiter}{cell})*+[\r\n]*+\Z")


@lru_cache(maxsize=64)
def _cell_pattern(dialect: Dialect) -> re.Pattern[str]:
    """One whole cell with what ends it; `bare` is its text where it is not quoted."""
    quote, delimiter = re.escape(dialect.mark), re.escape(dialect.delimiter)
    sign = f"[^{delimiter}\r\n]" if len(dialect.delimiter) == 1 else f"(?!{delimiter})[^\r\n]"
    # Not `*+` in `bare`, whose group Python 3.11.2 loses; the rest of the pattern ends it anyway.
    return re.compile(
        rf"(?:{quote}(?:[^{quote}]++|{quote}{quote})*+{quote}|(?!{quote})(?P<bare>(?:{sign})*))"
        rf"(?:{delimiter}|\r\n|\r|\n|\Z)"
    )


def _bare_cells(record: str, dialect: Dialect) -> list[str]:
    """The texts of those cells of a well-formed record that are not quoted."""
    return [match["bare"] or "" for match in _cell_pattern(dialect).finditer(record)]


def _line_of_open_quote(record: str, dialect: Dialect) -> int:
    """How many lines below the record's first line its unclosed quote is."""
    pattern, position = _cell_pattern(dialect), 0
    while (match := pattern.match(record, position)) and match.end() > position:
        position = match.end()
    return line_ends(record[:position])


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


def _spaced_quote(line: int, dialect: Dialect) -> str:
    sign = dialect.delimiter
    is_shown = len(sign) == 1 and sign.isprintable()
    other = f", or choose “{sign} ” as the delimiter" if is_shown else ""
    return (
        f"Line {line:,}: a space before a quote makes the quote part of the text. Remove the "
        f"spaces beside the delimiters{other}."
    )
