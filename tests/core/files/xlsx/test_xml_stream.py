"""What the parser is given of a part, and what it refuses."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import openpyxl
import pytest

from scoring.core.files import FileProblem, Row, detect_format, read_rows
from tests.core.files.xlsx.test_fast_cells import bytes_parsed, content_of, outcome, parsed
from tests.support import workbooks
from tests.support.workbooks import packed, parts_of, put, row_xml, sheet_xml, workbook


@pytest.mark.parametrize("encoding", ["iso-8859-1", "windows-1252", "utf-16"])
def test_a_sheet_in_another_encoding_is_left_to_the_parser(encoding: str) -> None:
    text = "Â£ ä"  # two bytes of Latin-1 that would pass for one sign of UTF-8
    rows = workbooks.row_xml("one") + workbooks.row_xml(text) * 500
    sheet = f'<?xml version="1.0" encoding="{encoding}"?>{workbooks.sheet_xml(rows)}'
    content = workbooks.packed(
        workbooks.parts_of({"A": ""}) | {"xl/worksheets/s1.xml": sheet.encode(encoding)}
    )
    read = outcome(content, 1_000)
    assert [row.fields for row in read[1:] if isinstance(row, Row)] == [{"column 1": text}] * 500


def test_bytes_that_are_no_utf8_are_refused_wherever_they_are() -> None:
    rows = workbooks.row_xml("one") + workbooks.row_xml("x" * 50) * 500
    sheet = (
        workbooks.sheet_xml(rows + workbooks.row_xml("BAD")).encode().replace(b"BAD", b"\xff\xfe")
    )
    content = workbooks.packed(workbooks.parts_of({"A": ""}) | {"xl/worksheets/s1.xml": sheet})
    assert outcome(content, 1_000) == parsed(content)
    assert outcome(content, 1_000)[0] == "corrupt_archive"


def test_a_row_longer_than_what_is_held_goes_to_the_parser() -> None:
    texts = ("x" * 90_000, "y" * 90_000, "z" * 900_000)
    content = content_of(workbooks.row_xml(*texts) + workbooks.row_xml("1", "2", "3") * 9)
    read = outcome(content)
    assert isinstance(read, list)
    assert [row.fields for row in read if isinstance(row, Row)][1] == dict(
        zip(("column 1", "column 2", "column 3"), texts, strict=True)
    )
    assert len(read) == 11


def test_a_workbook_of_openpyxl_hardly_meets_the_parser(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    lines = [(f"case-{n}", f"a < b & {n}", n, n / 7, None, n % 2 == 0) for n in range(5_000)]
    for line in lines:
        book.active.append(line)
    book.save(tmp_path / "cases.xlsx")
    content = (tmp_path / "cases.xlsx").read_bytes()
    with bytes_parsed() as counts:
        read = outcome(content)
    whole = sum(part.file_size for part in zipfile.ZipFile(io.BytesIO(content)).infolist())
    assert sum(counts.values()) < whole / 5
    assert read == parsed(content)


def test_a_tag_without_end_is_not_held(tmp_path: Path) -> None:
    path = put(tmp_path, workbook(f'<row r="{"1" * 17 * 1024**2}"/>'))
    with pytest.raises(FileProblem) as raised:
        detect_format(path)
    assert raised.value.code == "line_too_long"


def test_a_damaged_part_is_told_when_it_is_reached(tmp_path: Path) -> None:
    rows = "".join(row_xml(f"{n}", "x" * 50) for n in range(3_000))
    parts = parts_of({"A": sheet_xml(row_xml("a", "b") + rows)})
    content = packed(parts).replace(b"PK\x01\x02", b"PK\x01\x02", 1)
    place = content.index(b"worksheets/s1.xml") + 2_000
    path = put(tmp_path, content[:place] + b"\0\xff\0" + content[place + 3 :])
    with pytest.raises(FileProblem) as raised:
        list(read_rows(path, detect_format(path)))
    assert raised.value.code == "corrupt_archive"
