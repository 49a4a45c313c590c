"""Headers of tables: columns without names, and what may divide columns."""

from __future__ import annotations

import gzip

import pytest

from scoring.core.files import (
    FileProblem,
    Note,
    Row,
)
from tests.support.tables import read_file
from tests.support.workbooks import simple


@pytest.mark.parametrize(
    ("content", "name", "place"),
    [
        ("id,input,\n1,a,\n2,b,\n", "cases.csv", 3),
        (",id,input\n,1,a\n,2,b\n", "cases.csv", 1),
        ("id; ;input\n1; ;a\n2;;b\n", "cases.csv", 2),
        (simple(("id", "", "input"), ("1", "", "a"), ("2", "", "b")), "cases.xlsx", 2),
        (gzip.compress(b"id\tinput\t\n1\ta\t\n2\tb\t\n", mtime=0), "cases.tsv.gz", 3),
    ],
)
def test_a_column_without_name_and_values_is_left_out_with_a_note(
    content: bytes | str, name: str, place: int
) -> None:
    found, rows, notes = read_file(content, name)
    assert [row.fields for row in rows if isinstance(row, Row)] == [
        *({"id": "1", "input": "a"}, {"id": "2", "input": "b"})
    ]
    assert found.columns == ("id", "input")
    assert notes == [Note("empty_column", 1, place)]
    assert found.notes[0].message == f"Column {place} has no name and no values: left out."


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ("id,input,\n1,a,\n2,b,x\n", "cases.csv"),
        (simple(("id", "", "input"), ("1", "", "a"), ("2", "x", "b")), "cases.xlsx"),
    ],
)
def test_one_with_a_value_anywhere_is_refused(content: bytes | str, name: str) -> None:
    with pytest.raises(FileProblem) as caught:
        read_file(content, name)
    assert (caught.value.code, caught.value.line) == ("empty_column_name", 1)
    assert "line 3 has a value there" in caught.value.text


@pytest.mark.parametrize("delimiter", ['"', 'a"', "\n", ",\n", "\0", "x" * 11])
def test_what_cannot_divide_columns_is_refused(delimiter: str) -> None:
    with pytest.raises(FileProblem) as caught:
        read_file("a,b\n1,2\n", delimiter=delimiter)
    assert caught.value.code == "delimiter"
