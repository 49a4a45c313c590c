"""The form of a question set: rows that are left out, and faults at their field."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from evalsite.pages.review.question_forms import QuestionSetForm
from scoring.core.questions import MAX_QUESTIONS
from tests.pages.review.test_questions import ASKED, FORM


def test_rows_that_are_left_empty_do_not_count() -> None:
    form = QuestionSetForm(FORM, newest=None)
    assert form.is_valid()
    assert form.questions.as_json() == ASKED


def test_filled_rows_and_the_first_empty_one_are_open() -> None:
    assert [row.is_open for row in QuestionSetForm(newest=None).rows()] == [
        True,
        *[False] * (MAX_QUESTIONS - 1),
    ]
    opened = [row.number for row in QuestionSetForm(FORM, newest=None).rows() if row.is_open]
    assert opened == [1, 2, 3]


@pytest.mark.parametrize(
    ("changed", "field", "text"),
    [
        ({"choices_1": "yes"}, "choices_1", "Enter from 2 to 20 choices."),
        ({"answer_3": "perhaps"}, "answer_3", "“Polite?” has the choices yes, no."),
        ({"after_3": "2"}, "answer_3", "Choose an earlier question with choices."),
        ({"text_1": "", "text_3": ""}, "text_1", "Ask at least one question."),
        ({"name": ""}, "name", "This field is required."),
        ({"minimum_3": "many"}, "minimum_3", "Enter a number."),
    ],
)
def test_what_is_wrong_stands_at_its_field(
    changed: Mapping[str, str], field: str, text: str
) -> None:
    assert QuestionSetForm(FORM | dict(changed), newest=None).errors[field] == [text]
