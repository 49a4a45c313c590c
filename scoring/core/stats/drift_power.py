"""The power of a drift test: the smallest drop that the next run would reveal."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Final

from scoring.core.stats.change_points import LINE_LEVEL, PAGE_LEVEL, control_limits

if TYPE_CHECKING:
    import numpy as np

    from scoring.core.stats.case_sums import CaseSums

POWER: Final = 0.85  # for 80 %: level and variance are estimates themselves
STEPS: Final = 1_000  # drops tried, from a thousandth of the level up to all of it


def detectable_drop(sums: CaseSums, means: Sequence[float], lines: int = 1) -> float | None:
    """The smallest drop that the next run's test finds with a chance of 80 %, if there is one.

    `sums` and `means` are those of the period, the newest run included, and `lines` counts the
    tests of the page. Each case is taken to lose the same share of what it scores, at random: that
    gives the most variance that a drop of this size has.
    """
    import numpy as np

    if sums.n < 2:
        return None
    level = float(sums.totals.sum() / sums.counts.sum())
    if not level:
        return None
    drops = np.arange(1, STEPS + 1) * level / STEPS
    revealed = drops[_is_found(sums, level, drops, lines) & _is_beyond(sums, means, level, drops)]
    return float(revealed[0]) if len(revealed) else None


def _is_found(sums: CaseSums, level: float, drops: np.ndarray, lines: int) -> np.ndarray:
    """Whether the test finds the drop; both of its tests are near to normal."""
    import numpy as np

    normal = NormalDist()
    alarm = normal.inv_cdf(1 - min(LINE_LEVEL, PAGE_LEVEL / lines) / 2)
    power = normal.inv_cdf(POWER)
    within, runs = _within(sums), float(sums.counts.mean())
    squares = float(sums.squares.sum() / sums.counts.sum())
    rest = 1 - drops / level
    variance = within / runs + _after(squares, within, rest)
    if sums.is_binary:
        pooled = (runs + 1) ** 2
        joint = (
            runs * (runs - 1) * within
            + runs * (level - rest * (level - within))
            + runs * rest * within
        ) / pooled
        skew = (alarm**2 - 1) / 6 * max(0.0, 2 * level - 1)  # Cornish and Fisher's first term
        least = (runs + 1) / runs * (alarm * np.sqrt(sums.n * joint) + skew + 0.5)
    else:
        between = (1 - rest) ** 2 * max(0.0, squares - within - level**2)
        variance = variance + between
        least = alarm * _t_ratio(alarm, sums.n - 1) * np.sqrt(sums.n * variance)
    return np.asarray(sums.n * drops >= least + power * np.sqrt(sums.n * variance))


def _is_beyond(
    sums: CaseSums, means: Sequence[float], level: float, drops: np.ndarray
) -> np.ndarray:
    """Whether the mean would lie below the limits, where there are any."""
    import numpy as np

    limits = control_limits(means)
    if limits is None:
        return np.ones(len(drops), bool)
    squares = float(sums.squares.sum() / sums.counts.sum())
    deviation = np.sqrt(_after(squares, _within(sums), 1 - drops / level) / sums.n)
    reach = NormalDist().inv_cdf(POWER) * deviation
    return np.asarray(limits.centre - drops + reach <= limits.low - 0.5 / sums.n * sums.is_binary)


def _within(sums: CaseSums) -> float:
    """The variance of a case's scores over runs. One run does not show it: the variance of all
    scores is then its upper bound.
    """
    import numpy as np

    again = sums.counts > 1
    if not again.any():
        return float(np.mean(sums.squares) - np.mean(sums.totals) ** 2)
    counts, totals = sums.counts[again], sums.totals[again]
    spread = np.maximum(0.0, sums.squares[again] - totals**2 / counts)
    return float(spread.sum() / (counts - 1).sum())


def _after(squares: float, within: float, rest: np.ndarray) -> np.ndarray:
    """The variance of a case's score once a share `rest` of what it scored is left."""
    import numpy as np

    return np.asarray(np.maximum(0.0, rest * squares - rest**2 * (squares - within)))


def _t_ratio(z: float, df: int) -> float:
    """Student's t over the normal quantile z at the same level: A. Hald's first terms."""
    return 1 + (z**2 + 1) / (4 * df) + (5 * z**4 + 16 * z**2 + 3) / (96 * sqrt(df) ** 4)
