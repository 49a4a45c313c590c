"""Wins, ties and losses of pairwise comparisons."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from scoring.core.stats.descriptive import Estimate, rate_estimate


class WinCounts(NamedTuple):
    """How often the candidate's output was found better, the same and worse.

    One pair of outputs counts once, whatever the number of its judgements: a win if more
    judgements say better than worse, a loss if more say worse, else a tie. `judgements` are all of
    them.
    """

    wins: int
    ties: int
    losses: int
    judgements: int

    @property
    def pairs(self) -> int:
        return self.wins + self.ties + self.losses

    @property
    def decided(self) -> int:
        return self.wins + self.losses

    @property
    def share(self) -> Estimate | None:
        """The wins among decided pairs with their Wilson interval; None where all are ties.

        Ties are left out as in the sign test: W. J. Dixon and A. M. Mood, The statistical sign
        test, Journal of the American Statistical Association 41 (1946), 557-566. A tie counted as
        half a win would leave the share where it is near ½ and make the interval too narrow, since
        it is no independent trial with two outcomes.
        """
        return rate_estimate(self.wins, self.decided)


def count_wins(sums: Iterable[tuple[int, int]]) -> WinCounts:
    """From each pair's sum of judgements (better 1, same 0, worse -1) and their number."""
    wins = ties = losses = judgements = 0
    for total, number in sums:
        wins += total > 0
        losses += total < 0
        ties += total == 0
        judgements += number
    return WinCounts(wins, ties, losses, judgements)
