"""Workbooks: what each kind of cell says, which sheet is read, and what is refused."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from scoring.core.files import FileProblem, Row, detect_format, read_rows
from tests.support.workbooks import put, row_xml, simple, workbook


def read(path: Path, **options: Any) -> list[dict[str, Any]]:
    rows = list(read_rows(path, detect_format(path, **options)))
    assert all(isinstance(row, Row) for row in rows), rows
    return [row.fields for row in rows if isinstance(row, Row)]


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (workbook(), "no_rows"),
        (simple(("id", "input")), "no_rows"),
        (simple(("id", " ID "), ("1", "2")), "duplicate_column"),
        (simple(("id", "", "input"), ("1", "2", "3")), "empty_column_name"),
        (simple(tuple(f"c{n}" for n in range(1001))), "too_many_columns"),
        (workbook(row_xml('<c r="ABCD1"><v>1</v></c>')), "corrupt_archive"),
        (workbook(row_xml('<c t="s"><v>0</v></c>')), "corrupt_archive"),
        (workbook(row_xml("<c><f>A2</f></c>")), "no_value"),
    ],
)
def test_a_sheet_that_is_no_table_says_why(tmp_path: Path, content: bytes, code: str) -> None:
    path = put(tmp_path, content)
    with pytest.raises(FileProblem) as raised:
        list(read_rows(path, detect_format(path)))
    assert raised.value.code == code


# Sheets


def test_the_first_sheet_that_shows_is_read_unless_another_is_chosen(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.title = "Notes"
    book.active.append(["n"])
    book.active.append(["hidden"])
    book.active.sheet_state = "hidden"
    for name in ("One", "Two"):
        sheet = book.create_sheet(name)
        sheet.append(["a"])
        sheet.append([name])
    path = tmp_path / "cases.xlsx"
    book.save(path)
    found = detect_format(path)
    assert (found.sheet, found.sheets) == ("One", ("One", "Two", "Notes"))
    assert read(path) == [{"a": "One"}]
    assert read(path, sheet="Two") == [{"a": "Two"}]
    assert read(path, sheet="Notes") == [{"n": "hidden"}]
    with pytest.raises(FileProblem) as raised:
        detect_format(path, sheet="Three")
    assert raised.value.code == "missing_sheet"
    assert "One, Two, Notes" in raised.value.text


def test_without_a_header_columns_are_numbered(tmp_path: Path) -> None:
    path = put(tmp_path, simple(("1", "x"), ("2", "y")))
    assert read(path, header="no") == [
        {"column 1": "1", "column 2": "x"},
        {"column 1": "2", "column 2": "y"},
    ]


# Size


def test_memory_stays_flat_however_many_rows_there_are(tmp_path: Path) -> None:
    peaks = []
    for count in (1_000, 8_000):
        rows = (row_xml(f"{n}", "some text " * 10) for n in range(count))
        path = put(tmp_path, workbook(row_xml("a", "b"), *rows))
        found = detect_format(path)
        tracemalloc.start()
        assert sum(1 for _ in read_rows(path, found)) == count
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] * 1.5
