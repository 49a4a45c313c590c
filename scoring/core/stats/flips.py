"""Tests of flipped verdicts: more than usual, or one-sided."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from scoring.core.stats.case_sums import tail_probabilities
from scoring.core.stats.paired_tests import Flips

#: Of the two tests of a step together; few, as a line's alarms use up nearly all of its 5 %.
LINE_LEVEL: Final = 0.0005
PAGE_LEVEL: Final = 0.001


class FlipCounts(NamedTuple):
    """Verdicts in both runs of a step, and how many went fail → pass and pass → fail."""

    pairs: int
    fixed: int
    broke: int

    @property
    def flips(self) -> int:
        return self.fixed + self.broke


def flip_tests(steps: Sequence[FlipCounts], tests: int) -> tuple[float | None, float | None]:
    """For the last of these steps: the p of so many flips if they are as frequent as in the earlier
    ones, and McNemar's p of broke and fixed being equally likely. Both are corrected for the number
    of lines, and None where they are not significant.
    """
    if not steps or not steps[-1].flips:
        return None, None
    last = steps[-1]
    mcnemar_p = Flips(last.pairs, last.broke, last.fixed).p
    return _correct(_churn_p(steps), tests), _correct(mcnemar_p, tests)


def _correct(p: float, tests: int) -> float | None:
    """The corrected p, None where that is not significant."""
    if 2 * p > LINE_LEVEL or 2 * p * tests > PAGE_LEVEL:
        return None
    return min(1.0, 2 * p * max(1, tests))


def _churn_p(steps: Sequence[FlipCounts]) -> float:
    """Given all flips, those of the last step are binomial: its share of all the pairs. 1 where
    there is no earlier step, or no more flips than expected.
    """
    last = steps[-1]
    pairs, flips = sum(step.pairs for step in steps), sum(step.flips for step in steps)
    share = last.pairs / pairs
    if last.flips <= flips * share:
        return 1.0
    import numpy as np

    return tail_probabilities(np.array([share]), np.array([flips]), last.flips)[1]
