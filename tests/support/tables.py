"""Whole files read as an upload reads them."""

from __future__ import annotations

import io
from typing import Any, NamedTuple

from scoring.core.files import (
    DetectedFormat,
    Note,
    Notes,
    Row,
    RowProblem,
    Source,
    detect_format,
    read_rows,
)


class ReadFile(NamedTuple):
    """What was detected, all rows, and the notes on them."""

    detected: DetectedFormat
    rows: list[Row | RowProblem]
    notes: list[Note]

    @property
    def fields(self) -> list[dict[str, Any]]:
        return [row.fields for row in self.rows if isinstance(row, Row)]


def read_file(content: bytes | str, name: str = "cases.csv", **options: Any) -> ReadFile:
    """Detect and read a file of this name and content."""
    source = Source(io.BytesIO(content.encode() if isinstance(content, str) else content), name)
    notes = Notes()
    detected = detect_format(source, **options)
    rows = list(read_rows(source, detected, notes))
    return ReadFile(detected, rows, list(notes.listed))
