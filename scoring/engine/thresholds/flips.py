"""The cases whose verdict by one scorer another threshold would change."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Any, Final, NamedTuple, Self

from django.db.models import Exists, OuterRef, Q, QuerySet

from scoring.engine.runs.trial_figures import read_trials
from scoring.engine.thresholds.case_means import CaseMean, read_case_means
from scoring.models import Case, Output, RunScorer, Score, Status, Verdict

PAGE: Final = 50
BATCH: Final = 5_000  # cases that one query names
_COLUMNS: Final = (
    "output__case__key",
    "output__case__position",
    "output__trial",
    "score",
    "output",
    "fails_otherwise",
)


class FlipCursor(NamedTuple):
    """A row's place in the order by score; `output` is the id of the output, or of the case."""

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
    """An output that flips, or a case by the mean of its trials, and whether the verdict of the
    case changes with it.
    """

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
class _Flips:
    """What flips in a run when the threshold of a scorer goes from `old` to `new`.

    They all flip in one direction: those whose score is at least the lower threshold and below the
    higher one. Errors, skips and results that fail whatever the threshold are not among them.
    """

    scorer: RunScorer
    old: float
    new: float

    @cached_property
    def _others(self) -> list[RunScorer]:
        """The run's other scorers."""
        return list(RunScorer.objects.filter(run=self.scorer.run_id).exclude(pk=self.scorer.pk))


class OutputFlips(_Flips):
    """The outputs that flip, where cases have one each."""

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

    def _fails_otherwise(self) -> Exists:
        """Whether another scorer of the run fails the output."""
        fails = Score.objects.filter(
            scorer__in=self._others, output=OuterRef("output"), verdict=Verdict.FAIL
        )
        return Exists(fails)


def _flipped(row: tuple[Any, ...]) -> FlippedCase:
    key, position, trial, score, output, fails_otherwise = row
    return FlippedCase(key, position, trial, score, not fails_otherwise, FlipCursor(score, output))


class CaseFlips(_Flips):
    """The cases that flip by the mean of their trials."""

    @cached_property
    def means(self) -> list[CaseMean]:
        """The lowest mean first."""
        low, high = sorted((self.old, self.new))
        means = read_case_means(self.scorer, low, high)
        return [each for each in means if not each.always_fails]

    def count_case_verdicts(self) -> int:
        """How many verdicts of whole cases change: those that no other scorer fails."""
        cases = [each.case for each in self.means]
        return len(cases) - len(self._failing_otherwise(cases))

    def page(
        self,
        *,
        after: FlipCursor | None = None,
        before: FlipCursor | None = None,
        size: int = PAGE,
        without: frozenset[int] = frozenset(),
    ) -> FlipPage:
        """The cases after or before a cursor, the lowest mean first, but for those of outputs."""
        hidden = set(Output.objects.filter(pk__in=without).values_list("case", flat=True))
        means = [each for each in self.means if each.case not in hidden]
        keys = [(each.mean, each.case) for each in means]
        if before:
            end = bisect_left(keys, tuple(before))
            start = max(0, end - size)
        else:
            start = bisect_right(keys, tuple(after)) if after else 0
            end = min(start + size, len(means))
        cases = self._describe(means[start:end])
        if not cases:
            return FlipPage([])
        first = cases[0].cursor if start else None
        last = cases[-1].cursor if end < len(means) else None
        return FlipPage(cases, first, last)

    def _describe(self, means: Sequence[CaseMean]) -> list[FlippedCase]:
        cases = Case.objects.in_bulk([each.case for each in means])
        fails_otherwise = self._failing_otherwise(list(cases))
        return [
            FlippedCase(
                cases[case].key,
                cases[case].position,
                0,
                mean,
                case not in fails_otherwise,
                FlipCursor(mean, case),
            )
            for mean, case, _ in means
        ]

    def _failing_otherwise(self, cases: Sequence[int]) -> set[int]:
        """Those of the cases that another scorer of the run fails."""
        batches = (cases[start : start + BATCH] for start in range(0, len(cases), BATCH))
        return {case for batch in batches for case in _failing_cases(self._others, batch)}


Flips = OutputFlips | CaseFlips


def find_flips(scorer: RunScorer, old: float, new: float) -> Flips:
    """What flips in the scorer's run, which is joined."""
    return (CaseFlips if scorer.run.has_trials else OutputFlips)(scorer, old, new)


def _failing_cases(scorers: Sequence[RunScorer], cases: Collection[int]) -> set[int]:
    """Those of the cases that one of the scorers fails by the mean of their trials."""
    return {
        case
        for scorer in scorers
        for case, verdict in read_trials(scorer, cases=cases).verdicts()
        if verdict == (Status.SCORED, Verdict.FAIL)
    }
