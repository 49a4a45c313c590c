"""Records as people save them: what is read all the same, with a note, and what is refused."""

from __future__ import annotations

import gzip
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.files import (
    FileProblem,
    Note,
    Row,
    RowProblem,
    guess_mapping,
)
from scoring.core.files.csv.records import Dialect, Records, open_reader
from tests.support.tables import read_file
from tests.support.workbooks import simple

# A space before a quote


@pytest.mark.parametrize(
    "content",
    [
        'id, input\n1, "Paris"\n2, "Rome, Italy"\n',
        'id, input\n1, "Paris"\n2, "said ""no"", twice\nor so"\n',
        'id, input, output\n1, "Paris", "a, b"\n2, Rome, c\n',
    ],
)
def test_a_space_everywhere_before_a_quote_belongs_to_the_delimiter(content: str) -> None:
    found, rows, notes = read_file(content)
    assert (found.delimiter, notes) == (", ", [])
    assert isinstance(rows[0], Row)
    assert rows[0].fields["input"] == "Paris"
    assert '"' not in str(rows).replace('said "no", twice', "")


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ('1, "Paris"', "cases.csv"),
        ('1,  "Paris" ', "cases.csv"),
        ('1\t "Paris"', "cases.tsv"),
        ('1, "Paris, France"', "cases.csv"),
    ],
)
def test_a_space_before_one_quote_is_refused(line: str, name: str) -> None:
    head = "id\tinput" if name.endswith("tsv") else "id,input"
    rows = read_file(f"{head}\n0{head[2]}a\n{line}\n2{head[2]}b\n", name)[1]
    bad = rows[1]
    assert isinstance(bad, RowProblem)
    assert (bad.line, bad.code) == (3, "bad_quote")
    assert "a space before a quote" in bad.message
    assert [row.line for row in rows if isinstance(row, Row)] == [2, 4]


def test_a_space_before_a_quote_that_spans_lines_ends_the_file() -> None:
    with pytest.raises(FileProblem) as caught:
        read_file('id,input\n0,a\n1, "Par\nis"\n')
    assert (caught.value.code, caught.value.line) == ("bad_quote", 3)


def test_where_quotes_are_text_a_space_may_stand_before_them() -> None:
    assert read_file('id,input\n1, "Paris"\n', quote="none").fields == [
        {"id": "1", "input": ' "Paris"'}
    ]


# A quote inside a cell that is not quoted


def test_a_quote_inside_an_unquoted_cell_is_kept_and_told() -> None:
    _, rows, notes = read_file('id,input\n1,5" pipe\n2,"a ""b"" c"\n3,x"y"\n')
    assert [row.fields["input"] for row in rows if isinstance(row, Row)] == [
        *('5" pipe', 'a "b" c', 'x"y"')
    ]
    assert notes == [Note("quote_in_cell", 2, 2)]


@given(st.lists(st.text(st.sampled_from('ab,"\n \t'), max_size=8), min_size=2, max_size=2))
def test_what_a_writer_quotes_has_no_notes(cells: list[str]) -> None:
    quoted = ",".join('"' + cell.replace('"', '""') + '"' for cell in cells)
    _, rows, notes = read_file(f"id,input\n{quoted}\n", delimiter=",", quote='"', header="yes")
    assert rows == [Row(2, dict(zip(("id", "input"), cells, strict=True)))]
    assert notes == []


def test_a_record_may_have_as_many_characters_as_the_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("scoring.core.files.csv.records.MAX_LINE", 20)
    rows = Records(['"x\n', "y" * 13 + '",1\n'], Dialect(",", '"'))
    assert [line for line, _ in rows] == [1]
    with pytest.raises(FileProblem) as caught:
        list(Records(['"x\n', "y" * 14 + '",1\n'], Dialect(",", '"')))
    assert (caught.value.code, caught.value.line) == ("line_too_long", 1)


# Rows of nothing but delimiters, and what stands above the header


def test_rows_of_only_delimiters_are_skipped_and_counted() -> None:
    _, rows, notes = read_file(",,\nid,input,tags\n1,a,b\n,,\n,,,,,\n2,c,d\n,,\n")
    assert [row.line for row in rows] == [3, 6]
    assert notes == [Note("row_of_delimiters", 4, 1)]


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ("Report of May\nfor us; and, you\nid,input\n1,a\n", "cases.csv"),
        ('"Report\nid,input\n1,a\n', "cases.csv"),
        ("Cases,\n(in order),\nid,input\n1,a\n", "cases.csv"),
        (simple(("Report",), ("of May", "x", "y"), ("id", "input"), ("1", "a")), "cases.xlsx"),
        ('# made today\nsecond\n{"id": "1", "input": "a"}\n', "cases.jsonl"),
        (gzip.compress(b"Report\r\n\r\nid;input\r\n1;a\r\n", mtime=0), "cases.csv.gz"),
    ],
)
def test_lines_above_the_header_can_be_skipped(content: bytes | str, name: str) -> None:
    skip_lines = 1 if isinstance(content, str) and content.startswith('"') else 2
    found, rows, _ = read_file(content, name, skip_lines=skip_lines)
    assert found.skip_lines == skip_lines
    (row,) = rows
    assert row == Row(skip_lines + (1 if name.endswith("jsonl") else 2), {"id": "1", "input": "a"})


def test_more_lines_than_there_are_leave_no_rows() -> None:
    with pytest.raises(FileProblem) as caught:
        read_file("id,input\n1,a\n", skip_lines=9)
    assert caught.value.code == "no_rows"


def test_problems_below_skipped_lines_have_the_lines_of_the_file() -> None:
    rows = read_file('x\ny\nid,input\n1\n2,"a"b\n3,c\n', skip_lines=2, header="yes")[1]
    assert [row.line for row in rows] == [4, 5, 6]
    with pytest.raises(FileProblem) as caught:
        read_file('x\ny\nid,input\n1,"a\n', skip_lines=2)
    assert caught.value.line == 4


# Delimiters of several characters


def test_a_delimiter_that_is_chosen_leaves_spaces_to_the_text() -> None:
    assert read_file("id, input\n1, a\n2,  b\n").fields == [
        *({"id": "1", "input": "a"}, {"id": "2", "input": " b"})
    ]
    assert read_file("id, input\n1, a\n2,  b\n", delimiter=",").fields == [
        *({"id": "1", "input": " a"}, {"id": "2", "input": "  b"})
    ]


@pytest.mark.parametrize("delimiter", ["||", "::", ", ", " | ", "<tab>", "ab"])
def test_a_delimiter_may_have_several_characters(delimiter: str) -> None:
    head, row = delimiter.join(["id", "input"]), delimiter.join(["1", '"x\n""y"""'])
    assert read_file(f"{head}\n{row}\n", delimiter=delimiter).fields == [
        {"id": "1", "input": 'x\n"y"'}
    ]


@pytest.mark.parametrize(
    ("content", "code", "line"),
    [
        ('id||input\n1||"a\n2||b\n', "unclosed_quote", 2),
        ('id||input\n1||"a\nb"c\n', "bad_quote", 3),
        ('id||input\n1|| "a\n', "bad_quote", 2),
    ],
)
def test_its_faults_are_those_of_any_other(content: str, code: str, line: int) -> None:
    with pytest.raises(FileProblem) as caught:
        read_file(content, delimiter="||")
    assert (caught.value.code, caught.value.line) == (code, line)


def test_its_rows_may_be_bad_one_by_one() -> None:
    rows = read_file('id||input\n1||"a"b""\n2||b||c\n3||d\n', delimiter="||")[1]
    codes = [row.code if isinstance(row, RowProblem) else "" for row in rows]
    assert codes == ["bad_quote", "row_width", ""]


CELLS = st.text(st.sampled_from('ab\r\n" '), max_size=6)


@given(st.lists(st.lists(CELLS, min_size=2, max_size=3), min_size=1, max_size=4))
def test_long_delimiters_read_as_the_csv_module_reads_one(rows: list[list[str]]) -> None:
    def written(delimiter: str) -> list[str]:
        cells = [['"' + cell.replace('"', '""') + '"' for cell in row] for row in rows]
        text = "".join(delimiter.join(row) + "\n" for row in cells)
        return io.StringIO(text, newline="").readlines()

    expected = list(open_reader(written(","), Dialect(",", '"')))
    assert list(open_reader(written("||"), Dialect("||", '"'))) == expected == rows


def test_a_long_quoted_text_takes_linear_time() -> None:
    text = 'id||input\n1||"' + "line\n" * 200_000 + '"\n'
    (row,) = read_file(text, delimiter="||").fields
    assert len(row["input"]) == 1_000_000


# Advice, and files of one bad record


def test_no_column_is_suggested_for_a_few_common_letters() -> None:
    columns = ["name", "zip", "born"]
    with pytest.raises(FileProblem) as caught:
        guess_mapping(columns).check(columns, needed=["id|input"])
    assert "Did you mean" not in caught.value.text
    with pytest.raises(FileProblem) as caught:
        guess_mapping(columns, choices={"input": ["nmae"]}).check(columns)
    assert "Did you mean name?" in caught.value.text


@pytest.mark.parametrize(
    ("content", "name", "code"),
    [
        ('{"id": 1, "input": NaN}\n', "cases.jsonl", "not_finite"),
        ('[{"a": 1, "a": 2}]', "cases.json", "duplicate_key"),
        ("a,b\n1\n", "cases.csv", "row_width"),
        ('a,b\n1,"x"y"z"\n', "cases.csv", "bad_quote"),
        (simple(("a", "b"), ("1", "b_x0000_")), "cases.xlsx", "nul_character"),
    ],
)
def test_the_problem_of_an_only_record_is_known_from_the_start(
    content: bytes | str, name: str, code: str
) -> None:
    problem = read_file(content, name)[0].problem
    assert problem is not None
    assert problem.code == code
