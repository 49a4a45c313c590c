"""JSON Lines, and one JSON list of objects: read piece by piece, never whole."""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterator
from itertools import count
from typing import Final, NoReturn

from scoring.core.contract import CaseProblem, Json
from scoring.core.files.decoding import Lines, Text, line_ends
from scoring.core.files.rows import MAX_LINE, FileProblem, Row, RowProblem
from scoring.core.files.source import Source
from scoring.core.files.writers import ROWS
from scoring.core.json_text import parse

_SPACE: Final = re.compile(r"[ \t\n\r]*")
# Only finds where a value ends: `parse` judges it. str keeps integers of any length cheap.
_EXTENT: Final = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)
# The longest token that a chunk's end can cut: \ud83d\ude00 or -Infinity.
_CUT_TOKEN: Final = 12
#: What evaluation tools call the list of their rows (inspect_ai: samples, promptfoo: results).
_ROWS_NAMES: Final = frozenset(
    {"cases", "data", "examples", "items", "records", "results", "rows", "samples"}
)
_MAX_MESSAGE: Final = 200  # characters


def read_jsonl(
    source: Source, encoding: str = "", *, skip_lines: int = 0
) -> Iterator[Row | RowProblem]:
    """One JSON object a line; blank lines are left out, and so is a last line `{"_rows": n}`.

    Raises FileProblem `row_count` where there are not n rows before that line.
    """
    rows, end = 0, None
    for line, text in enumerate(Lines(source, encoding), start=1):
        if line <= skip_lines or text.isspace():
            continue
        if end is not None:  # an ordinary row after all
            yield end
            rows, end = rows + 1, None
        row = _row(line, text.rstrip("\r\n"))
        if isinstance(row, Row) and len(row.fields) == 1 and type(row.fields.get(ROWS)) is int:
            end = row
        else:
            yield row
            rows += 1
    if end is not None and (expected := end.fields[ROWS]) != rows:
        text = (
            f"Line {end.line:,} says that {expected:,} rows come before it; there are {rows:,}. "
            "Export the file again, or remove this last line to take the rows that are there."
        )
        raise FileProblem("row_count", text, line=end.line)
    if not rows:
        raise FileProblem("no_rows", "The file has no rows. Add one JSON object a line.")


def read_json(source: Source, encoding: str = "") -> Iterator[Row | RowProblem]:
    """The objects of one list: the document itself, or the only list in its outer object.

    The other members of an outer object are left out, and so are lists after one that is named
    like rows.
    """
    cursor = _Cursor(Text(source, encoding).chunks())
    is_empty = True
    for row in _rows_of_document(cursor):
        is_empty = False
        yield row
    if cursor.next_character():
        cursor.refuse("something follows the end of the document")
    if is_empty:
        raise FileProblem("no_rows", "The list is empty. Add at least one object.")


def _row(line: int, text: str, item: str = "") -> Row | RowProblem:
    """The row of a text; `item` names it in a problem, else its line does."""
    try:
        fields = parse(text, refuse_nul=True)
    except CaseProblem as fault:
        message = _shorten(fault.text.replace(" at line 1, column ", " at column "))
        column = _shorten(fault.where.removeprefix("$"))
        return RowProblem(line, column, fault.code, f"{_where(line, item)}: {message}. Correct it.")
    if not isinstance(fields, dict):
        message = f"this is {_kind(fields)}. Each row must be one JSON object: {{…}}."
        return RowProblem(line, "", "wrong_shape", f"{_where(line, item)}: {message}")
    return Row(line, fields)


def _where(line: int, item: str) -> str:
    return item or f"Line {line:,}"


def _shorten(text: str) -> str:
    """A key in the text may be as long as its line."""
    return text if len(text) <= _MAX_MESSAGE else f"{text[:_MAX_MESSAGE]}…"


def _rows_of_document(cursor: _Cursor) -> Iterator[Row | RowProblem]:
    character = cursor.next_character()
    if character == "[":
        yield from _elements(cursor)
    elif character == "{":
        if not (yield from _inner_rows(cursor, "", is_outer=True)):
            text = "The document is an object without a list. Upload a list of objects: [{…}, …]."
            raise FileProblem("wrong_shape", text, line=1)
    else:
        line, value = cursor.take_value()
        kind = _kind(_parse(value, line))
        text = f"The document holds {kind}. Upload a list of objects: [{{…}}, …]."
        raise FileProblem("wrong_shape", text, line=line)


def _inner_rows(
    cursor: _Cursor, taken: str, *, is_outer: bool
) -> Generator[Row | RowProblem, None, str]:
    """The items of the list in an object. Returns the name of the list taken, "" for none.

    A list under a name of _ROWS_NAMES, which may be inside an object of such a name, holds the
    rows: further lists are left out.
    """
    for name in _members(cursor):
        character, is_rows_name = cursor.next_character(), name in _ROWS_NAMES
        if character == "{" and is_outer and is_rows_name:
            taken = yield from _inner_rows(cursor, taken, is_outer=False)
        elif character != "[" or not (is_rows_name or (is_outer and taken not in _ROWS_NAMES)):
            cursor.take_value()
        elif taken:
            text = f"The document holds two lists, “{taken}” and “{name}”. Upload one alone."
            raise FileProblem("wrong_shape", text, line=cursor.line)
        else:
            taken = name or "(no name)"
            yield from _elements(cursor)
    return taken


def _members(cursor: _Cursor) -> Iterator[str]:
    """The names in an object; the caller takes the value of each."""
    cursor.take()
    if cursor.next_character() == "}":
        cursor.take()
        return
    separator = ","
    while separator == ",":
        line, text = cursor.take_value()
        name = _parse(text, line)
        if not isinstance(name, str) or cursor.take() != ":":
            cursor.refuse("a name in quotes and a colon must come here")
        yield name
        separator = cursor.take()
    if separator != "}":
        cursor.refuse("a comma or } must come here")


def _elements(cursor: _Cursor) -> Iterator[Row | RowProblem]:
    cursor.take()
    if cursor.next_character() == "]":
        cursor.take()
        return
    for number in count(1):
        line, text = cursor.take_value()
        yield _row(line, text, f"Item {number:,} (line {line:,})")
        separator = cursor.take()
        if separator == "]":
            return
        if separator != ",":
            cursor.refuse("a comma or ] must come here")


def _parse(text: str, line: int) -> Json:
    try:
        return parse(text)
    except CaseProblem as fault:
        raise FileProblem(fault.code, f"Line {line:,}: {fault.text}.", line=line) from None


class _Cursor:
    """A position in a JSON text of which only a window is in memory."""

    def __init__(self, chunks: Iterator[str]) -> None:
        self._chunks = chunks
        self._window = ""
        self._position = 0
        self._line = 1  # where the window begins
        self._counted = 0  # the window is counted up to here

    @property
    def line(self) -> int:
        """The line of the next character, counted on from the last call."""
        self._line += line_ends(self._window[self._counted : self._position])
        self._counted = self._position
        return self._line

    def next_character(self) -> str:
        """The next character that is no white space, or "" at the end."""
        while True:
            if space := _SPACE.match(self._window, self._position):
                self._position = space.end()
            if self._position < len(self._window):
                return self._window[self._position]
            if not self._grow():
                return ""

    def take(self) -> str:
        character = self.next_character()
        self._position += len(character)
        return character

    def take_value(self) -> tuple[int, str]:
        """The line on which the next value starts, and its text."""
        self.next_character()
        while True:
            end = self._end_of_value()
            # A number at the window's end may go on behind it.
            if end is not None and (end < len(self._window) or not self._grow()):
                break
        line, text = self.line, self._window[self._position : end]
        self._position = end
        return line, text

    def refuse(self, reason: str) -> NoReturn:
        line = self.line
        raise FileProblem("invalid_json", f"Line {line:,}: {reason}. Correct it.", line=line)

    def _end_of_value(self) -> int | None:
        """Where the value ends in the window; None when the window had to grow first."""
        try:
            return _EXTENT.raw_decode(self._window, self._position)[1]
        except json.JSONDecodeError as fault:
            if self._may_be_cut(fault) and self._grow():
                return None
            self._position = min(fault.pos, len(self._window))
            self.refuse(fault.msg.removesuffix(" at"))
        except RecursionError:
            text = f"Line {self.line:,}: the value is nested too deep. Make it flatter."
            raise FileProblem("too_deep", text, line=self.line) from None

    def _may_be_cut(self, fault: json.JSONDecodeError) -> bool:
        is_open_text = fault.msg.startswith("Unterminated string")
        return is_open_text or fault.pos >= len(self._window) - _CUT_TOKEN

    def _grow(self) -> bool:
        """Drop what was taken and at least double the rest; False at the end of the text."""
        line = self.line
        rest = self._window[self._position :]
        if len(rest) > MAX_LINE:
            text = f"The value in line {line:,} is longer than {MAX_LINE:,} characters. Shorten it."
            raise FileProblem("line_too_long", text, line=line)
        parts = [rest]
        added = 0
        while added <= len(rest) and (chunk := next(self._chunks, "")):
            parts.append(chunk)
            added += len(chunk)
        self._window, self._position, self._counted = "".join(parts), 0, 0
        return added > 0


def _kind(value: Json) -> str:
    if value is None:
        return "null"
    kinds = {str: "a text", bool: "true or false", list: "a list", dict: "an object"}
    return kinds.get(type(value), "a number")
