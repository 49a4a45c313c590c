"""Rows ready to be written in any format, and the formats."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from scoring.core.files.writers import Fields, csv_lines, json_lines, jsonl_lines

BATCH: Final = 900  # rows a query names by id; SQLite may be built for 999 parameters
CHUNK: Final = 64 * 1024  # bytes, at least, of what is sent at once
_STEM_LENGTH: Final = 60  # characters, so that the file's name has at most 255 bytes


@dataclass(frozen=True)
class ExportTable:
    """`count` rows that each call of `read` yields; `cells` are a row's values by column.

    `left_out` rows are not among them, because the reader is yet to review what they are about.

    Texts are read in batches while they are written: a row that is deleted meanwhile ends the
    stream with KeyError, before its last line.
    """

    name: str
    count: int
    columns: Sequence[str]
    read: Callable[[], Iterator[Fields]]
    cells: Callable[[Fields], Sequence[Any]]
    left_out: int = 0

    def stream(self, file_format: str, *, is_verbatim: bool = False) -> Iterator[bytes]:
        """The file in chunks; `is_verbatim` leaves formulas in CSV unmarked."""
        return _chunks(FILE_FORMATS[file_format].lines(self, is_verbatim))

    def file_name(self, file_format: str) -> str:
        return f"{safe_file_stem(self.name)}.{file_format}"


@dataclass(frozen=True)
class FileFormat:
    content_type: str
    lines: Callable[[ExportTable, bool], Iterator[bytes]]


def _csv(sheet: ExportTable, is_verbatim: bool) -> Iterator[bytes]:
    cells = (sheet.cells(row) for row in sheet.read())
    return csv_lines(sheet.columns, cells, is_verbatim=is_verbatim)


FILE_FORMATS: Final[Mapping[str, FileFormat]] = {
    "csv": FileFormat("text/csv; charset=utf-8", _csv),
    "jsonl": FileFormat("application/x-ndjson", lambda sheet, _: jsonl_lines(sheet.read())),
    "json": FileFormat("application/json", lambda sheet, _: json_lines(sheet.read())),
}


def safe_file_stem(name: str) -> str:
    """A file's name, without ending, that every system takes: letters, digits, `-`, `_`, `.`."""
    plain = re.sub(r"[^\w.]+|\.{2,}", "-", name).strip("-._")[:_STEM_LENGTH]
    return plain or "export"


def batches(rows: Sequence[int]) -> Iterator[Sequence[int]]:
    return (rows[start : start + BATCH] for start in range(0, len(rows), BATCH))


def _chunks(lines: Iterable[bytes]) -> Iterator[bytes]:
    chunk = bytearray()
    for line in lines:
        chunk += line
        if len(chunk) >= CHUNK:
            yield bytes(chunk)
            chunk.clear()
    if chunk:
        yield bytes(chunk)
