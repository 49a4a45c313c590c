"""Rows and cells of a sheet: where they stand, how they are written, and faults of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from scoring.core.files import Row, RowProblem, detect_format, read_rows
from tests.core.files.xlsx.test_cell_values import cell
from tests.core.files.xlsx.test_reader import read
from tests.support.workbooks import packed, parts_of, put, row_xml, simple, texts_xml, workbook


def test_rich_texts_are_joined_and_their_readings_left_out(tmp_path: Path) -> None:
    item = '<si><r><t>Kyo</t></r><r><t xml:space="preserve"> to</t></r><rPh><t>x</t></rPh></si>'
    shared = texts_xml("a").replace("</sst>", f"{item}</sst>")
    rows = (row_xml('<c t="s"><v>0</v></c>'), row_xml('<c t="s"><v>1</v></c>'))
    assert cell(put(tmp_path, workbook(*rows, sharedStrings=shared))) == "Kyo to"


@pytest.mark.parametrize(
    ("xml", "code"),
    [
        ("<c><f>NOW()</f></c>", "no_value"),
        ("<c><f>A1</f><v></v></c>", "no_value"),
        ("<c><f>A1</f><v /></c>", "no_value"),
        ('<c t="n"><f t="shared" si="0"/><v/></c>', "no_value"),
        ('<c t="inlineStr"><is><t>a_x0000_b</t></is></c>', "nul_character"),
        ('<c t="inlineStr"><is><t>a_xD800_b</t></is></c>', "invalid_unicode"),
        (f'<c t="inlineStr"><is><t>{"x" * (1024**2 + 1)}</t></is></c>', "cell_too_long"),
        ('<c r="D2" t="inlineStr"><is><t>beyond</t></is></c>', "row_width"),
    ],
)
def test_a_bad_cell_is_a_problem_of_its_row(tmp_path: Path, xml: str, code: str) -> None:
    path = put(tmp_path, workbook(row_xml("a", "b"), row_xml(xml), row_xml("1", "2")))
    problem, row = read_rows(path, detect_format(path))
    assert isinstance(problem, RowProblem)
    assert (problem.line, problem.code) == (2, code)
    assert problem.column == ("" if code == "row_width" else "a")
    assert isinstance(row, Row)


def test_rows_and_cells_stand_where_their_names_say(tmp_path: Path) -> None:
    rows = (
        row_xml("a", "b", "c", line=3),
        '<row r="7"><c r="C7" t="inlineStr"><is><t>z</t></is></c></row>',
        "<row><c><v>1</v></c><c><v>2</v></c></row>",
    )
    path = put(tmp_path, workbook(*rows))
    assert list(read_rows(path, detect_format(path))) == [
        Row(7, {"a": "", "b": "", "c": "z"}),
        Row(8, {"a": "1", "b": "2", "c": ""}),
    ]


def test_blank_rows_are_left_out_and_counted(tmp_path: Path) -> None:
    path = put(tmp_path, simple(("", ""), ("a", "b"), ("", ""), ("1", "2")))
    assert list(read_rows(path, detect_format(path))) == [Row(4, {"a": "1", "b": "2"})]


def test_a_prefix_on_every_element_changes_nothing(tmp_path: Path) -> None:
    parts = parts_of({"A": ""})
    parts["xl/worksheets/s1.xml"] = (
        '<x:worksheet xmlns:x="m"><x:sheetData><x:row><x:c t="inlineStr"><x:is><x:t>a</x:t></x:is>'
        "</x:c></x:row><x:row><x:c><x:v>1</x:v></x:c></x:row></x:sheetData></x:worksheet>"
    )
    assert read(put(tmp_path, packed(parts))) == [{"a": "1"}]
