"""Rows of runs, datasets and output sets as files, written as they are read."""

from scoring.engine.export.cases import version_sheet
from scoring.engine.export.formats import FILE_FORMATS, FileFormat, Sheet
from scoring.engine.export.outputs import output_set_sheet
from scoring.engine.export.results import run_sheet

__all__ = ["FILE_FORMATS", "FileFormat", "Sheet", "output_set_sheet", "run_sheet", "version_sheet"]
