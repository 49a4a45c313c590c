"""Readers of uploaded files: a file in, a stream of rows and row problems out."""

from scoring.core.files.detect import Detected, Format, detect, read_rows
from scoring.core.files.rows import FileProblem, Row, RowProblem
from scoring.core.files.source import Source, open_source

__all__ = [
    "Detected",
    "FileProblem",
    "Format",
    "Row",
    "RowProblem",
    "Source",
    "detect",
    "open_source",
    "read_rows",
]
