"""Reductions of a case's trials: mean, median, lowest, pass@k, and unsteady cases.

Trials that failed to run have no score. Left out, they would flatter every figure but the mean, so
each has bounds: what it would be if they had all scored 0, or all 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import comb, fsum
from statistics import fmean, median
from typing import Final, Literal, NamedTuple

from scoring.core.stats.descriptive import Estimate, mean_estimate

Reduction = Literal["mean", "median", "min"]
_WAYS: Final[dict[Reduction, Callable[[Sequence[float]], float]]] = {
    "mean": fmean,
    "median": median,
    "min": min,
}
REDUCTIONS: Final = tuple(_WAYS)
MEAN_DIGITS: Final = 9  # of the one score of a case


class CaseTrials(NamedTuple):
    """The scores of one case's trials that have one, how many of them passed, and how many trials
    were `lost`, because they failed to run.
    """

    scores: Sequence[float]
    passed: int
    lost: int = 0

    @property
    def is_unsteady(self) -> bool:
        """Whether some trials pass and others fail: the case straddles the threshold."""
        return 0 < self.passed < len(self.scores)

    @property
    def lost_share(self) -> float:
        """Of its trials with a score or lost."""
        return self.lost / (self.lost + len(self.scores)) if self.lost else 0.0

    def fill(self, score: float, *, passes: bool) -> CaseTrials:
        """The case if the lost trials had this score."""
        scores = [*self.scores, *[score] * self.lost]
        return CaseTrials(scores, self.passed + self.lost * passes)

    def is_refused(self, how: Reduction) -> bool:
        """Whether the case cannot pass whatever the threshold: some answers fail at any."""
        return self.passed < (len(self.scores) if how == "min" else 1)


class ReducedScores(NamedTuple):
    """One figure a case, then over `n` cases: their sum, sum of squares, and how many passed."""

    n: int
    total: float
    squares: float
    passed: int | None = None

    @property
    def mean(self) -> Estimate | None:
        """With an interval over cases: trials of one case are no independent observations."""
        return mean_estimate(self.n, self.total, self.squares)


class Bounds(NamedTuple):
    """The least and the most that the mean of a reduction and its pass rate can be over `n` cases,
    whatever the lost trials would have scored; the mean is None where there is none.
    """

    n: int
    mean: tuple[float, float] | None
    pass_rate: tuple[float, float]


def bound_trials(cases: Iterable[CaseTrials], how: Reduction, threshold: float) -> Bounds | None:
    """Of the cases with a score or a lost trial; None without any."""
    listed = list(cases)
    ends = [
        reduce_trials([case.fill(score, passes=passes) for case in listed], how, threshold)
        for score, passes in ((0.0, False), (1.0, True))
    ]
    if not ends[0].n:
        return None
    (low, high), n = ends, ends[0].n
    rates = ((low.passed or 0) / n, (high.passed or 0) / n)
    return Bounds(n, (low.total / n, high.total / n), rates)


def bound_pass_at_k(cases: Iterable[CaseTrials], k: int) -> Bounds | None:
    """Of the cases with k trials that have a score or were lost; None without any."""
    listed = [case for case in cases if len(case.scores) + case.lost >= k]
    if not listed:
        return None
    low, high = (
        pass_at_k([case.fill(score, passes=passes) for case in listed], k)
        for score, passes in ((0.0, False), (1.0, True))
    )
    n = len(listed)
    return Bounds(n, None, (low.total / n, high.total / n))


def reduce_trials(cases: Iterable[CaseTrials], how: Reduction, threshold: float) -> ReducedScores:
    """Each case's trials as one score, judged by the threshold; cases without are left out."""
    scores, passed = [], 0
    for case in cases:
        if case.scores:
            scores.append(reduce_scores(case.scores, how))
            passed += scores[-1] >= threshold and not case.is_refused(how)
    return _sum_scores(scores, passed)


def reduce_scores(scores: Sequence[float], how: Reduction) -> float:
    """The one score of a case's trials, rounded to 9 decimals like any reported score."""
    return round(_WAYS[how](scores), MEAN_DIGITS)


def pass_at_k(cases: Iterable[CaseTrials], k: int) -> ReducedScores:
    """The chance that at least one of k trials of a case passes, over the cases with k trials."""
    return _sum_scores(
        [pass_probability(len(c.scores), c.passed, k) for c in cases if len(c.scores) >= k]
    )


def pass_probability(n: int, passed: int, k: int) -> float:
    """1 - C(n - passed, k) / C(n, k): the unbiased estimate from n ≥ k trials.

    M. Chen et al., Evaluating Large Language Models Trained on Code, arXiv:2107.03374 (2021),
    equation 1.
    """
    return 1.0 - comb(n - passed, k) / comb(n, k)


def _sum_scores(values: Sequence[float], passed: int | None = None) -> ReducedScores:
    return ReducedScores(len(values), fsum(values), fsum(value * value for value in values), passed)
