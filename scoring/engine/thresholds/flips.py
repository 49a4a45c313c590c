"""The cases whose verdict by one scorer another threshold would change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Final, NamedTuple, Self

from django.db.models import Exists, OuterRef, Q, QuerySet

from scoring.models import RunScorer, Score, Verdict

PAGE: Final = 50
_COLUMNS: Final = (
    "output__case__key",
    "output__case__position",
    "output__trial",
    "score",
    "output",
    "fails_otherwise",
)


class FlipCursor(NamedTuple):
    """A row's place in the order by score."""

    score: float
    output: int

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """None for a text that is no cursor."""
        score, _, output = text.partition(",")
        try:
            cursor = cls(float(score), int(output))
        except ValueError:
            return None
        return cursor if isfinite(cursor.score) and 0 <= cursor.output < 2**63 else None

    def __str__(self) -> str:
        return f"{self.score!r},{self.output}"


class FlippedCase(NamedTuple):
    """An output that flips, and whether the verdict of its case changes with it."""

    key: str
    position: int
    trial: int
    score: float
    changes_case: bool
    cursor: FlipCursor


class FlipPage(NamedTuple):
    """Cases in the order of their scores; the cursors of the neighbouring pages, if any."""

    cases: Sequence[FlippedCase]
    before: FlipCursor | None = None
    after: FlipCursor | None = None


@dataclass(frozen=True)
class Flips:
    """The outputs of a run that flip when the threshold goes from `old` to `new`.

    They all flip in one direction: those whose score is at least the lower threshold and below the
    higher one. Errors, skips and results that fail whatever the threshold are not among them.
    """

    scorer: RunScorer
    old: float
    new: float

    @property
    def rows(self) -> QuerySet[Score]:
        low, high = sorted((self.old, self.new))
        between = Score.objects.filter(scorer=self.scorer, score__gte=low, score__lt=high)
        return between if low > 0 else between.filter(code="")

    def count_case_verdicts(self) -> int:
        """How many verdicts of whole cases change: those that no other scorer fails."""
        if not self._others:
            return self.rows.count()
        return self.rows.exclude(self._fails_otherwise()).count()

    def page(
        self,
        *,
        after: FlipCursor | None = None,
        before: FlipCursor | None = None,
        size: int = PAGE,
        without: frozenset[int] = frozenset(),
    ) -> FlipPage:
        """The cases after or before a cursor, the lowest score first, but for some outputs."""
        rows = self.rows.annotate(fails_otherwise=self._fails_otherwise())
        if without:
            rows = rows.exclude(output__in=without)
        if before:
            rows = rows.filter(score__lte=before.score).exclude(
                Q(score=before.score, output__gte=before.output)
            )
            found = list(rows.order_by("-score", "-output").values_list(*_COLUMNS)[: size + 1])
            has_before, has_after = len(found) > size, True
            found = found[:size][::-1]
        else:
            if after:
                rows = rows.filter(score__gte=after.score).exclude(
                    Q(score=after.score, output__lte=after.output)
                )
            found = list(rows.order_by("score", "output").values_list(*_COLUMNS)[: size + 1])
            has_before, has_after = after is not None, len(found) > size
            found = found[:size]
        cases = [_flipped(row) for row in found]
        if not cases:
            return FlipPage([])
        first = cases[0].cursor if has_before else None
        last = cases[-1].cursor if has_after else None
        return FlipPage(cases, first, last)

    @property
    def _others(self) -> list[int]:
        others = RunScorer.objects.filter(run=self.scorer.run_id).exclude(pk=self.scorer.pk)
        return list(others.values_list("pk", flat=True))

    def _fails_otherwise(self) -> Exists:
        """Whether another scorer of the run fails the output."""
        fails = Score.objects.filter(
            scorer__in=self._others, output=OuterRef("output"), verdict=Verdict.FAIL
        )
        return Exists(fails)


def _flipped(row: tuple[Any, ...]) -> FlippedCase:
    key, position, trial, score, output, fails_otherwise = row
    return FlippedCase(key, position, trial, score, not fails_otherwise, FlipCursor(score, output))
