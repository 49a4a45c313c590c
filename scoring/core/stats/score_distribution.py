"""How many scores pass at any threshold, from counts by thousandths of 0..1."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Final

STEPS: Final = 1000  # of 0..1; more than a chart has pixels for
EDGES: Final = tuple(step / STEPS for step in range(STEPS + 1))


def count_by_step(scores: Mapping[float, int]) -> list[int]:
    """STEPS + 1 counts of scores from 0 to 1, given with how often each occurs.

    Place k counts the scores from `EDGES[k]` to below the next edge, the last place those of 1.
    """
    counts = [0] * len(EDGES)
    for score, count in scores.items():
        counts[find_step(score)] += count
    return counts


def find_step(score: float) -> int:
    """The place of a score, or of a threshold, among the counts."""
    return bisect_right(EDGES, score) - 1


@dataclass(frozen=True)
class ScoreDistribution:
    """The scores of a run's scorer: `at_least[k]` of them are `EDGES[k]` or more.

    `exact` has the same numbers at other thresholds. `forced` of the scores of 0 fail whatever
    the threshold.
    """

    at_least: Sequence[int]
    forced: int = 0
    exact: Mapping[float, int] = field(default_factory=dict)

    @classmethod
    def of_counts(
        cls, counts: Sequence[int], forced: int = 0, partial: Mapping[float, int] | None = None
    ) -> ScoreDistribution:
        """From the counts by step.

        `partial` has, by threshold, the scores from the threshold to below the next edge.
        """
        at_least = list(accumulate(reversed(counts)))[::-1]
        above = {t: at_least[find_step(t) + 1] for t in partial or {}}
        exact = {t: above[t] + count for t, count in (partial or {}).items()}
        return cls(at_least, forced, exact)

    @property
    def scored(self) -> int:
        return self.at_least[0]

    def count_passed(self, threshold: float) -> int:
        """The scores of at least the threshold, without those that always fail.

        Exact at the edges of steps and at the thresholds in `exact`; raises KeyError at others.
        """
        step = find_step(threshold)
        reached = self.at_least[step] if EDGES[step] == threshold else self.exact[threshold]
        return reached if threshold > 0 else reached - self.forced

    def pass_rate(self, threshold: float) -> float | None:
        """None where nothing was scored."""
        return self.count_passed(threshold) / self.scored if self.scored else None

    def bins(self, number: int) -> list[int]:
        """How many scores lie in each of so many equal bins of 0..1; `number` divides STEPS.

        A bin includes its lower edge, the last one also 1.
        """
        starts = [self.at_least[step] for step in range(0, STEPS, STEPS // number)]
        return [low - high for low, high in pairwise([*starts, 0])]

    def curve(self, every: int = 1) -> list[tuple[float, float]]:
        """(threshold, pass rate) up to 1, of every so many edges those where the rate changes: a
        rate holds from the threshold before up to its own. Empty where nothing was scored.
        """
        if not self.scored:
            return []
        points = [(edge, self.count_passed(edge) / self.scored) for edge in EDGES[::every]]
        return [point for point, after in pairwise(points) if point[1] != after[1]] + points[-1:]
