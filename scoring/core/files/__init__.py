"""Readers of uploaded files: a file in, a stream of rows, cases and problems out."""

from scoring.core.files.detect import Detected, Format, Header, detect, read_rows
from scoring.core.files.guess import displaced, guess_mapping, map_options
from scoring.core.files.keys import CaseKeys, PlacedKey, case_key
from scoring.core.files.mapping import MappedCase, Mapping, OutputText
from scoring.core.files.near import NearDuplicates
from scoring.core.files.rows import FileProblem, Row, RowProblem
from scoring.core.files.source import Source, open_source
from scoring.core.files.values import MISSING, Missing

__all__ = [
    "MISSING",
    "CaseKeys",
    "Detected",
    "FileProblem",
    "Format",
    "Header",
    "MappedCase",
    "Mapping",
    "Missing",
    "NearDuplicates",
    "OutputText",
    "PlacedKey",
    "Row",
    "RowProblem",
    "Source",
    "case_key",
    "detect",
    "displaced",
    "guess_mapping",
    "map_options",
    "open_source",
    "read_rows",
]
