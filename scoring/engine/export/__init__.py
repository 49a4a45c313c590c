"""Rows of runs, datasets and output sets as files, written as they are read."""

from scoring.engine.export.audit import audit_table
from scoring.engine.export.cases import version_table
from scoring.engine.export.formats import FILE_FORMATS, ExportTable, FileFormat
from scoring.engine.export.outputs import output_set_table
from scoring.engine.export.results import run_table

__all__ = [
    "FILE_FORMATS",
    "ExportTable",
    "FileFormat",
    "audit_table",
    "output_set_table",
    "run_table",
    "version_table",
]
