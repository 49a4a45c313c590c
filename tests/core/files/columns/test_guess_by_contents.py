"""Names that say nothing are helped by what the columns hold."""

from __future__ import annotations

import pytest

from scoring.core.files import Row, guess_mapping

QUESTIONS = ["Where is Paris?", "Who wrote Emma?", "How far is it?", "Tell me."]
RIGHT = ["France", "Austen", "5 km", "Yes"]
SAID = ["It is in france.", "Jane Austen", "About 5 km", "No"]
TOPICS = ["places", "books", "places", "places"]


def sample(**columns: list[str]) -> list[Row]:
    rows = zip(*columns.values(), strict=True)
    return [Row(n, dict(zip(columns, row, strict=True))) for n, row in enumerate(rows, start=2)]


def test_what_asks_is_the_input_and_what_outputs_repeat_is_expected() -> None:
    rows = sample(a=QUESTIONS, b=RIGHT, output=SAID)
    mapping = guess_mapping(["a", "b", "output"], rows)
    assert (mapping.input, mapping.expected, mapping.output) == ("a", "b", ("output",))


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (TOPICS, [f"Of {topic}" for topic in TOPICS]),  # categories
        (["w", "x", "y", "z"], SAID),
        (["France", "", "", ""], SAID),
    ],
)
def test_other_texts_stay_metadata(values: list[str], said: list[str]) -> None:
    mapping = guess_mapping(["a", "b", "output"], sample(a=QUESTIONS, b=values, output=said))
    assert (mapping.input, mapping.expected) == ("a", "")


def test_two_rows_tell_nothing() -> None:
    rows = sample(b=RIGHT[:2], output=SAID[:2])
    assert guess_mapping(["b", "output"], rows).expected == ""


def test_names_and_choices_come_first() -> None:
    rows = sample(input=RIGHT, a=QUESTIONS, b=RIGHT, output=SAID)
    columns = ["input", "a", "b", "output"]
    assert guess_mapping(columns, rows).input == "input"
    assert guess_mapping(columns, rows, {"expected": []}).expected == ""
    assert guess_mapping(columns, rows, {"references": ["b"]}).expected == ""


def test_with_several_outputs_none_of_them_tells_what_is_right() -> None:
    rows = sample(a=QUESTIONS, b=RIGHT, **{"gpt-4o": SAID, "claude-3": SAID})
    mapping = guess_mapping(["a", "b", "gpt-4o", "claude-3"], rows)
    assert (mapping.input, mapping.expected) == ("a", "")
