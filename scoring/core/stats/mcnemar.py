"""How much the exact McNemar test can tell: its power, and the drop it can find.

Shares are of all pairs, 0..1. Of the pairs a share `fixed` goes fail → pass by chance, and as many
and the drop pass → fail. Cases with several trials count by their shares of passes: their
discordance is the mean square of the change, which for one trial is the share of flipped cases.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Final

from scoring.core.import_lock import IMPORT_LOCK
from scoring.core.stats.paired_tests import POWER

if TYPE_CHECKING:
    import numpy as np

ALPHA: Final = 0.05  # two-sided
MAX_CASES: Final = 10_000_000  # searched for
MAX_TRIALS: Final = 20  # the same
#: Flips that are added to those counted before the power is estimated: a share estimated from few
#: flips is too small in every other comparison, and the test would find less than was promised.
ADDED_FLIPS: Final = 2.0
_REACH: Final = 8  # standard deviations: what lies beyond is no more than rounding
_STEPS: Final = 30  # bisections


def mcnemar_power(n: int, broke: float, fixed: float) -> float:
    """The chance that the two-sided test at ALPHA is significant and more broke than were fixed.

    Each of `n` pairs breaks with the chance `broke` and is fixed with the chance `fixed`. Exact:
    the number of flips is binomial, and given it, so are those that broke.
    """
    import numpy as np

    discordance = min(1.0, broke + fixed)
    if n < 1 or discordance <= 0:
        return 0.0
    reach = _REACH * sqrt(n * discordance * (1 - discordance)) + 1
    low, high = max(0, int(n * discordance - reach)), min(n, ceil(n * discordance + reach))
    flips = np.arange(low, high + 1)
    chances = _binomial_chances(flips, n, discordance)
    found = _upper_tail(critical_counts(flips), flips, broke / (broke + fixed))
    return float(chances @ found)


def critical_counts(flips: np.ndarray) -> np.ndarray:
    """For each number of flips the fewest broken ones that make the two-sided p ALPHA or less;
    one more than the flips where none do.
    """
    import numpy as np

    normal = NormalDist().inv_cdf(1 - ALPHA / 2)
    counts = np.ceil((flips + 1 + normal * np.sqrt(flips)) / 2)
    counts = np.clip(counts, 0, flips + 1)
    while (lower := (counts > 0) & (_upper_tail(counts - 1, flips, 0.5) * 2 <= ALPHA)).any():
        counts = counts - lower
    while (higher := _upper_tail(counts, flips, 0.5) * 2 > ALPHA).any():
        counts = counts + higher
    return np.asarray(counts)


def drop_power(n: int, discordance: float, drop: float) -> float:
    """The chance to find this drop among `n` pairs of which a share `discordance` was seen to flip
    without it.
    """
    if n < 1:
        return 0.0
    fixed = min(discordance + ADDED_FLIPS / n, 1 - drop) / 2
    return mcnemar_power(n, fixed + drop, fixed)


def detectable_drop(n: int, discordance: float) -> float | None:
    """The smallest drop that is found with POWER; None where not even a drop of 1 is."""

    def finds(drop: float) -> bool:
        return drop_power(n, discordance, drop) >= POWER

    return _smallest(finds, 0.0, 1.0) if finds(1.0) else None


def cases_needed(discordance: float, drop: float, more_than: int = 0) -> int | None:
    """About how many pairs are needed to find this drop with POWER; None above MAX_CASES.

    Power grows in steps, so fewer may do than some that do not: `more_than` leaves these out.
    """

    def finds(n: float) -> bool:
        return drop_power(ceil(n), discordance, drop) >= POWER

    high = max(8.0, 2.0 * more_than)
    while not finds(high):
        high *= 2
        if high > MAX_CASES:
            return None
    return ceil(_smallest(finds, float(more_than), high))


def trials_needed(n: int, discordance: float, drop: float) -> int | None:
    """How many times the present trials of each case, in both runs, find this drop with POWER; None
    above MAX_TRIALS, where only more cases help.

    By chance the mean over so many more trials changes as many times less, in the mean square.
    """
    enough = range(1, MAX_TRIALS + 1)
    return next((k for k in enough if drop_power(n, discordance / k, drop) >= POWER), None)


def _smallest(holds: Callable[[float], bool], low: float, high: float) -> float:
    """The smallest value between, by bisection; it holds at `high` and above what is found."""
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _upper_tail(counts: np.ndarray, flips: np.ndarray, chance: float) -> np.ndarray:
    """The chance of at least so many of the flips; 1 for none, 0 for more than there are."""
    import numpy as np

    with IMPORT_LOCK:
        from scipy.special import betainc

    inside = (counts > 0) & (counts <= flips)
    first, second = np.where(inside, counts, 1), np.where(inside, flips - counts + 1, 1)
    return np.where(inside, betainc(first, second, chance), (counts <= 0).astype(float))


def _binomial_chances(counts: np.ndarray, n: int, chance: float) -> np.ndarray:
    import numpy as np

    if chance >= 1:
        return np.asarray((counts == n).astype(float))
    with IMPORT_LOCK:
        from scipy.special import gammaln, xlog1py, xlogy

    ways = gammaln(n + 1) - gammaln(counts + 1) - gammaln(n - counts + 1)
    return np.asarray(np.exp(ways + xlogy(counts, chance) + xlog1py(n - counts, -chance)))
