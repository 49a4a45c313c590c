"""Rows of CSV files: what is accepted to the character, and what is refused with which code."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.files import FileProblem, Row, RowProblem, Source
from scoring.core.files import rows as limits
from scoring.core.files.csv.dialect import guess_dialect
from scoring.core.files.csv.reader import read_csv, read_header
from scoring.core.files.csv.records import Dialect

COMMA = Dialect(",", '"')


def read(content: bytes | str, dialect: Dialect = COMMA) -> list[Row | RowProblem]:
    raw = content.encode() if isinstance(content, str) else content
    return list(read_csv(Source(io.BytesIO(raw)), dialect))


def problem(content: bytes | str, dialect: Dialect = COMMA) -> FileProblem:
    with pytest.raises(FileProblem) as caught:
        read(content, dialect)
    return caught.value


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_line_end_is_accepted(end: str) -> None:
    rows = read(end.join(["a,b", "1,2", "3,4", ""]))
    assert rows == [Row(2, {"a": "1", "b": "2"}), Row(3, {"a": "3", "b": "4"})]


def test_mixed_line_ends_are_accepted() -> None:
    assert [row.line for row in read("a,b\r\n1,2\r3,4\n5,6")] == [2, 3, 4]


def test_a_missing_last_line_end_is_no_fault() -> None:
    assert read("a\n1") == [Row(2, {"a": "1"})]


def test_line_ends_inside_quotes_are_kept_and_counted() -> None:
    rows = read('a,b\n"x\r\ny\rz",1\nlast,2\n')
    assert rows == [Row(2, {"a": "x\r\ny\rz", "b": "1"}), Row(5, {"a": "last", "b": "2"})]


def test_white_space_quotes_and_any_unicode_are_kept() -> None:
    cell = ' \t padded\u00a0"quoted" \u2028\u202e\u200b\x0b\x0c\x85 😀 '
    quoted = cell.replace('"', '""')
    assert read(f'a,b\n"{quoted}", b \n') == [Row(2, {"a": cell, "b": " b "})]


def test_formulas_and_proto_are_plain_cells() -> None:
    assert read("__proto__,a\n=1+1,@x\n") == [Row(2, {"__proto__": "=1+1", "a": "@x"})]


def test_an_empty_cell_is_an_empty_text() -> None:
    assert read('a,b,c\n1,"",\n') == [Row(2, {"a": "1", "b": "", "c": ""})]


def test_quotes_within_an_unquoted_cell_are_plain() -> None:
    assert read('a,b\n5" pipe,x"y"\n') == [Row(2, {"a": '5" pipe', "b": 'x"y"'})]


def test_blank_lines_are_left_out_wherever_they_are() -> None:
    assert read("\n \n\na,b\n\n1,2\n\n \n") == [Row(6, {"a": "1", "b": "2"})]


def test_a_row_of_quoted_empty_cells_is_a_row() -> None:
    assert read('a,b\n"",\n') == [Row(2, {"a": "", "b": ""})]


def test_column_names_lose_their_outer_spaces_only() -> None:
    assert read(" My  Column ,b\n x ,1\n") == [Row(2, {"My  Column": " x ", "b": "1"})]


def test_the_header_can_be_read_alone() -> None:
    assert read_header(Source(io.BytesIO(b"\n a ,b\n")), COMMA) == ("a", "b")


@pytest.mark.parametrize(
    ("content", "code", "line", "said"),
    [
        ("a,b\n", "no_rows", None, "no rows below its header"),
        ("\n\n", "no_rows", None, "no rows"),
        ("a,b\n\n \n", "no_rows", None, "no rows below its header"),
        ("a,,c\n1,2,3\n", "empty_column_name", 1, "Column 2 of line 1"),
        ("\n\na, \n1,2\n", "empty_column_name", 3, "Column 2 of line 3"),
        ("id,name,id\n1,2,3\n", "duplicate_column", 1, "Columns 1 and 3"),
        ("id, ID \n1,2\n", "duplicate_column", 1, "case and outer spaces"),
        ("a\0,b\n1,2\n", "nul_character", 1, "column 1"),
        ('"a"x,b\n1,2\n', "bad_quote", 1, "follows the closing quote"),
        ('"a", "b"\n"1", "2"\n', "bad_quote", 1, "a space before a quote"),
        ('a,b\n1,"open\n2,3\n', "unclosed_quote", 2, "opened in line 2"),
        ('a,b\n"x\ny","open\n2,3\n', "unclosed_quote", 3, "opened in line 3"),
        ('a,b\n"x""y","\n\n\n', "unclosed_quote", 2, "opened in line 2"),
        ('a,b\n1,2\n"ends" here",4\n', "bad_quote", 3, "Line 3"),
        ('a,b\n"two\nlines"x,4\n', "bad_quote", 3, "Line 3"),
    ],
)
def test_what_ends_the_file_says_where_and_what(
    content: str, code: str, line: int | None, said: str
) -> None:
    found = problem(content)
    assert (found.code, found.line) == (code, line)
    assert said in found.text


def test_more_columns_than_possible_are_refused() -> None:
    names = ",".join(f"c{place}" for place in range(limits.MAX_COLUMNS + 1))
    assert problem(f"{names}\n").code == "too_many_columns"


@pytest.mark.parametrize(
    ("content", "line", "column", "code", "said"),
    [
        ("a,b\n1\n5,6\n", 2, "", "row_width", "Line 2 has 1 cell, the header has 2 columns"),
        ("a,b\n1,2,3\n5,6\n", 2, "", "row_width", "Line 2 has 3 cells"),
        ("a,b\n1,\0x\n5,6\n", 2, "b", "nul_character", "column b"),
        ('a,b\n"x"y,1\n5,6\n', 2, "", "bad_quote", "twice"),
    ],
)
def test_a_bad_row_is_named_and_the_next_one_still_read(
    content: str, line: int, column: str, code: str, said: str
) -> None:
    bad, good = read(content)
    assert isinstance(bad, RowProblem)
    assert (bad.line, bad.column, bad.code) == (line, column, code)
    assert said in bad.message
    assert good == Row(3, {"a": "5", "b": "6"})


def test_the_delimiter_is_spoken_of_by_name() -> None:
    bad = read("a\tb\n1\n2\t3\n", Dialect("\t", '"'))[0]
    assert isinstance(bad, RowProblem)
    assert "a tab" in bad.message


def test_a_cell_of_the_limit_is_accepted_and_one_more_is_refused() -> None:
    longest = "x" * limits.MAX_CELL
    assert read(f"a,b\n1,{longest}\n") == [Row(2, {"a": "1", "b": longest})]
    bad, good = read(f"a,b\n1,{longest}x\n3,4\n")
    assert isinstance(bad, RowProblem)
    assert (bad.line, bad.code) == (2, "cell_too_long")
    assert good == Row(3, {"a": "3", "b": "4"})


def test_an_open_quote_before_a_long_text_stops_the_reading() -> None:
    text = 'a,b\n1,2\n3,"open\n' + "line of text\n" * 100_000
    found = problem(text)
    assert found.code == "cell_too_long"
    assert "close the quote" in found.text


def test_a_record_that_never_ends_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scoring.core.files.csv.records.MAX_LINE", 1_000)
    found = problem("a,b\n1,2\n" + '"x\n",' * 400 + "1\n")
    assert (found.code, found.line) == ("line_too_long", 3)


def test_a_line_longer_than_possible_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scoring.core.files.decoding.MAX_LINE", 100)
    found = problem("a,b\n1,2\n" + "x" * 101 + ",2\n")
    assert (found.code, found.line) == ("line_too_long", 3)


def test_a_title_line_never_makes_a_silent_one_column_import() -> None:
    text = "A title\na;b\n1;2\n3;4\n"
    rows = read(text, guess_dialect(text.splitlines(keepends=True)))
    assert {row.code for row in rows if isinstance(row, RowProblem)} == {"row_width"}


cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)


@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=8), st.sampled_from(",;\t|"))
def test_what_the_csv_writer_wrote_comes_back(rows: list[tuple[str, str]], delimiter: str) -> None:
    written = io.StringIO(newline="")
    writer = csv.writer(written, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    writer.writerows([("a", "b"), *rows])
    found = read(written.getvalue(), Dialect(delimiter, '"'))
    assert [tuple(row.fields.values()) for row in found if isinstance(row, Row)] == rows


@given(st.binary(max_size=200))
def test_no_bytes_crash_the_reader(content: bytes) -> None:
    try:
        said = [row.message for row in read(content) if isinstance(row, RowProblem)]
    except FileProblem as fault:
        said = [fault.text]
    assert all(text.endswith((".", ").")) for text in said)
