"""Workbooks: what each kind of cell says, which sheet is read, and what is refused."""

from __future__ import annotations

import io
import tracemalloc
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.files import FileProblem, Row, RowProblem, detect, read_rows, unpacked
from scoring.core.files.xlsx import kept_texts
from scoring.core.files.xlsx.cell_texts import day_text, kind_of_format, number_text, plain_text
from tests.core.workbooks import (
    UNUSABLE,
    packed,
    parts_of,
    put,
    row_xml,
    sheet_xml,
    simple,
    texts_xml,
    workbook,
)


def read(path: Path, **options: Any) -> list[dict[str, Any]]:
    rows = list(read_rows(path, detect(path, **options)))
    assert all(isinstance(row, Row) for row in rows), rows
    return [row.fields for row in rows if isinstance(row, Row)]


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


# Cells


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


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_the_shortest_decimal_of_its_double(value: float) -> None:
    for written in (f"{value:.17g}", repr(value), f"{value:.20e}"):
        text = number_text(written)
        assert float(text) == value
        assert len(text) <= max(len(repr(value)), len(written))


@pytest.mark.parametrize("text", ["", "abc", "1e999", "-1e999", "nan", "1_0", "12.x"])
def test_what_is_no_finite_number_stays_as_it_is_written(text: str) -> None:
    assert number_text(text) == ("10" if text == "1_0" else text)


@given(st.datetimes(datetime(1900, 3, 1), datetime(9999, 12, 31)))
def test_days_read_as_the_calendar_has_them(moment: datetime) -> None:
    whole = moment.replace(microsecond=0)
    number = (whole - datetime(1899, 12, 30)) / timedelta(days=1)
    assert datetime.fromisoformat(day_text(repr(number), "day", is_1904=False)) == whole


@pytest.mark.parametrize(
    ("number", "is_1904", "text"),
    [
        ("0", True, "00:00:00"),
        ("1", True, "1904-01-02"),
        ("59", False, "1900-02-28"),
        ("60", False, "60"),  # 29 February 1900, which never was
        ("61", False, "1900-03-01"),
        ("2958465", False, "9999-12-31"),
        ("2958466", False, "2958466"),
        ("-1", False, "-1"),
        ("nan", False, "nan"),
        ("x", False, "x"),
        ("2958465", True, "2958465"),
    ],
)
def test_what_is_no_day_stays_its_number(number: str, is_1904: bool, text: str) -> None:
    assert day_text(number, "day", is_1904=is_1904) == text


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("General", ""),
        ("0.00", ""),
        ('0.0 "days"', ""),
        ("[Red]0", ""),
        ("[$-409]d-mmm-yy", "day"),
        ("yyyy\\-mm\\-dd", "day"),
        ("h:mm AM/PM", "day"),
        ("[h]:mm:ss", "elapsed"),
        ("[mm]:ss", "elapsed"),
        ("#,##0;[Red]-#,##0", ""),
        ("0_d", ""),
    ],
)
def test_a_number_format_shows_days_only_where_its_signs_say_so(code: str, kind: str) -> None:
    assert kind_of_format(code) == kind


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("a_x000D_\nb", "a\r\nb"),
        ("_x005F_x000D_", "_x000D_"),
        ("_xD83D__xDE00_", "😀"),
        ("_xZZZZ_", "_xZZZZ_"),
        ("snake_x_case", "snake_x_case"),
    ],
)
def test_escapes_of_a_text_are_undone(text: str, plain: str) -> None:
    assert plain_text(text) == plain


def test_rich_texts_are_joined_and_their_readings_left_out(tmp_path: Path) -> None:
    item = '<si><r><t>Kyo</t></r><r><t xml:space="preserve"> to</t></r><rPh><t>x</t></rPh></si>'
    shared = texts_xml("a").replace("</sst>", f"{item}</sst>")
    rows = (row_xml('<c t="s"><v>0</v></c>'), row_xml('<c t="s"><v>1</v></c>'))
    assert cell(put(tmp_path, workbook(*rows, sharedStrings=shared))) == "Kyo to"


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
    problem, row = read_rows(path, detect(path))
    assert isinstance(problem, RowProblem)
    assert (problem.line, problem.code) == (2, code)
    assert problem.column == ("" if code == "row_width" else "a")
    assert isinstance(row, Row)


# Rows


def test_rows_and_cells_stand_where_their_names_say(tmp_path: Path) -> None:
    rows = (
        row_xml("a", "b", "c", line=3),
        '<row r="7"><c r="C7" t="inlineStr"><is><t>z</t></is></c></row>',
        "<row><c><v>1</v></c><c><v>2</v></c></row>",
    )
    path = put(tmp_path, workbook(*rows))
    assert list(read_rows(path, detect(path))) == [
        Row(7, {"a": "", "b": "", "c": "z"}),
        Row(8, {"a": "1", "b": "2", "c": ""}),
    ]


def test_blank_rows_are_left_out_and_counted(tmp_path: Path) -> None:
    path = put(tmp_path, simple(("", ""), ("a", "b"), ("", ""), ("1", "2")))
    assert list(read_rows(path, detect(path))) == [Row(4, {"a": "1", "b": "2"})]


def test_a_prefix_on_every_element_changes_nothing(tmp_path: Path) -> None:
    parts = parts_of({"A": ""})
    parts["xl/worksheets/s1.xml"] = (
        '<x:worksheet xmlns:x="m"><x:sheetData><x:row><x:c t="inlineStr"><x:is><x:t>a</x:t></x:is>'
        "</x:c></x:row><x:row><x:c><x:v>1</x:v></x:c></x:row></x:sheetData></x:worksheet>"
    )
    assert read(put(tmp_path, packed(parts))) == [{"a": "1"}]


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
        list(read_rows(path, detect(path)))
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
    found = detect(path)
    assert (found.sheet, found.sheets) == ("One", ("One", "Two", "Notes"))
    assert read(path) == [{"a": "One"}]
    assert read(path, sheet="Two") == [{"a": "Two"}]
    assert read(path, sheet="Notes") == [{"n": "hidden"}]
    with pytest.raises(FileProblem) as raised:
        detect(path, sheet="Three")
    assert raised.value.code == "missing_sheet"
    assert "One, Two, Notes" in raised.value.text


def test_without_a_header_columns_are_numbered(tmp_path: Path) -> None:
    path = put(tmp_path, simple(("1", "x"), ("2", "y")))
    assert read(path, header="no") == [
        {"column 1": "1", "column 2": "x"},
        {"column 1": "2", "column 2": "y"},
    ]


# Faults


@pytest.mark.parametrize(("name", "content", "code"), UNUSABLE, ids=[u[0] for u in UNUSABLE])
def test_an_unusable_workbook_is_refused_with_its_code(
    tmp_path: Path, name: str, content: bytes, code: str
) -> None:
    path = put(tmp_path, content, name)
    with pytest.raises(FileProblem) as raised:
        list(read_rows(path, detect(path)))
    assert raised.value.code == code
    assert raised.value.text.endswith(".")


def test_two_parts_of_one_name_are_refused(tmp_path: Path) -> None:
    import zipfile

    stream = io.BytesIO(simple(("a",), ("1",)))
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(stream, "a") as book:
        book.writestr("xl/workbook.xml", "<a/>")
    with pytest.raises(FileProblem) as raised:
        detect(put(tmp_path, stream.getvalue()))
    assert raised.value.code == "unsafe_archive"


def test_a_workbook_that_unpacks_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpacked, "MAX_UNPACKED", 1024**2)
    rows = row_xml("a") + f"<row><c><v>{' ' * 2 * 1024**2}</v></c></row>"
    path = put(tmp_path, workbook(rows))
    assert path.stat().st_size < 10_000
    with pytest.raises(FileProblem) as raised:
        list(read_rows(path, detect(path)))
    assert raised.value.code == "too_large_unpacked"


def test_a_tag_without_end_is_not_held(tmp_path: Path) -> None:
    path = put(tmp_path, workbook(f'<row r="{"1" * 17 * 1024**2}"/>'))
    with pytest.raises(FileProblem) as raised:
        detect(path)
    assert raised.value.code == "line_too_long"


def test_a_damaged_part_is_told_when_it_is_reached(tmp_path: Path) -> None:
    rows = "".join(row_xml(f"{n}", "x" * 50) for n in range(3_000))
    parts = parts_of({"A": sheet_xml(row_xml("a", "b") + rows)})
    content = packed(parts).replace(b"PK\x01\x02", b"PK\x01\x02", 1)
    place = content.index(b"worksheets/s1.xml") + 2_000
    path = put(tmp_path, content[:place] + b"\0\xff\0" + content[place + 3 :])
    with pytest.raises(FileProblem) as raised:
        list(read_rows(path, detect(path)))
    assert raised.value.code == "corrupt_archive"


# Size


def test_shared_texts_beyond_what_is_held_lie_in_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_texts, "_HELD", 40)
    texts = ["input", *(f"text {n} ü" for n in range(1, 200))]
    places = [*range(200), 3, 150, 0, 199]
    rows = [row_xml('<c t="s"><v>0</v></c>')]
    rows += [row_xml(f'<c t="s"><v>{place}</v></c>') for place in places]
    path = put(tmp_path, workbook(*rows, sharedStrings=texts_xml(*texts)))
    assert [row["input"] for row in read(path)] == [texts[place] for place in places]


def test_memory_stays_flat_however_many_rows_there_are(tmp_path: Path) -> None:
    peaks = []
    for count in (2_000, 20_000):
        rows = (row_xml(f"{n}", "some text " * 10) for n in range(count))
        path = put(tmp_path, workbook(row_xml("a", "b"), *rows))
        found = detect(path)
        tracemalloc.start()
        assert sum(1 for _ in read_rows(path, found)) == count
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] * 1.5
