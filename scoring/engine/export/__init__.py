"""Rows of runs, datasets and output sets as files, written as they are read."""

from scoring.engine.export.cases import version_sheet
from scoring.engine.export.outputs import output_set_sheet
from scoring.engine.export.results import run_sheet
from scoring.engine.export.sheet import FILE_FORMATS, FileFormat, Sheet

__all__ = ["FILE_FORMATS", "FileFormat", "Sheet", "output_set_sheet", "run_sheet", "version_sheet"]
