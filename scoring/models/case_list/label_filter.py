"""The cases of one cell of a confusion matrix, as a query condition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from scoring.models.runs.run import Output, Run, RunScorer
from scoring.models.runs.score import Score, Status


@dataclass(frozen=True)
class LabelSpellings:
    """The ways a label was written; where `is_other`, any text that is none of them."""

    written: frozenset[Any]
    is_other: bool = False


@dataclass(frozen=True)
class LabelFilter:
    """Cases that the scorer compared without a problem, by what is expected of them and by what was
    answered; None leaves it open.

    `answered` holds whether the output is JSON and its text, `expected` JSON texts, None where
    there is none.
    """

    scorer: RunScorer
    expected: LabelSpellings | None = None
    answered: LabelSpellings | None = None

    def condition(self, output: str = "output__") -> Q:
        """For rows from which `output` leads to their output."""
        asked = self._asked_of_expected(f"{output}case__") & self._asked_of_answered(output)
        if self._is_spelled_out:
            return asked
        return asked & Q(
            Exists(compared_scores(self.scorer).filter(output=OuterRef(f"{output}pk")))
        )

    @property
    def _is_spelled_out(self) -> bool:
        """Whether both texts are known; then the scorer has compared them wherever they stand."""
        return all(ways and not ways.is_other for ways in (self.expected, self.answered))

    def outputs(self, run: Run) -> Any:
        """The outputs of the run that pass."""
        return Output.objects.filter(self.condition(""), output_set=run.output_set_id)

    def _asked_of_expected(self, case: str) -> Q:
        if self.expected is None:
            return Q()
        texts = self.expected.written - {None}
        asked = Q(**{f"{case}expected_json__in": texts})
        if None in self.expected.written:
            asked |= Q(**{f"{case}expected_json": None})
        elif self.expected.is_other:  # NULL is in no list and not out of one
            return Q(**{f"{case}expected_json": None}) | ~asked
        return ~asked if self.expected.is_other else asked

    def _asked_of_answered(self, output: str) -> Q:
        if self.answered is None:
            return Q()
        asked = Q()
        for is_json in (False, True):
            texts = [text for kind, text in self.answered.written if bool(kind) == is_json]
            asked |= Q(**{f"{output}is_json": is_json, f"{output}text__in": texts})
        if self.answered.is_other:
            return ~asked & Q(**{f"{output}text__isnull": False})
        return asked


def compared_scores(scorer: RunScorer) -> QuerySet[Score]:
    """What the scorer said of the outputs that it could compare with what was expected."""
    return Score.objects.filter(scorer=scorer, status=Status.SCORED, code="")
