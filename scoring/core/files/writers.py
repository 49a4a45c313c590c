"""Rows into files: JSON Lines, one JSON list, CSV; each a stream of lines, never a whole file."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal

import orjson

from scoring.core.files.formulas import MARK, MARKED, is_formula, mark_formula

ROWS: Final = "_rows"  # the only name in the last line of JSON Lines


class JsonText:
    """A value stored as JSON text, which is written to JSON files unchanged."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


Fields = Mapping[str, Any]  # JSON values, and JsonText in place of any


def jsonl_lines(rows: Iterable[Fields]) -> Iterator[bytes]:
    """A line per row, then `{"_rows": n}`: a file without that line is truncated."""
    count = 0
    for count, row in enumerate(rows, start=1):  # noqa: B007  counted for the last line
        yield json_line(row)
    yield b'{"%b": %d}\n' % (ROWS.encode(), count)


def json_lines(rows: Iterable[Fields]) -> Iterator[bytes]:
    """One JSON list, a line per row: a file that does not end in `]` is truncated."""
    start = b"[\n"
    for row in rows:
        yield start + json_line(row)[:-1]
        start = b",\n"
    yield b"[]\n" if start == b"[\n" else b"\n]\n"


def csv_lines(
    columns: Sequence[str], rows: Iterable[Sequence[Any]], *, is_verbatim: bool = False
) -> Iterator[bytes]:
    """CSV as defined by RFC 4180, in UTF-8; `rows` have a value for each column.

    Texts are written as they are, other JSON values as JSON, and null, like the empty text, as an
    empty cell. Unless verbatim, cells that a spreadsheet would run as formulas are marked, and
    every cell is quoted, so that programs with other delimiters read it as well.
    """
    quoting: Literal[0, 1] = csv.QUOTE_MINIMAL if is_verbatim else csv.QUOTE_ALL
    write = csv.writer(_Line(), quoting=quoting).writerow
    if not is_verbatim:
        columns = [MARK + name if is_formula(name) else name for name in columns]
    yield str(write(columns if is_verbatim else [*columns, MARKED])).encode()
    for row in rows:
        cells = [cell_text(value) for value in row]
        yield str(write(cells if is_verbatim else mark_formula(columns, cells))).encode()


def json_line(row: Fields) -> bytes:
    """The row as JSON on one line; line ends inside a JsonText become spaces."""
    line = orjson.dumps(row, _as_fragment)
    if b"\n" in line or b"\r" in line:
        line = line.replace(b"\n", b" ").replace(b"\r", b" ")
    return line + b"\n"


def cell_text(value: Any) -> str:
    """The cell of a table for a JSON value."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if not isinstance(value, JsonText):
        return orjson.dumps(value, _as_fragment).decode()
    if value.text.startswith('"'):
        return str(json.loads(value.text))
    return "" if value.text == "null" else value.text


def _as_fragment(value: Any) -> orjson.Fragment:
    if isinstance(value, JsonText):
        return orjson.Fragment(value.text)
    raise TypeError


class _Line:
    """Makes `writerow` return the line that csv.writer writes."""

    def write(self, text: str) -> str:
        return text
