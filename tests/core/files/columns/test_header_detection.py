"""A first row that names nothing is a row: doubted, read as one, and changeable."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from scoring.core.files import FileProblem, Row, RowProblem, Source, detect_format, read_rows
from scoring.core.files.columns.header_detection import looks_like_values
from tests.support.workbooks import put, simple

QUESTIONS = ("What is two and two?", "Where was the refund sent to?", "Who are you, and why?")


def rows_of(text: str, name: str = "a.csv", **options: str) -> tuple[bool, list[list[object]]]:
    """Whether the header is doubted, and all rows."""
    found = detect_format(Source(io.BytesIO(text.encode()), name), **options)  # type: ignore[arg-type]
    rows = read_rows(Source(io.BytesIO(text.encode()), name), found)
    return found.doubts_header, [[*row.fields.values()] for row in rows if isinstance(row, Row)]


@pytest.mark.parametrize(
    "lines",
    [
        ("1,apple", "2,pear", "3,plum"),
        ("q1,apple", "q2,pear", "q17,plum"),
        ("support-001;x", "support-002;y"),
        ("2026-11-20,apple", "2026-11-21,pear"),
        ("true,apple", "false,pear"),
        ("6f9619ff-8b86-d011-b42d-00c04fc964ff,apple", "7a9619ff-8b86-d011-b42d-00c04fc964ff,pear"),
        (f'"{QUESTIONS[0]}",four', f'"{QUESTIONS[1]}",Bern', f'"{QUESTIONS[2]}",me'),
        ("spam,buy now", "ham,hello", "spam,buy more"),
        (QUESTIONS[0],),
        ("1,apple",),
        ('[1],"{""a"": 1}"', '[2],"{""a"": 2}"'),
    ],
)  # fmt: skip
def test_a_first_row_of_values_is_a_row(lines: tuple[str, ...]) -> None:
    is_doubted, rows = rows_of("".join(f"{line}\n" for line in lines))
    assert is_doubted
    assert len(rows) == len(lines)


@pytest.mark.parametrize(
    "lines",
    [
        ("id,input", "1,apple", "2,pear"),
        ("a,b", "1,2", "3,4"),
        ("name,text", "apple,red", "pear,green"),
        ("1,input", "2,apple", "3,pear"),  # one known name is enough
        ("Timestamp,Was the answer of any help to you?", "2026-11-20,yes", "2026-11-21,no"),
        ("0,1,2", "apple,red,x", "pear,green,y"),  # as a data frame without names is written
        ("fruit,2024,2025", "apple,few,many", "pear,many,few"),
        ("gpt-4o,claude-3", "apple,red", "pear,green"),
        ("model 1 output,model 2 output", "apple,red", "pear,green"),
        ("name,kind", "apple,fruit", "name,kind", "pear,fruit"),  # two files in one
        ("fruit,colour", "apple,", "pear,"),
        ("Größe,Farbe", "klein,rot", "groß,grün"),
    ],
)
def test_names_are_no_row(lines: tuple[str, ...]) -> None:
    is_doubted, rows = rows_of("".join(f"{line}\n" for line in lines))
    assert not is_doubted
    assert len(rows) == len(lines) - 1


@pytest.mark.parametrize(("header", "count"), [("yes", 1), ("no", 2)])
def test_what_is_chosen_is_not_doubted(header: str, count: int) -> None:
    is_doubted, rows = rows_of("1,apple\n2,pear\n", header=header)
    assert not is_doubted
    assert len(rows) == count


def test_a_row_of_another_width_is_compared_with_the_first_row() -> None:
    found = detect_format(Source(io.BytesIO(b"1,a\n2,b,c\n"), "a.csv"))
    *_, problem = read_rows(Source(io.BytesIO(b"1,a\n2,b,c\n"), "a.csv"), found)
    assert isinstance(problem, RowProblem)
    assert problem.message.startswith("Line 2 has 3 cells, the first row has 2 columns.")


def test_columns_are_numbered_where_nothing_names_them() -> None:
    found = detect_format(Source(io.BytesIO(b"1,apple\n2,pear\n"), "a.csv"))
    assert found.columns == ("column 1", "column 2")
    assert not found.has_header
    assert found.sample[0] == Row(1, {"column 1": "1", "column 2": "apple"})


def test_a_sheet_is_looked_at_in_the_same_way(tmp_path: Path) -> None:
    path = put(tmp_path, simple(("1", "apple"), ("2", "pear")))
    found = detect_format(path)
    assert found.doubts_header
    assert len(list(read_rows(path, found))) == 2
    path = put(tmp_path, simple(("no", "fruit"), ("2", "pear")))
    assert not detect_format(path).doubts_header


@pytest.mark.parametrize("text", ["id,input\n", "fruit,colour\n", "\n \n"])
def test_names_alone_are_still_no_rows(text: str) -> None:
    with pytest.raises(FileProblem) as raised:
        rows_of(text)
    assert raised.value.code == "no_rows"


@pytest.mark.parametrize("text", ['{"1": 2}\n', '{"1": 2}\n{"1": 3}\n'])
def test_objects_have_no_header_to_doubt(text: str) -> None:
    assert not rows_of(text, "a.jsonl")[0]


def test_no_cells_are_no_values() -> None:
    assert not looks_like_values([], [])
    assert not looks_like_values([""], [["a"]])
