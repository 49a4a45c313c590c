"""Questions beside the verdict: what may be asked, and what an answer may be."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.questions import (
    MAX_QUESTIONS,
    AnswerError,
    QuestionError,
    QuestionKind,
    Questions,
    answer_text,
)

POLITE = {"text": "Polite?", "kind": "choice", "choices": ["yes", "no"], "is_required": True}
WHY = {
    "text": "Why not?",
    "kind": "choices",
    "choices": ["rude", "curt"],
    "condition": {"question": "Polite?", "answer": "no"},
    "is_required": True,
}
RUDE = {
    "text": "How rude?",
    "kind": "number",
    "minimum": 1,
    "maximum": 5,
    "condition": {"question": "Why not?", "answer": "rude"},
}
MORE = {"text": "Anything else?", "kind": "text"}
ALL = Questions.parse([POLITE, WHY, RUDE, MORE])


def test_questions_come_back_as_they_were_written() -> None:
    assert ALL.as_json() == [POLITE, WHY, RUDE, MORE]
    assert Questions.parse(ALL.as_json()) == ALL
    assert [question.kind for question in ALL.all] == list(QuestionKind)


@pytest.mark.parametrize(
    ("questions", "number", "field"),
    [
        ([], 1, "text"),
        ("none", 1, "text"),
        ([MORE] * (MAX_QUESTIONS + 1), MAX_QUESTIONS + 1, "text"),
        (["Polite?"], 1, "text"),
        ([{"kind": "text"}], 1, "text"),
        ([{"text": " ", "kind": "text"}], 1, "text"),
        ([{"text": "a\nb", "kind": "text"}], 1, "text"),
        ([{"text": "x" * 201, "kind": "text"}], 1, "text"),
        ([MORE, MORE], 2, "text"),
        ([MORE | {"kind": "essay"}], 1, "kind"),
        ([MORE | {"kind": None}], 1, "kind"),
        ([POLITE | {"choices": ["yes"]}], 1, "choices"),
        ([POLITE | {"choices": None}], 1, "choices"),
        ([POLITE | {"choices": ["yes", "yes"]}], 1, "choices"),
        ([POLITE | {"choices": ["yes", 1]}], 1, "choices"),
        ([POLITE | {"choices": [str(each) for each in range(21)]}], 1, "choices"),
        ([{"text": "n", "kind": "number", "minimum": 5, "maximum": 5}], 1, "maximum"),
        ([{"text": "n", "kind": "number", "minimum": "1"}], 1, "minimum"),
        ([{"text": "n", "kind": "number", "maximum": float("nan")}], 1, "maximum"),
        ([WHY, POLITE], 1, "condition"),
        (
            [POLITE, WHY | {"condition": {"question": "Polite?", "answer": "perhaps"}}],
            2,
            "condition",
        ),
        ([MORE, WHY | {"condition": {"question": MORE["text"], "answer": "x"}}], 2, "condition"),
        ([POLITE, WHY | {"condition": "no"}], 2, "condition"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_its_place(
    questions: Any, number: int, field: str
) -> None:
    with pytest.raises(QuestionError) as refused:
        Questions.parse(questions)
    assert (refused.value.number, refused.value.field) == (number, field)


def test_answers_are_kept_by_the_text_of_their_question() -> None:
    sent = {"Polite?": "no", "Why not?": ["curt", "rude"], "How rude?": "2.5"}
    assert ALL.read(sent | {"Anything else?": " yes "}) == {
        "Polite?": "no",
        "Why not?": ["rude", "curt"],
        "How rude?": 2.5,
        "Anything else?": "yes",
    }


def test_what_is_not_asked_needs_no_answer_and_keeps_none() -> None:
    """Also where the condition is on a question that is itself not asked."""
    sent = {"Polite?": "yes", "Why not?": ["rude"], "How rude?": 9, "Anything else?": ""}
    assert ALL.read(sent) == {"Polite?": "yes"}


@pytest.mark.parametrize(
    ("sent", "question"),
    [
        ({}, "Polite?"),
        ({"Polite?": ""}, "Polite?"),
        ({"Polite?": "perhaps"}, "Polite?"),
        ({"Polite?": ["yes"]}, "Polite?"),
        ({"Polite?": "no"}, "Why not?"),
        ({"Polite?": "no", "Why not?": []}, "Why not?"),
        ({"Polite?": "no", "Why not?": ["loud"]}, "Why not?"),
        ({"Polite?": "no", "Why not?": ["rude"], "How rude?": 6}, "How rude?"),
        ({"Polite?": "no", "Why not?": ["rude"], "How rude?": 0.9}, "How rude?"),
        ({"Polite?": "no", "Why not?": ["rude"], "How rude?": "many"}, "How rude?"),
        ({"Polite?": "no", "Why not?": ["rude"], "How rude?": "nan"}, "How rude?"),
        ({"Polite?": "no", "Why not?": ["rude"], "How rude?": True}, "How rude?"),
        ({"Polite?": "no", "Why not?": ["rude"], "How rude?": 10**400}, "How rude?"),
        ({"Polite?": "yes", "Anything else?": 5}, "Anything else?"),
        ({"Polite?": "yes", "Anything else?": "x" * 2_001}, "Anything else?"),
        ({"Polite?": "yes", "Who?": "me"}, "Who?"),
    ],
)
def test_a_missing_or_wrong_answer_is_refused(sent: dict[str, Any], question: str) -> None:
    with pytest.raises(AnswerError) as refused:
        ALL.read(sent)
    assert refused.value.question == question


@pytest.mark.parametrize(
    ("limits", "text"),
    [
        ({"minimum": 1, "maximum": 5}, "1 to 5"),
        ({"minimum": 0.5}, "0.5 or more"),
        ({"maximum": 0}, "0 or less"),
        ({}, ""),
    ],
)
def test_a_range_is_said_in_words(limits: dict[str, float], text: str) -> None:
    questions = Questions.parse([{"text": "n", "kind": "number", **limits}])
    assert questions.all[0].range_text == text


def test_answers_are_said_in_words() -> None:
    assert [answer_text(each) for each in ("yes", ["a", "b"], 2.5, 3.0, 4)] == [
        *("yes", "a, b", "2.5", "3", "4")
    ]


@given(st.dictionaries(st.sampled_from([*(q.text for q in ALL.all), "Who?"]), st.from_type(object)))
def test_any_values_are_read_or_refused(values: dict[str, Any]) -> None:
    try:
        read = ALL.read(values)
    except AnswerError:
        return
    assert ALL.read(read) == read
