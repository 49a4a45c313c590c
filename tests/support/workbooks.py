"""Workbooks for tests: parts written by hand, so that every oddity can be had."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

_MAIN: Final = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_DOCUMENT: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE: Final = "http://schemas.openxmlformats.org/package/2006/relationships"


def sheet_xml(rows: str) -> str:
    return f'<worksheet xmlns="{_MAIN}"><sheetData>{rows}</sheetData></worksheet>'


def texts_xml(*texts: str) -> str:
    items = "".join(f"<si><t>{text}</t></si>" for text in texts)
    return f'<sst xmlns="{_MAIN}">{items}</sst>'


def row_xml(*cells: str, line: int = 0) -> str:
    """Cells of inline texts; one that begins with < is taken as it is."""
    inner = "".join(
        cell if cell.startswith("<") else f'<c t="inlineStr"><is><t>{cell}</t></is></c>'
        for cell in cells
    )
    return f'<row r="{line}">{inner}</row>' if line else f"<row>{inner}</row>"


def parts_of(sheets: Mapping[str, str], **more: str) -> dict[str, str]:
    """All parts of a workbook with these sheets: name → XML. `more` are sharedStrings, styles."""
    names = "".join(
        f'<sheet name="{name}" sheetId="{n}" r:id="rId{n}"/>' for n, name in enumerate(sheets, 1)
    )
    related = "".join(
        f'<Relationship Id="rId{n}" Type="{_DOCUMENT}/worksheet" Target="worksheets/s{n}.xml"/>'
        for n in range(1, len(sheets) + 1)
    )
    related += "".join(
        f'<Relationship Id="{kind}" Type="{_DOCUMENT}/{kind}" Target="/xl/{kind}.xml"/>'
        for kind in more
    )
    return {
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_DOCUMENT}">'
        f"<sheets>{names}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}">{related}'
        "</Relationships>",
        **{f"xl/worksheets/s{n}.xml": xml for n, xml in enumerate(sheets.values(), 1)},
        **{f"xl/{kind}.xml": xml for kind, xml in more.items()},
    }


def packed(parts: Mapping[str, str | bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return stream.getvalue()


def workbook(*rows: str, **more: str) -> bytes:
    """A workbook of one sheet with these rows as XML."""
    return packed(parts_of({"Cases": sheet_xml("".join(rows))}, **more))


def simple(*rows: tuple[str, ...]) -> bytes:
    """A workbook of one sheet with these texts."""
    return workbook(*(row_xml(*row) for row in rows))


def put(folder: Path, content: bytes, name: str = "cases.xlsx") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


DOCTYPE: Final = '<!DOCTYPE a [<!ENTITY b "c">]>'

#: file name, content, code: what no reading of a workbook survives
UNUSABLE: Final[list[tuple[str, bytes, str]]] = [
    ("text.xlsx", b"id,input\n1,a\n", "type_mismatch"),
    ("book.csv", simple(("id", "input"), ("1", "a")), "type_mismatch"),
    ("cut.xlsx", simple(("id", "input"), ("1", "a"))[:-30], "corrupt_archive"),
    ("start.xlsx", b"PK\x03\x04 and no more", "corrupt_archive"),
    ("old.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "unsupported_workbook"),
    ("locked.xlsx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "unsupported_workbook"),
    ("binary.xlsb", packed({"xl/workbook.bin": "x"}), "unsupported_workbook"),
    ("letter.xlsx", packed({"word/document.xml": "<a/>"}), "unsupported_workbook"),
    ("empty.xlsx", packed(parts_of({})), "unsupported_workbook"),
    ("out.xlsx", packed({"../xl/workbook.xml": "<a/>"}), "unsafe_archive"),
    ("root.xlsx", packed({"/etc/passwd": "x"}), "unsafe_archive"),
    ("many.xlsx", packed({f"x{n}": "" for n in range(10_001)}), "unsafe_archive"),
    (
        "entities.xlsx",
        packed(parts_of({"A": DOCTYPE + sheet_xml(row_xml("id", "input") + row_xml("1", "a"))})),
        "unsafe_xml",
    ),
    ("deep.xlsx", workbook("<row>" + "<a>" * 70 + "</a>" * 70 + "</row>"), "unsafe_xml"),
    ("torn.xlsx", packed(parts_of({"A": "<worksheet><sheetData><row>"})), "corrupt_archive"),
]

_STYLES: Final = (
    '<styleSheet><numFmts><numFmt numFmtId="164" formatCode="00000"/></numFmts>'
    '<cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="9"/></cellXfs></styleSheet>'
)
#: Merged tags of two cases, a hidden row between them, and numbers that show 01234 and 50%.
FORMATTED_BOOK: Final = workbook(
    row_xml("id", "input", "expected", "tags", line=1),
    row_xml("1", "Zip?", '<c s="1"><v>1234</v></c>', "x", line=2),
    row_xml("hidden", "old", "no", line=3).replace("<row ", '<row hidden="1" '),
    row_xml("2", "Share?", '<c s="2"><v>0.5</v></c>', line=4),
    '</sheetData><mergeCells><mergeCell ref="D2:D4"/></mergeCells><sheetData>',
    styles=_STYLES,
)
