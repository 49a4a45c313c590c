"""What a cell stands for."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from tests.core.files.xlsx.test_reader import read
from tests.support.workbooks import put, row_xml, workbook


def cell(path: Path) -> Any:
    """The one cell below the header."""
    ((value,),) = [row.values() for row in read(path)]
    return value


def saved(folder: Path, *rows: list[Any]) -> Path:
    """A workbook as openpyxl, which shares no line with the reader, writes it."""
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    path = folder / "cases.xlsx"
    book.save(path)
    return path


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("Größe 😀\t\n line", "Größe 😀\t\n line"),
        ("  spaces kept  ", "  spaces kept  "),
        ("007", "007"),
        ("_x0041_", "A"),  # an escape by the standard, which openpyxl writes unescaped
        (7, "7"),
        (-12, "-12"),
        (0.1, "0.1"),
        (1e21, "1e+21"),
        (True, "TRUE"),
        (False, "FALSE"),
        (date(2026, 11, 22), "2026-11-22"),
        (datetime(2026, 11, 22, 9, 30), "2026-11-22T09:30:00"),
        (datetime(2026, 11, 22, 9, 30, 1, 250_000), "2026-11-22T09:30:01.250"),
        (datetime(1900, 1, 1), "1900-01-01"),
        (datetime(1900, 3, 1), "1900-03-01"),
        (time(23, 59, 59), "23:59:59"),
        (timedelta(hours=36, minutes=5), "36:05:00"),
    ],
)
def test_a_cell_is_the_text_it_stands_for(tmp_path: Path, value: Any, text: str) -> None:
    assert cell(saved(tmp_path, ["a"], [value])) == text


@pytest.mark.parametrize(
    ("xml", "text"),
    [
        ('<c t="str"><f>A1</f><v>kept</v></c>', "kept"),
        ("<c><f>1/3</f><v>0.33333333333333331</v></c>", "0.3333333333333333"),
        ('<c t="str"><f>""</f><v></v></c>', ""),
        ('<c t="str"><f>""</f><v/></c>', ""),
        ("<c><v></v></c>", ""),
        ('<c t="e"><f>1/0</f><v>#DIV/0!</v></c>', "#DIV/0!"),
        ('<c t="d"><v>2026-11-22</v></c>', "2026-11-22"),
        ("<c><v>0.30000000000000004</v></c>", "0.30000000000000004"),
        ("<c><v>0.10000000000000001</v></c>", "0.1"),
        ("<c><v>123456789012345678</v></c>", "123456789012345678"),
        ("<c><v>1E+21</v></c>", "1e+21"),
    ],
)
def test_a_formula_or_number_gives_what_is_stored(tmp_path: Path, xml: str, text: str) -> None:
    path = put(tmp_path, workbook(row_xml("a", "b"), row_xml(xml, "x")))
    assert read(path) == [{"a": text, "b": "x"}]
