"""Lists and objects as Python, pandas and NumPy write them into cells."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.files import Mapping, PythonCells, Row, RowProblem
from scoring.core.files.columns.python_cells import MAX_LITERAL, read_literal
from tests.support.speed import quick_enough


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("['geo', 'easy']", ["geo", "easy"]),
        ('["it\'s", "a"]', ["it's", "a"]),
        ("['it\\'s']", ["it's"]),
        ("('a', 'b')", ["a", "b"]),
        ("('a',)", ["a"]),
        ("[]", []),
        ("['geo' 'easy']", ["geo", "easy"]),
        ("['geo'\n 'easy' \"it's\"]", ["geo", "easy", "it's"]),
        ("[1 2.5 -3]", [1, 2.5, -3]),
        ("array(['geo', 'easy'], dtype=object)", ["geo", "easy"]),
        ("array(['geo'])", ["geo"]),
        ("Index(['a', 'b'], dtype='object')", ["a", "b"]),
        (" {'city': 'Paris', 'ok': True} ", {"city": "Paris", "ok": True}),
        ("{'zip': None}", {"zip": None}),
        ("{'a': [1, {'b': (2,)}]}", {"a": [1, {"b": [2]}]}),
    ],
)  # fmt: skip
def test_literals_are_read_as_json_has_them(text: str, value: Any) -> None:
    assert read_literal(text) == value


@pytest.mark.parametrize(
    "text",
    [
        *("", "plain", "'text'", "12", "None", "(1)", "[a, b]", "['a', nan]", "{1, 2}", "{1: 'a'}"),
        *("[b'a']", "[1j]", "[...]", "['a'", "['a']]", "[1e999]", "['a' if 1 else 'b']"),
        *("[__import__('os').getcwd()]", "[" * 500 + "]" * 500, "[" + "9" * 5_000 + "]"),
        *("['a\\x00b']", "['\\ud800']", "['a' '\\ud800']", "{'a\\x00': 1}", "{'a': '\\udfff'}"),
        *("array(['a']", f"[{'1,' * MAX_LITERAL}]", "[2 ** 99999]", "[99999999999999999999]"),
    ],
)
def test_what_is_no_such_literal_is_left_alone(text: str) -> None:
    assert read_literal(text) is None


SIGNS = st.characters(exclude_categories=["Cs"], exclude_characters="\0")  # which can be stored
NAMES = st.text(SIGNS, max_size=5)
HOSTILE = {
    "one endless number": "[" + "1" * 90_000 + " ",
    "numbers": "[" + "12 " * 30_000,
    "quotes": "['" + "\\'" * 40_000,
    "brackets in an array": "array([" + "],a=" * 20_000,
    "texts": "['a' " * 20_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_cells_are_left_alone_soon(name: str) -> None:
    """In time that grows with their length, not with its square."""
    with quick_enough(5):
        assert read_literal(HOSTILE[name]) is None


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(SIGNS, max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(VALUES, max_size=4) | st.dictionaries(NAMES, VALUES, max_size=4))
def test_whatever_python_writes_comes_back(value: Any) -> None:
    assert read_literal(str(value)) == value


COLUMNS = Mapping(
    input="q", expected="answer", output=("said",), references=("others",), tags=("topic",),
    metadata="more",
)  # fmt: skip
OBJECT, LIST = "{'a': True}", "['x', 'y']"


def test_each_field_takes_what_it_can_hold() -> None:
    cells = PythonCells(COLUMNS)
    names = ("q", "answer", "said", "others", "topic", "more", "note")
    objects = cells.take(Row(2, dict.fromkeys(names, OBJECT)))
    lists = cells.take(Row(3, dict.fromkeys(names, LIST)))
    assert isinstance(objects, Row)
    assert isinstance(lists, Row)
    read = {name for name in names if objects.fields[name] != OBJECT}
    assert read == {"answer", "more"}
    assert json.loads(str(objects.fields["answer"])) == {"a": True}
    assert {name for name in names if lists.fields[name] != LIST} == {"others", "topic"}
    assert json.loads(str(lists.fields["topic"])) == ["x", "y"]
    assert cells.sentence == (
        "Written as Python writes them, and read: 1 cell of answer; 1 cell of more; "
        "1 cell of others, as up to 2 items; 1 cell of topic, as up to 2 items."
    )


@pytest.mark.parametrize("text", ['["a"]', "", "geo", "[wip] geo", "(geo)", "a, b", "{geo}", "[a"])
def test_other_cells_stay_as_they_are(text: str) -> None:
    cells, row = PythonCells(COLUMNS), Row(2, {"topic": text, "others": text, "answer": text})
    assert cells.take(row) is row
    assert cells.sentence == ""


@pytest.mark.parametrize("text", ["['a', nan]", "['a', b]", "('a', 'b' 'c])", '["a", ]x]'])
def test_a_list_that_cannot_be_read_says_what_to_write(text: str) -> None:
    found = PythonCells(COLUMNS).take(Row(7, {"topic": text}))
    assert isinstance(found, RowProblem)
    assert (found.line, found.column, found.code) == (7, "topic", "unreadable_list")
    assert found.short_message == (
        'This looks like a list, but cannot be read as one. Write it as JSON, such as ["a", "b"].'
    )
    assert isinstance(PythonCells(COLUMNS).take(Row(7, {"answer": text})), Row)
