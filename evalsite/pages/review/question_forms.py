"""The form of a question set: a name, and up to eight questions of a few fields each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from django import forms
from django.forms import BoundField

from evalsite.pages.web.fields import NameField
from scoring.core.questions import MAX_QUESTIONS, QuestionError, QuestionKind, Questions
from scoring.models import QuestionSet
from scoring.models.reviews.question_set import MAX_NAME

_FIELDS: Final = (
    *("text", "kind", "is_required", "choices", "minimum", "maximum", "after", "answer"),
)
_KINDS: Final = [
    (QuestionKind.CHOICE, "One choice"),
    (QuestionKind.CHOICES, "Several choices"),
    (QuestionKind.NUMBER, "Number"),
    (QuestionKind.TEXT, "Text"),
]
_NUMBERS: Final = range(1, MAX_QUESTIONS + 1)
#: The field of the form by the field of a question that is wrong.
_FAULTS: Final = {"condition": "answer"}


class QuestionFields(NamedTuple):
    """The fields of one question; `is_open` where there is something to see or to enter."""

    number: int
    fields: dict[str, BoundField]
    is_open: bool


class QuestionSetForm(forms.Form):
    """The next version of a set. `questions` are those that were sent, once it is valid."""

    questions: Questions

    name = NameField(max_length=MAX_NAME, help_text="Such as “Tone of support answers”.")

    def __init__(self, *args: Any, newest: QuestionSet | None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._newest = newest
        for number in _NUMBERS:
            for field, made in _make_fields(number).items():
                self.fields[f"{field}_{number}"] = made
        if newest is not None:
            self.fields["name"].disabled = True
            self.initial["name"] = newest.name
            for number, question in enumerate(newest.content, start=1):
                for field, value in _initial(question, newest.content).items():
                    self.initial[f"{field}_{number}"] = value

    def rows(self) -> Iterator[QuestionFields]:
        """Of each question; the first empty one is open, too."""
        is_next = True
        for number in _NUMBERS:
            fields = {name: self[f"{name}_{number}"] for name in _FIELDS}
            has_errors = any(field.errors for field in fields.values())
            is_filled = bool(fields["text"].value()) or has_errors
            yield QuestionFields(number, fields, is_filled or is_next)
            is_next = is_filled and is_next

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        numbers = [number for number in _NUMBERS if cleaned.get(f"text_{number}")]
        if self.errors:
            return cleaned
        texts = {number: cleaned[f"text_{number}"] for number in numbers}
        try:
            self.questions = Questions.parse([_read(cleaned, number, texts) for number in numbers])
        except QuestionError as error:
            place = numbers[error.number - 1] if numbers else 1
            self.add_error(f"{_FAULTS.get(error.field, error.field)}_{place}", error.text)
        return cleaned


def _make_fields(number: int) -> dict[str, forms.Field]:
    """By the names of _FIELDS."""
    earlier = [
        ("", "always"),
        *((str(each), f"depending on question {each}") for each in range(1, number)),
    ]
    fields: dict[str, forms.Field] = {
        "text": forms.CharField(label=f"Question {number}", required=False),
        "kind": forms.ChoiceField(label="Answer", choices=_KINDS, required=False),
        "choices": forms.CharField(
            label="Choices",
            required=False,
            widget=forms.Textarea(attrs={"rows": 3}),
            help_text="One a line.",
        ),
        "minimum": forms.FloatField(label="Minimum", required=False),
        "maximum": forms.FloatField(label="Maximum", required=False),
        "is_required": forms.BooleanField(label="Required", required=False),
        "after": forms.ChoiceField(label="Shown", choices=earlier, required=False),
        "answer": forms.CharField(
            label="where it is answered", required=False, help_text="One of its choices."
        ),
    }
    return fields


def _initial(question: Mapping[str, Any], asked: list[dict[str, Any]]) -> dict[str, Any]:
    """What a stored question is in the form."""
    condition = question.get("condition")
    texts = [each["text"] for each in asked]
    return {
        **{name: question.get(name) for name in ("text", "kind", "minimum", "maximum")},
        "choices": "\n".join(question.get("choices", ())),
        "is_required": question.get("is_required", False),
        "after": str(texts.index(condition["question"]) + 1) if condition else "",
        "answer": condition["answer"] if condition else "",
    }


def _read(cleaned: Mapping[str, Any], number: int, texts: Mapping[int, str]) -> dict[str, Any]:
    """One question as `Questions.parse` takes it."""
    values: dict[str, Any] = {field: cleaned.get(f"{field}_{number}") for field in _FIELDS}
    lines = (line.strip() for line in values["choices"].splitlines())
    earlier = texts.get(int(values["after"])) if values["after"] else None
    condition = {"question": earlier, "answer": values["answer"].strip()}
    return {
        **{name: values[name] for name in ("text", "kind", "minimum", "maximum", "is_required")},
        "choices": [line for line in lines if line],
        "condition": condition if values["after"] else None,
    }
