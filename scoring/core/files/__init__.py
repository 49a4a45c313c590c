"""Readers of uploaded files: a file in, a stream of rows, cases and problems out."""

from scoring.core.files.case_keys import AssignedKey, CaseKeys, case_key
from scoring.core.files.columns.blank_cells import BlankCells
from scoring.core.files.columns.guess import displaced_fields, guess_mapping, map_options
from scoring.core.files.columns.mapping import MappedCase, Mapping, OutputText
from scoring.core.files.columns.python_cells import PythonCells
from scoring.core.files.format_detection import (
    DetectedFormat,
    Format,
    Header,
    detect_format,
    read_rows,
)
from scoring.core.files.near_duplicates import NearDuplicates
from scoring.core.files.notes import Note, Notes
from scoring.core.files.rows import MISSING, FileProblem, Missing, Row, RowProblem
from scoring.core.files.source import Source, open_source

__all__ = [
    "MISSING",
    "AssignedKey",
    "BlankCells",
    "CaseKeys",
    "DetectedFormat",
    "FileProblem",
    "Format",
    "Header",
    "MappedCase",
    "Mapping",
    "Missing",
    "NearDuplicates",
    "Note",
    "Notes",
    "OutputText",
    "PythonCells",
    "Row",
    "RowProblem",
    "Source",
    "case_key",
    "detect_format",
    "displaced_fields",
    "guess_mapping",
    "map_options",
    "open_source",
    "read_rows",
]
