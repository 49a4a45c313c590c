"""What reviewers answered to the questions of a queue, summed up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from statistics import fmean

from scoring.core.contract import Json
from scoring.core.questions import AnswerError, Answers, Question, QuestionKind
from scoring.models import Review, ReviewQueue


@dataclass(frozen=True)
class QuestionAnswers:
    """The answers to one question, one of each review that has any."""

    question: Question
    answers: Sequence[Json]

    @property
    def n(self) -> int:
        return len(self.answers)

    @property
    def choices(self) -> list[tuple[str, int]]:
        """Each choice, in the order of the question, with the reviews that chose it."""
        several = self.question.kind == QuestionKind.CHOICES
        counts = Counter(
            choice for answer in self.answers for choice in (answer if several else [answer])
        )
        return [(choice, counts[choice]) for choice in self.question.choices]

    @property
    def mean(self) -> float | None:
        """Of numbers; None for other answers, and without any."""
        is_number = self.question.kind == QuestionKind.NUMBER
        return fmean(self.answers) if is_number and self.answers else None

    @property
    def least(self) -> float:
        return float(min(self.answers))

    @property
    def most(self) -> float:
        return float(max(self.answers))


def summarize_answers(queue: ReviewQueue) -> list[QuestionAnswers]:
    """Each question of the queue with the answers of those who review its outputs.

    What came in by a file before the team had such questions may not fit them, and is left out.
    """
    asked = queue.question_set
    if asked is None:
        return []
    reviews = Review.objects.filter(output__in=queue.tasks.values("output"))
    given = [
        answers[asked.label]
        for answers in reviews.filter(answers__has_key=asked.label)
        .order_by("pk")
        .values_list("answers", flat=True)
    ]
    return [
        QuestionAnswers(question, [*_fitting(question, given)]) for question in asked.questions.all
    ]


def _fitting(question: Question, given: Iterable[Answers]) -> Iterator[Json]:
    """The answers to the question that are answers to it."""
    for answers in given:
        with suppress(AnswerError):
            if (answer := question.read(answers.get(question.text))) is not None:
                yield answer
