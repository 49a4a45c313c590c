"""Merged cells, hidden rows and formatted numbers are told, and read as is chosen."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest
from openpyxl import Workbook
from openpyxl.worksheet.worksheet import Worksheet

from tests.support.tables import read_file
from tests.support.workbooks import row_xml, workbook

MANY = 3_000  # rows, most of which are read without the parser


def sheet(*rows: list[Any], then: Callable[[Worksheet], object] = lambda _: None) -> bytes:
    book, stream = Workbook(), io.BytesIO()
    active = book.active
    assert isinstance(active, Worksheet)
    for row in rows:
        active.append(row)
    then(active)
    book.save(stream)
    return stream.getvalue()


def messages(content: bytes, **options: bool) -> list[str]:
    return [note.message for note in read_file(content, "cases.xlsx", **options).notes]


def column(content: bytes, name: str, **options: bool) -> list[str]:
    return [fields[name] for fields in read_file(content, "cases.xlsx", **options).fields]


# Hidden rows.


@pytest.mark.parametrize("count", [4, MANY])
def test_hidden_rows_are_told_and_skipped_on_request(count: int) -> None:
    def hide(active: Worksheet) -> None:
        for line in (3, count):
            active.row_dimensions[line].hidden = True

    content = sheet(["input"], *([f"q{n}"] for n in range(2, count + 2)), then=hide)
    assert len(column(content, "input")) == count
    assert messages(content) == [
        "2 rows are hidden, and read like the others; the first is line 3. “Skip hidden rows” "
        "leaves them out."
    ]
    kept = [f"q{n}" for n in range(2, count + 2) if n not in (3, count)]
    assert column(content, "input", skip_hidden=True) == kept
    skipped = ["2 rows are hidden: skipped. The first is line 3."]
    assert messages(content, skip_hidden=True) == skipped


# Formatted numbers.


def formatted(*cells: tuple[Any, str]) -> bytes:
    def form(active: Worksheet) -> None:
        for line, (_, code) in enumerate(cells, start=2):
            active.cell(line, 1).number_format = code

    return sheet(["expected"], *([value] for value, _ in cells), then=form)


FORMATTED = [
    (1234, "00000", "01234"),
    (0.5, "0%", "50%"),
    (1234.5, '"$"#,##0.00', "$1,234.50"),
    (45657, "mm/dd/yyyy", "12/31/2024"),
    (0.6041666666666666, "hh:mm", "14:30"),
    (0.25, "# ?/?", "1/4"),
    (7, "General", "7"),
    (7, "0", "7"),
    (3, "0.00E+00", "3"),
]


def test_formatted_numbers_are_told_and_read_as_shown_on_request() -> None:
    content = formatted(*((value, code) for value, code, _ in FORMATTED))
    stored = ["1234", "0.5", "1234.5", "2024-12-31", "14:30:00", "0.25", "7", "7", "3"]
    assert column(content, "expected") == stored
    assert messages(content) == [
        "6 cells show something else than is read: A2 “01234” as 1234, A3 “50%” as 0.5, "
        "A4 “$1,234.50” as 1234.5, A5 “12/31/2024” as 2024-12-31, A6 “14:30” as 14:30:00 and "
        "1 more. “Numbers as shown” reads what is shown."
    ]
    assert column(content, "expected", as_shown=True) == [shown for *_, shown in FORMATTED]
    (message,) = messages(content, as_shown=True)
    assert message.startswith("6 numbers are read as Excel shows them: A2 as “01234”, A3 as “50%”")


def test_each_number_of_a_long_sheet_is_counted_and_one_of_a_kind_is_named() -> None:
    content = formatted(*((n, "00000") for n in range(1, MANY)))
    assert column(content, "expected", as_shown=True)[-1] == "02999"
    assert messages(content) == [
        "2,999 cells show something else than is read: A2 “00001” as 1 and 2,998 more. "
        "“Numbers as shown” reads what is shown."
    ]


def test_a_workbook_of_1904_shows_its_own_days() -> None:
    styles = (
        '<styleSheet><numFmts><numFmt numFmtId="164" formatCode="d/m/yyyy"/></numFmts>'
        '<cellXfs><xf numFmtId="0"/><xf numFmtId="164"/></cellXfs></styleSheet>'
    )
    rows = (row_xml("a"), row_xml('<c s="1"><v>0</v></c>'), row_xml('<c s="1"><v>366</v></c>'))
    content = workbook(*rows, styles=styles)
    assert column(content, "a", as_shown=True)[1] == "31/12/1900"
    since_1904 = content_of_1904(content)
    assert column(since_1904, "a") == ["00:00:00", "1905-01-01"]
    assert column(since_1904, "a", as_shown=True) == ["1/1/1904", "1/1/1905"]


def content_of_1904(content: bytes) -> bytes:
    from zipfile import ZipFile

    from tests.support.workbooks import packed

    archive = ZipFile(io.BytesIO(content))
    parts = {name: archive.read(name).decode() for name in archive.namelist()}
    parts["xl/workbook.xml"] = parts["xl/workbook.xml"].replace(
        "<sheets>", '<workbookPr date1904="1"/><sheets>'
    )
    return packed(parts)
