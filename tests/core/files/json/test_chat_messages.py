"""Chats that end with the right answer: the end is expected, what was said before is the input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scoring.core.files import (
    MISSING,
    MappedCase,
    Mapping,
    Row,
    detect_format,
    guess_mapping,
    read_rows,
)
from scoring.core.files.json.chat_messages import split_steps

SYSTEM = {"role": "system", "content": "Be short."}
ASKED = {"role": "user", "content": "Capital of France?"}
ANSWERED = {"role": "assistant", "content": "Paris"}
CALLED: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": [{"id": "c1"}]}


def cases(tmp_path: Path, *rows: dict[str, Any]) -> list[MappedCase]:
    """The rows of a JSONL file as cases, by the guessed mapping."""
    path = tmp_path / "chats.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    detected = detect_format(path)
    mapping = guess_mapping(detected.columns, detected.sample, is_open=detected.is_open)
    mapped = [mapping.apply(row) for row in read_rows(path, detected) if isinstance(row, Row)]
    assert all(isinstance(case, MappedCase) for case in mapped)
    return [case for case in mapped if isinstance(case, MappedCase)]


def test_the_last_message_is_what_is_expected(tmp_path: Path) -> None:
    (case,) = cases(tmp_path, {"messages": [SYSTEM, ASKED, ANSWERED]})
    assert case.input == [SYSTEM, ASKED]
    assert case.expected == "Paris"
    assert case.metadata == {}


def test_of_several_turns_only_the_last_is_expected(tmp_path: Path) -> None:
    again = {"role": "user", "content": "Sure?"}
    sure = {"role": "assistant", "content": "Yes"}
    (case,) = cases(tmp_path, {"messages": [ASKED, ANSWERED, again, sure]})
    assert case.input == [ASKED, ANSWERED, again]
    assert case.expected == "Yes"


def test_chats_in_the_other_spelling_are_read_as_well(tmp_path: Path) -> None:
    said = [{"from": "human", "value": "One?"}, {"from": "gpt", "value": "1"}]
    (case,) = cases(tmp_path, {"id": "a", "conversations": said})
    assert (case.key, case.input, case.expected) == ("a", said[:1], "1")


def test_nothing_more_that_the_row_or_its_last_message_holds_is_lost(tmp_path: Path) -> None:
    last = {**ANSWERED, "weight": 0}
    (case,) = cases(tmp_path, {"messages": [ASKED, last], "tools": [{"type": "function"}]})
    assert case.metadata == {"messages": {"weight": 0}, "tools": [{"type": "function"}]}


@pytest.mark.parametrize(
    "row",
    [
        {"messages": [SYSTEM, ASKED]},
        {"messages": [ASKED, CALLED]},
        {"messages": [ANSWERED]},
        {"messages": []},
        {"messages": "User: Capital of France?"},
        {"messages": ["Capital of France?", "Paris"]},
    ],
    ids=["no answer", "a call", "nothing asked", "nothing said", "a text", "texts"],
)
def test_what_does_not_end_with_an_answer_stays_whole(tmp_path: Path, row: dict[str, Any]) -> None:
    found = cases(tmp_path, row)
    assert [case.input for case in found] == [row["messages"]]
    assert [case.expected for case in found] == [MISSING]


def test_one_chat_without_an_answer_keeps_all_of_them_whole(tmp_path: Path) -> None:
    rows = [{"messages": [ASKED, ANSWERED]}, {"messages": [ASKED]}]
    assert [case.input for case in cases(tmp_path, *rows)] == [row["messages"] for row in rows]


@pytest.mark.parametrize("name", ["ideal", "completion", "references"])
def test_beside_what_is_expected_or_was_answered_a_chat_is_input(tmp_path: Path, name: str) -> None:
    (case,) = cases(tmp_path, {"messages": [ASKED, ANSWERED], name: "Lyon"})
    assert case.input == [ASKED, ANSWERED]


def test_a_chat_that_is_an_input_by_name_stays_whole(tmp_path: Path) -> None:
    """As it is written when a dataset is exported, so that it comes back as it was."""
    (case,) = cases(tmp_path, {"id": "a", "input": [ASKED, ANSWERED]})
    assert (case.input, case.expected) == ([ASKED, ANSWERED], MISSING)


def test_what_is_chosen_holds_against_the_guess() -> None:
    row = Row(1, {"messages": [ASKED, ANSWERED]})
    mapping = guess_mapping(["messages"], [row], {"input": ["messages"]})
    assert (mapping.input, mapping.expected) == ("messages", "")


def test_half_of_a_chat_takes_nothing_out_of_the_metadata() -> None:
    row = Row(1, {"messages": [ASKED, ANSWERED]})
    case = Mapping(input="messages[:-1]").apply(row)
    assert isinstance(case, MappedCase)
    assert case.input == [ASKED]
    assert case.metadata == {"messages": [ASKED, ANSWERED]}


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("a[-1]", {"a": [1, 2]}, 2),
        ("a[-1].b", {"a": [{"b": 1}, {"b": 2}]}, 2),
        ("a.b[:-1]", {"a": {"b": [1, 2, 3]}}, [1, 2]),
        ("a[-1][0]", {"a": [[1], [2, 3]]}, 2),
        ("a[-1]", {"a": []}, MISSING),
        ("a[-1]", {"a": "text"}, MISSING),
        ("a[:-1]", {"a": "text"}, MISSING),
        ("a[:-1]", {"a": {"b": 1}}, MISSING),
        ("a[-1]", {"a[-1]": "by its name", "a": [1]}, "by its name"),
        ('["a[-1]"].b', {"a[-1]": {"b": 7}}, 7),
    ],
)
def test_a_path_counts_from_the_end(path: str, value: dict[str, Any], expected: object) -> None:
    assert Mapping(input=path).value(value, path) == expected


@pytest.mark.parametrize("path", ["a[-2]", "a[:-2]", "a[1:-1]", "[-1"])
def test_what_is_no_such_path_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match="cannot read the path"):
        split_steps(path)
