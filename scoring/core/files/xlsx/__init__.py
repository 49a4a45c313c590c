"""Excel workbooks (XLSX): a ZIP archive of XML, read as a stream and without trust in it.

`workbook` opens the archive, `xml_stream` feeds a part to its reader, `fast_cells` matches what is
written as usual, `sheet` and `shared_strings` read the rest, `cell_values` gives the texts of
cells, `reader` the rows. Written for this project because existing packages are slower or load the
whole workbook: see docs/decisions/files.md. The elements are named by ECMA-376 part 1.
"""

from scoring.core.files.xlsx.reader import read_sheets, read_xlsx

__all__ = ["read_sheets", "read_xlsx"]
