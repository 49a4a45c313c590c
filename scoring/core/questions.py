"""Questions that reviewers answer beside their verdict: what may be asked, and what answers hold.

Answers are a dict from the text of a question to a text (one choice, or free text), a list of texts
(several choices) or a number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from math import isfinite
from typing import Any, Final

from scoring.core.contract import Json
from scoring.core.names import is_one_line

MAX_QUESTIONS: Final = 8
MAX_TEXT: Final = 200  # characters of a question
MAX_CHOICES: Final = 20
MAX_CHOICE: Final = 80  # characters
MAX_ANSWER: Final = 2_000  # characters of a free text

Answers = dict[str, Json]


class QuestionKind(StrEnum):
    """What an answer is."""

    CHOICE = "choice"
    CHOICES = "choices"
    NUMBER = "number"
    TEXT = "text"


class QuestionError(ValueError):
    """A question cannot be asked like this: its place from 1 on, and the field that is wrong."""

    def __init__(self, number: int, field: str, text: str) -> None:
        self.number, self.field, self.text = number, field, text
        super().__init__(f"Question {number}, {field}: {text}")


class AnswerError(ValueError):
    """An answer is missing or wrong: `question` is the text of its question."""

    def __init__(self, question: str, text: str) -> None:
        self.question, self.text = question, text
        super().__init__(f"{question} {text}")


@dataclass(frozen=True)
class Condition:
    """That an earlier question, by its text, has this answer, or it among several."""

    question: str
    answer: str

    def holds(self, answers: Mapping[str, Json]) -> bool:
        given = answers.get(self.question)
        return self.answer in given if isinstance(given, list) else self.answer == given


@dataclass(frozen=True)
class Question:
    """One question. `choices` are those of the two kinds that have any, the range that of a number;
    the question is asked where its condition holds.
    """

    text: str
    kind: QuestionKind
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    is_required: bool = False
    condition: Condition | None = None

    def read(self, value: Json) -> Json:
        """The value as an answer; None where it says nothing. Raises AnswerError."""
        if value in (None, "", []):
            return None
        return _READERS[self.kind](self, value)

    @property
    def range_text(self) -> str:
        """The range of a number in words; "" without one."""
        low, high = (f"{end:g}" if end is not None else "" for end in (self.minimum, self.maximum))
        if low and high:
            return f"{low} to {high}"
        return f"{low} or more" if low else f"{high} or less" if high else ""


@dataclass(frozen=True)
class Questions:
    """Up to MAX_QUESTIONS questions in their order, as a team asks them beside the verdict."""

    all: tuple[Question, ...]

    @classmethod
    def parse(cls, value: Json) -> Questions:
        """From what `as_json` gives, or somebody wrote. Raises QuestionError."""
        if not isinstance(value, list) or not value:
            raise QuestionError(1, "text", "Ask at least one question.")
        if len(value) > MAX_QUESTIONS:
            text = f"There may be up to {MAX_QUESTIONS} questions."
            raise QuestionError(MAX_QUESTIONS + 1, "text", text)
        found: list[Question] = []
        for number, each in enumerate(value, start=1):
            found.append(_parse_question(each, number, found))
        return cls(tuple(found))

    def as_json(self) -> list[dict[str, Any]]:
        """Without what is not set."""
        rows = (asdict(question) | {"choices": list(question.choices)} for question in self.all)
        return [{name: each for name, each in row.items() if _is_set(each)} for row in rows]

    def read(self, values: Mapping[str, Json]) -> Answers:
        """The answers by the text of their questions; those to questions not asked are left out.

        Raises AnswerError for a wrong one, one that is missing, and one to no question.
        """
        answers: Answers = {}
        for question in self.all:
            if question.condition and not question.condition.holds(answers):
                continue
            answer = question.read(values.get(question.text))
            if answer is not None:
                answers[question.text] = answer
            elif question.is_required:
                raise AnswerError(question.text, "Answer this question.")
        if unknown := sorted(values.keys() - {question.text for question in self.all}):
            raise AnswerError(str(unknown[0])[:MAX_TEXT], "This question is not asked.")
        return answers


def answer_text(answer: Json) -> str:
    """An answer in words."""
    if isinstance(answer, list):
        return ", ".join(map(str, answer))
    return f"{answer:g}" if isinstance(answer, float) else str(answer)


def _parse_question(value: Json, number: int, earlier: Sequence[Question]) -> Question:
    if not isinstance(value, dict):
        raise QuestionError(number, "text", "A question is an object.")
    text = value.get("text", "")
    if not _is_line(text, MAX_TEXT):
        raise QuestionError(number, "text", f"Enter one line of up to {MAX_TEXT} characters.")
    if any(question.text == text for question in earlier):
        raise QuestionError(number, "text", "This is asked already.")
    kind = value.get("kind")
    if kind not in list(QuestionKind):
        raise QuestionError(number, "kind", f"Choose {', '.join(QuestionKind)}.")
    low, high = _parse_range(value, number) if kind == QuestionKind.NUMBER else (None, None)
    has_choices = kind in {QuestionKind.CHOICE, QuestionKind.CHOICES}
    return Question(
        text,
        QuestionKind(kind),
        _parse_choices(value.get("choices"), number) if has_choices else (),
        low,
        high,
        value.get("is_required") is True,
        _parse_condition(value.get("condition"), number, earlier),
    )


def _parse_choices(value: Json, number: int) -> tuple[str, ...]:
    if not isinstance(value, list) or not 2 <= len(value) <= MAX_CHOICES:
        raise QuestionError(number, "choices", f"Enter from 2 to {MAX_CHOICES} choices.")
    for each in value:
        if not _is_line(each, MAX_CHOICE):
            text = f"A choice is one line of up to {MAX_CHOICE} characters."
            raise QuestionError(number, "choices", text)
    if len(set(value)) < len(value):
        raise QuestionError(number, "choices", "A choice is there twice.")
    return tuple(value)


def _parse_range(value: dict[str, Json], number: int) -> tuple[float | None, float | None]:
    ends = (value.get("minimum"), value.get("maximum"))
    for name, end in zip(("minimum", "maximum"), ends, strict=True):
        if end is not None and not _is_number(end):
            raise QuestionError(number, name, "Enter a number.")
    low, high = ends
    if low is not None and high is not None and low >= high:
        raise QuestionError(number, "maximum", "Enter a number above the minimum.")
    return low, high


def _parse_condition(value: Json, number: int, earlier: Sequence[Question]) -> Condition | None:
    if value is None:
        return None
    wanted = value if isinstance(value, dict) else {}
    asked = next((each for each in earlier if each.text == wanted.get("question")), None)
    if asked is None or not asked.choices:
        raise QuestionError(number, "condition", "Choose an earlier question with choices.")
    if wanted.get("answer") not in asked.choices:
        listed = ", ".join(asked.choices)
        raise QuestionError(number, "condition", f"“{asked.text}” has the choices {listed}.")
    return Condition(asked.text, wanted["answer"])


def _read_choice(question: Question, value: Json) -> Json:
    if value not in question.choices:
        raise AnswerError(question.text, f"Choose one of {', '.join(question.choices)}.")
    return value


def _read_choices(question: Question, value: Json) -> Json:
    chosen = value if isinstance(value, list) else [value]
    for each in chosen:
        _read_choice(question, each)
    return [each for each in question.choices if each in chosen]


def _read_number(question: Question, value: Json) -> Json:
    number = _to_number(value)
    low, high = question.minimum, question.maximum
    is_outside = number is not None and (
        (low is not None and number < low) or (high is not None and number > high)
    )
    if number is None or is_outside:
        wanted = f" from {low:g} to {high:g}" if low is not None and high is not None else ""
        wanted = wanted or (f", {question.range_text}" if question.range_text else "")
        raise AnswerError(question.text, f"Enter a number{wanted}.")
    return number


def _read_text(question: Question, value: Json) -> Json:
    if not isinstance(value, str) or len(value) > MAX_ANSWER:
        raise AnswerError(question.text, f"Enter a text of up to {MAX_ANSWER:,} characters.")
    return value.strip() or None


def _to_number(value: Json) -> float | None:
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    return value if _is_number(value) else None


def _is_set(value: Json) -> bool:
    return value is not None and value is not False and value != []


def _is_line(value: Json, most: int) -> bool:
    return isinstance(value, str) and 0 < len(value.strip()) <= most and is_one_line(value)


def _is_number(value: Json) -> bool:
    """Whether it is a number that a float can hold."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return isfinite(value)
    except OverflowError:
        return False


_READERS: Final = {
    QuestionKind.CHOICE: _read_choice,
    QuestionKind.CHOICES: _read_choices,
    QuestionKind.NUMBER: _read_number,
    QuestionKind.TEXT: _read_text,
}
