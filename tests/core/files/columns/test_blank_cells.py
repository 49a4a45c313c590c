"""Empty cells of a table: which are no value, which are empty texts, and how they are counted."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.core.files import BlankCells, Mapping, Row
from scoring.core.files.columns.blank_cells import describe_blanks

COLUMNS: dict[str, Any] = {
    "id": "id",
    "input": "question",
    "expected": "answer",
    "output": ("a", "b"),
    "references": ("others",),
    "tags": ("topic",),
}
BLANK = dict.fromkeys(("id", "question", "answer", "a", "b", "others", "topic", "note"), "")


def kept(cells: dict[str, str], **changes: Any) -> dict[str, Any]:
    return BlankCells(Mapping(**(COLUMNS | changes))).drop(Row(2, dict(cells))).fields


def test_only_input_and_outputs_are_empty_texts() -> None:
    assert kept(BLANK) == {"question": "", "a": "", "b": ""}


@pytest.mark.parametrize(
    ("changes", "texts"),
    [
        ({"blank_text": ("answer", "note")}, {"question", "answer", "a", "b", "note"}),
        ({"blank_missing": ("b", "question")}, {"a"}),
        ({"blank_text": ("answer",), "blank_missing": ("a", "b")}, {"question", "answer"}),
        ({"output": ()}, {"question"}),
    ],
)
def test_the_mapping_may_say_otherwise(changes: dict[str, Any], texts: set[str]) -> None:
    assert kept(BLANK, **changes).keys() == texts


def test_white_space_labels_nothing_but_is_a_text_elsewhere() -> None:
    cells = dict.fromkeys(BLANK, " \n")
    assert kept(cells).keys() == BLANK.keys() - {"answer", "others", "topic"}
    assert kept(cells, blank_text=("answer",))["answer"] == " \n"


def test_a_filled_row_stays_as_it_is() -> None:
    row = Row(2, dict.fromkeys(BLANK, "x"))
    assert BlankCells(Mapping(**COLUMNS)).drop(row) is row


def test_cells_are_counted_by_column() -> None:
    blanks = BlankCells(Mapping(**COLUMNS))
    assert describe_blanks(blanks) == ""
    for line, empty in enumerate((["answer"], ["answer", "note", "a"], [], ["b", "a"]), 2):
        blanks.drop(Row(line, dict.fromkeys(BLANK, "x") | dict.fromkeys(empty, "")))
    assert (dict(blanks.no_value), dict(blanks.empty_text)) == (
        {"answer": 2, "note": 1},
        {"a": 2, "b": 1},
    )
    assert describe_blanks(blanks) == (
        "Empty cells: 2 of answer and 1 of note are no value; 2 of a and 1 of b are empty texts."
    )


def test_one_cell_is_told_as_one() -> None:
    blanks = BlankCells(Mapping(**COLUMNS))
    blanks.drop(Row(2, {"a": "", "answer": ""}))
    assert describe_blanks(blanks) == (
        "Empty cells: 1 of answer is no value; 1 of a is an empty text."
    )
