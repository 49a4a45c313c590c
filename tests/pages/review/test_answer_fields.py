"""Fields for a queue's questions: made of their kind, and read as its answers."""

from __future__ import annotations

from django import forms

from evalsite.pages.review.answer_fields import AnswersForm
from scoring.core.questions import Questions

ASKED = Questions.parse(
    [
        {"text": "Polite?", "kind": "choice", "choices": ["yes", "no"], "is_required": True},
        {
            "text": "What?",
            "kind": "choices",
            "choices": ["a", "b"],
            "condition": {"question": "Polite?", "answer": "no"},
        },
        {"text": "Points", "kind": "number", "minimum": 0, "maximum": 10},
        {"text": "More", "kind": "text"},
    ]
)


def test_each_kind_has_its_field() -> None:
    shown = list(AnswersForm(questions=ASKED).question_fields())
    assert [type(each.field.field.widget) for each in shown] == [
        *(forms.RadioSelect, forms.CheckboxSelectMultiple, forms.NumberInput, forms.Textarea)
    ]
    assert [(each.shown_if, each.shown_is) for each in shown[:2]] == [("", ""), ("answer_1", "no")]
    assert shown[2].field.field.widget.attrs == {"min": 0, "max": 10, "step": "any"}
    assert "required" in str(shown[0].field)
    assert "required" not in str(shown[3].field)


def test_what_was_sent_is_read_as_answers() -> None:
    sent = {"answer_1": "no", "answer_2": ["b"], "answer_3": "2.5", "answer_4": " x "}
    form = AnswersForm(sent, questions=ASKED)
    assert form.is_valid()
    assert form.answers == {"Polite?": "no", "What?": ["b"], "Points": 2.5, "More": "x"}


def test_a_fault_stands_at_its_question() -> None:
    assert AnswersForm({}, questions=ASKED).errors == {"answer_1": ["Answer this question."]}
    wrong = AnswersForm({"answer_1": "yes", "answer_3": "11"}, questions=ASKED)
    assert wrong.errors == {"answer_3": ["Enter a number from 0 to 10."]}
    assert AnswersForm({"answer_1": "x"}, questions=ASKED).errors.keys() == {"answer_1"}


def test_without_questions_there_is_nothing_to_answer() -> None:
    form = AnswersForm({})
    assert form.is_valid()
    assert (form.answers, list(form.question_fields())) == ({}, [])


def test_earlier_answers_are_shown_where_they_are_asked_again() -> None:
    form = AnswersForm(questions=ASKED)
    form.initial_answers({"Points": 3, "Who?": "me"})
    assert form.initial == {"answer_3": 3}
