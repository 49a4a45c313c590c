"""Excel workbooks (XLSX): a ZIP archive of XML, read as a stream and with suspicion.

`workbook` opens the archive, `feed` gives a part to its reader, `plain` knows how most of it is
written, `sheet` and `shared_texts` read, `values` says what a cell stands for, `rows` makes rows.
Written for this project because what there is reads slower or holds the whole workbook: see
docs/decisions/files.md. ECMA-376 part 1 names the elements.
"""

from scoring.core.files.xlsx.rows import read_sheets, read_xlsx

__all__ = ["read_sheets", "read_xlsx"]
