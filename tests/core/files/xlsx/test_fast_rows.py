"""Rows past the parser: their lines, the place of their cells, and what is left to the parser."""

from __future__ import annotations

import io

import pytest

from scoring.core.files.xlsx.cell_values import Values
from scoring.core.files.xlsx.fast_rows import plain_rows
from scoring.core.files.xlsx.workbook import Workbook
from tests.support.workbooks import row_xml, texts_xml, workbook


@pytest.fixture
def values() -> Values:
    content = workbook(row_xml("a"), sharedStrings=texts_xml("zero", "one"))
    return Values(Workbook(io.BytesIO(content)))


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ("<row><c><v>1</v></c></row><row><c><v>2</v></c></row>", [(8, ["1"]), (9, ["2"])]),
        ('<row r="8"><c><v>1</v></c></row><row r="12"><c/></row>', [(8, ["1"])]),
        ('<row r="3"><c><v>1</v></c></row>', [(8, ["1"])]),  # no line goes back
        ('<row><c r="B8"><v>1</v></c><c r="D8" t="s"><v>1</v></c></row>',
         [(8, ["", "1", "", "one"])]),
    ],
)  # fmt: skip
def test_rows_and_cells_are_where_their_names_say(
    values: Values, rows: str, found: list[tuple[int, list[str]]]
) -> None:
    result = plain_rows(rows, values, 7)
    assert result is not None
    assert [(cells.line, cells.texts) for cells in result[0]] == found


@pytest.mark.parametrize(
    "rows",
    [
        '<row><c t="s"><v>2</v></c></row>',
        '<row><c r="B1"><v>1</v></c><c r="A1"><v>2</v></c></row>',
        "<row><!-- --></row>",
    ],
)
def test_the_rest_is_left_to_the_parser(values: Values, rows: str) -> None:
    assert plain_rows(rows, values, 0) is None
