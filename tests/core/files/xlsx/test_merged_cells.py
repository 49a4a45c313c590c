"""Merged cells are told, and have their value throughout on request."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from openpyxl.worksheet.worksheet import Worksheet

from tests.core.files.xlsx.test_cell_reading import MANY, column, messages, sheet
from tests.support.tables import read_file
from tests.support.workbooks import row_xml, workbook


def merging(*references: str) -> Callable[[Worksheet], object]:
    def merge(active: Worksheet) -> None:
        for reference in references:
            active.merge_cells(reference)

    return merge


TOPICS = [["input", "tags"], ["a", "x"], ["b", None], ["c", "y"], ["d", None], ["e", None]]


def test_merged_cells_are_told_and_filled_on_request() -> None:
    content = sheet(*TOPICS, then=merging("B2:B3", "B4:B6"))
    assert column(content, "tags") == ["x", "", "y", "", ""]
    assert messages(content) == [
        "2 groups of cells are merged (B2:B3, B4:B6): only the first cell of each has the value, "
        "the others are empty. “Fill merged cells” gives it to all."
    ]
    assert column(content, "tags", fill_merged=True) == ["x", "x", "y", "y", "y"]
    assert messages(content, fill_merged=True) == [
        "2 groups of merged cells (B2:B3, B4:B6) all have the value of their first cell."
    ]


def test_cells_side_by_side_are_filled_too_but_not_the_header() -> None:
    rows = [["id", "input", "tags"], ["1", "a", None], ["2", None, "t"]]
    content = sheet(*rows, then=merging("B2:C2", "A3:B3"))
    assert read_file(content, "cases.xlsx", fill_merged=True).fields == [
        {"id": "1", "input": "a", "tags": "a"},
        {"id": "2", "input": "2", "tags": "t"},
    ]
    title = sheet(["About", None], ["input", "tags"], ["a", "x"], then=merging("A1:B1"))
    found = read_file(title, "cases.xlsx", fill_merged=True, skip_lines=1)
    assert found.fields == [{"input": "a", "tags": "x"}]
    assert found.notes == []


def test_merged_cells_of_a_long_sheet_are_filled() -> None:
    rows = [[f"q{n}", f"t{n}" if not n % 3 else None] for n in range(MANY)]
    groups = (f"B{n + 2}:B{n + 4}" for n in range(0, MANY, 3))
    content = sheet(["input", "tags"], *rows, then=merging(*groups))
    assert column(content, "tags", fill_merged=True) == [f"t{n - n % 3}" for n in range(MANY)]
    (message,) = messages(content)
    named = "B2:B4, B5:B7, B8:B10, B11:B13, B14:B16 and 995 more"
    assert message.startswith(f"1,000 groups of cells are merged ({named})")


@pytest.mark.parametrize("reference", ["", "B2", "2:3", "B2:B3:B4", "ZZZZ1:B2", "B99999999:B3"])
def test_references_that_are_none_change_nothing(reference: str) -> None:
    rows = (row_xml("input", "tags"), row_xml("a", "x"))
    xml = f'</sheetData><mergeCells><mergeCell ref="{reference}"/></mergeCells><sheetData>'
    content = workbook(*rows, xml)
    assert column(content, "tags", fill_merged=True) == ["x"]


def test_tags_of_merged_cells_stand_where_a_chunk_ends() -> None:
    """The reference is found however its tag is cut in two by what is read at once."""
    for length in range(65_380, 65_560, 3):
        xml = (
            f'</sheetData><x y="{"z" * length}"/><mergeCells><mergeCell ref="B2:B3"/></mergeCells>'
        )
        content = workbook(
            *(row_xml(*row) for row in (("a", "b"), ("1", "x"), ("2",))), xml, "<sheetData>"
        )
        assert column(content, "b", fill_merged=True) == ["x", "x"]
