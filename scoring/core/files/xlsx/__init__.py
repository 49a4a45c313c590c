"""Excel workbooks (XLSX): a ZIP archive of XML, read as a stream and without trust in it.

`workbook` opens the archive, `xml_stream` feeds a part to its reader, `fast_cells` matches what is
written as usual, `sheet` and `shared_strings` read the rest, `cell_values` gives the texts of
cells, `shown_numbers` what Excel shows of them, `cell_reading` what rows are read as, `reader` the
rows. Written for this project because existing packages are slower or load the whole workbook: see
docs/decisions/files.md. The elements are named by ECMA-376 part 1.
"""

from scoring.core.files.xlsx.cell_reading import AS_STORED, CellOptions, CellReading
from scoring.core.files.xlsx.reader import read_sheets, read_xlsx

__all__ = ["AS_STORED", "CellOptions", "CellReading", "read_sheets", "read_xlsx"]
