"""Form fields for a queue's questions, and the answers that were sent with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from django import forms
from django.forms import BoundField

from scoring.core.contract import Json
from scoring.core.questions import AnswerError, Answers, Question, QuestionKind, Questions

KEY: Final = {"data-key": "q", "aria-keyshortcuts": "q"}  # leads to the first question
_NO_QUESTIONS: Final = Questions(())


class QuestionField(NamedTuple):
    """A question with its field; shown where the field `shown_if` has the value `shown_is`."""

    question: Question
    field: BoundField
    shown_if: str
    shown_is: str


class AnswersForm(forms.Form):
    """Fields for questions; `answers` are what was sent, once the form is valid."""

    answers: Answers

    def __init__(self, *args: Any, questions: Questions | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._questions = questions or _NO_QUESTIONS
        self.answers = {}
        self._names = {
            question.text: f"answer_{number}"
            for number, question in enumerate(self._questions.all, start=1)
        }
        for question in self._questions.all:
            self.fields[self._names[question.text]] = _make_field(question)
        if first := next(iter(self._names.values()), ""):
            self.fields[first].widget.attrs |= KEY

    def question_fields(self) -> Iterator[QuestionField]:
        """In their order."""
        for question in self._questions.all:
            condition = question.condition
            shown_if = self._names[condition.question] if condition else ""
            field = self[self._names[question.text]]
            yield QuestionField(question, field, shown_if, condition.answer if condition else "")

    def initial_answers(self, answers: Mapping[str, Json]) -> None:
        """Show these, which were given before."""
        for text, name in self._names.items():
            if text in answers:
                self.initial[name] = answers[text]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        sent = {text: cleaned.get(name) for text, name in self._names.items()}
        if not self.errors.keys() & self._names.values():
            try:
                self.answers = self._questions.read(sent)
            except AnswerError as error:
                self.add_error(self._names[error.question], error.text)
        return cleaned


def _make_field(question: Question) -> forms.Field:
    """Not required by itself: another answer may be the condition for it."""
    options: dict[str, Any] = {"label": question.text, "required": False}
    attrs = {"required": True} if question.is_required else {}
    choices = [(choice, choice) for choice in question.choices]
    if question.kind == QuestionKind.CHOICE:
        return forms.ChoiceField(choices=choices, widget=forms.RadioSelect(attrs), **options)
    if question.kind == QuestionKind.CHOICES:
        return forms.MultipleChoiceField(
            choices=choices, widget=forms.CheckboxSelectMultiple, **options
        )
    if question.kind == QuestionKind.NUMBER:
        ends = {"min": question.minimum, "max": question.maximum, "step": "any"}
        limits = {name: end for name, end in ends.items() if end is not None}
        return forms.CharField(widget=forms.NumberInput(attrs | limits), **options)
    return forms.CharField(widget=forms.Textarea(attrs | {"rows": 2}), **options)
