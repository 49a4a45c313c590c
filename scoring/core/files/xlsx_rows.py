"""Rows of one sheet of a workbook, as a stream; every cell is a text, as in a CSV file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import BinaryIO, Final, NamedTuple

from scoring.core.files.cell_texts import (
    DAY_FORMATS,
    ELAPSED_FORMAT,
    day_text,
    kind_of_format,
    number_text,
    plain_text,
)
from scoring.core.files.rows import MAX_CELL, FileProblem, Row, RowProblem
from scoring.core.files.shared_texts import SharedTexts
from scoring.core.files.table import checked_columns, numbered_columns, refuse_many
from scoring.core.files.workbook import MAX_DEPTH, Handlers, Workbook, bare, refuse_deep

_MAX_PLACE: Final = 16_384  # columns of a sheet
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class _Cells(NamedTuple):
    """One row of the sheet: its texts from the first column on, and faults of cells by place."""

    line: int
    texts: list[str]
    faults: dict[int, tuple[str, str]]


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
    file: BinaryIO, sheet: str = "", *, has_header: bool = True
) -> tuple[tuple[str, ...], str, tuple[str, ...]]:
    """The names of all sheets, of the one that is read, and of its columns."""
    book = Workbook(file)
    first = next(_rows(book, sheet), None)
    columns = _columns(first, has_header=has_header) if first else ()
    return tuple(book.sheets), book.sheet_named(sheet), columns


def _columns(first: _Cells, *, has_header: bool) -> tuple[str, ...]:
    for place, (code, said) in first.faults.items():
        where = f"Line {first.line:,}, column {letters_of(place)}: "
        raise FileProblem(code, where + said, line=first.line)
    width = max(place for place, text in enumerate(first.texts, start=1) if text)
    refuse_many(width, first.line)
    if has_header:
        return checked_columns(first.texts[:width], first.line)
    return numbered_columns(width)


def _row(cells: _Cells, columns: tuple[str, ...]) -> Row | RowProblem:
    line, texts, faults = cells
    for place, (code, said) in faults.items():
        column = columns[place] if place < len(columns) else ""
        where = f"Line {line:,}, column {column or letters_of(place)}: "
        return RowProblem(line, column, code, where + said)
    missing = len(columns) - len(texts)
    if missing < 0 and any(texts[missing:]):
        return _too_wide(cells, len(columns))
    if missing > 0:
        texts += [""] * missing
    return Row(line, dict(zip(columns, texts, strict=False)))


def _too_wide(cells: _Cells, width: int) -> RowProblem:
    beyond = next(place for place, text in enumerate(cells.texts) if place >= width and text)
    said = (
        f"Line {cells.line:,} has a text in column {letters_of(beyond)}, but the header ends with "
        f"{letters_of(width - 1)}. Name the column, or empty the cell."
    )
    return RowProblem(cells.line, "", "row_width", said)


def letters_of(place: int) -> str:
    """The name a spreadsheet gives to the column at this place, counted from 0."""
    letters = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def _rows(
    book: Workbook, sheet: str, tell_share: Callable[[float], object] = lambda _: None
) -> Iterator[_Cells]:
    reader = _Sheet(book)
    part = book.sheets[book.sheet_named(sheet)]
    for fed in book.read(part, reader.handlers):
        tell_share(fed / book.size_of(part))
        yield from reader.rows
        reader.rows.clear()


class _Sheet:
    """Told of a sheet's elements, it gathers `rows`. Written for speed: it is called for each."""

    def __init__(self, book: Workbook) -> None:
        self.rows: list[_Cells] = []
        self.handlers = Handlers(self._start, self._end, self._text)
        self._shared = SharedTexts(book)
        self._kinds = _kinds_of_styles(book)
        self._is_1904 = book.is_1904
        self._places: dict[str, int] = {}  # letters → place
        self._depth = self._line = self._place = self._size = 0
        self._kind = self._style = ""
        self._parts: list[str] = []  # of the cell's value
        self._takes = self._has_value = self._has_formula = self._is_phonetic = False
        self._texts: list[str] = []  # of the row
        self._faults: dict[int, tuple[str, str]] = {}

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            refuse_deep()
        if name == "v":
            self._takes = self._has_value = True
        elif name == "c":
            self._begin_cell(attributes)
        elif name == "row":
            self._begin_row(attributes.get("r", ""))
        elif name == "t":
            self._takes = not self._is_phonetic
            self._has_value = self._has_value or self._takes
        elif name == "f":
            self._has_formula = True
        elif name == "rPh":
            self._is_phonetic = True
        elif ":" in name:
            self._depth -= 1
            self._start(bare(name), attributes)

    def _end(self, name: str) -> None:
        self._depth -= 1
        if name in ("v", "t"):
            self._takes = False
        elif name == "c":
            self._keep()
        elif name == "row":
            if self._faults or any(self._texts):
                self.rows.append(_Cells(self._line, self._texts, self._faults))
        elif name == "rPh":
            self._is_phonetic = False
        elif ":" in name:
            self._depth += 1
            self._end(bare(name))

    def _text(self, text: str) -> None:
        if not self._takes:
            return
        self._size += len(text)
        if self._size <= MAX_CELL:
            self._parts.append(text)

    def _begin_row(self, number: str) -> None:
        told = int(number) if number.isdecimal() and len(number) < 9 else 0
        self._line = max(self._line + 1, told)
        self._texts, self._faults, self._place = [], {}, -1

    def _begin_cell(self, attributes: dict[str, str]) -> None:
        self._parts, self._size = [], 0
        self._has_value = self._has_formula = False
        self._kind, self._style = attributes.get("t", "n"), attributes.get("s", "")
        reference = attributes.get("r")
        self._place = self._place_of(reference) if reference else self._place + 1

    def _keep(self) -> None:
        if self._size > MAX_CELL:
            said = f"the cell is longer than {MAX_CELL:,} characters. Shorten it."
            self._faults[self._place] = ("cell_too_long", said)
        elif self._has_value:
            raw = self._parts[0] if len(self._parts) == 1 else "".join(self._parts)
            text = self._shared_text(raw) if self._kind == "s" else self._said(raw)
            if "\0" in text or not text.isascii():
                self._find_fault(text)
            if self._place == len(self._texts):
                self._texts.append(text)
            else:
                self._put(text)
        elif self._has_formula:
            said = "the formula has no stored result. Open the workbook, let it compute, save it."
            self._faults[self._place] = ("no_value", said)

    def _put(self, text: str) -> None:
        """The text of a cell that does not follow the one before: behind a gap, or out of order."""
        self._texts += [""] * (self._place + 1 - len(self._texts))
        self._texts[self._place] = text

    def _find_fault(self, text: str) -> None:
        if "\0" in text:
            said = "the cell holds a NUL character. Remove it."
            self._faults[self._place] = ("nul_character", said)
        elif _SURROGATE.search(text):
            said = "the cell holds half a character (a lone surrogate). Remove or replace it."
            self._faults[self._place] = ("invalid_unicode", said)

    def _said(self, text: str) -> str:
        kind = self._kind
        if kind in ("str", "inlineStr"):
            return plain_text(text)
        if kind == "b":
            return {"1": "TRUE", "0": "FALSE"}.get(text, text)
        if kind != "n":
            return text
        style = self._kinds.get(self._style)
        return day_text(text, style, is_1904=self._is_1904) if style else number_text(text)

    def _shared_text(self, place: str) -> str:
        try:
            number, held = int(place), self._shared.held
            return held[number] if 0 <= number < len(held) else self._shared[number]
        except (ValueError, IndexError):
            text = (
                f"Line {self._line:,} of the sheet names a text the workbook lacks. Save it anew."
            )
            raise FileProblem("corrupt_archive", text, line=self._line) from None

    def _place_of(self, reference: str) -> int:
        """The column's place, counted from 0; the next one where the reference has no letters."""
        letters = reference.rstrip("0123456789")
        if not letters:
            return self._place + 1
        if letters not in self._places:
            self._places[letters] = _place_of(letters)
        return self._places[letters]


def _place_of(letters: str) -> int:
    place = 0
    if len(letters) > 3 or not (letters.isascii() and letters.isalpha()):
        place = _MAX_PLACE + 1
    for letter in letters.upper()[:3]:
        place = place * 26 + ord(letter) - ord("A") + 1
    if place > _MAX_PLACE:
        text = f"The workbook names a column {letters[:20]!r} that no sheet has. Save it again."
        raise FileProblem("corrupt_archive", text)
    return place - 1


def _kinds_of_styles(book: Workbook) -> dict[str, str]:
    """`day` or `elapsed` by the number of a cell's style; other styles are left out."""
    part = book.part_of("styles")
    own: dict[str, str] = {}
    kinds: dict[str, str] = {}
    inside: list[str] = []
    count = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal count
        if name == "numFmt":
            own[attributes.get("numFmtId", "")] = kind_of_format(attributes.get("formatCode", ""))
        elif name in ("cellXfs", "cellStyleXfs"):
            inside[:] = [name]
        elif name == "xf" and inside == ["cellXfs"]:
            if kind := _kind_of(attributes.get("numFmtId", ""), own):
                kinds[str(count)] = kind
            count += 1

    if part:
        book.read_whole(part, start)
    return kinds


def _kind_of(number: str, own: dict[str, str]) -> str:
    if number in own:
        return own[number]
    if not number.isdecimal() or len(number) > 4 or int(number) not in DAY_FORMATS:
        return ""
    return "elapsed" if int(number) == ELAPSED_FORMAT else "day"
