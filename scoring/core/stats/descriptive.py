"""The figures of a run: means and rates with intervals, histogram, percentiles.

Plain Python, so that a page needs neither numpy nor scipy for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import cos, expm1, floor, pi, sin, sqrt
from statistics import NormalDist
from typing import Final, NamedTuple

BINS: Final = 20
LEVEL: Final = 0.95

Interval = tuple[float, float]


class Estimate(NamedTuple):
    """A mean or a rate in 0..1. `interval` is None where one observation gives none."""

    value: float
    interval: Interval | None


def mean_estimate(n: int, total: float, squares: float, level: float = LEVEL) -> Estimate | None:
    """The mean of n scores in 0..1 from their sum and sum of squares; None without scores.

    Student's t interval, mean ± t(n - 1) · s / √n (NIST/SEMATECH e-Handbook of Statistical
    Methods, 1.3.5.2), clipped to 0..1 because scores cannot lie outside.
    """
    if n == 0:
        return None
    mean = _clip(total / n)
    if n == 1:
        return Estimate(mean, None)
    # The difference of two near sums: rounding may leave it a little below zero.
    variance = max(0.0, (squares - total * total / n) / (n - 1))
    reach = t_quantile(n - 1, level) * sqrt(variance / n)
    return Estimate(mean, (_clip(mean - reach), _clip(mean + reach)))


def estimate_from_moments(n: int, mean: float | None, variance: float | None) -> Estimate | None:
    """As `mean_estimate`, from the sample mean and variance; None where nothing was scored."""
    if mean is None:
        return None
    squares = (variance or 0.0) * (n - 1) + mean**2 * n
    return mean_estimate(n, mean * n, squares)


def rate_estimate(passed: int, n: int, level: float = LEVEL) -> Estimate | None:
    """The share that passed with its Wilson score interval; None when n is 0.

    E. B. Wilson, Probable inference, the law of succession, and statistical inference,
    Journal of the American Statistical Association 22 (1927), without continuity correction.
    """
    if n == 0:
        return None
    rate = passed / n
    z = NormalDist().inv_cdf((1 + level) / 2)
    weight = 1 + z * z / n
    centre = (rate + z * z / (2 * n)) / weight
    reach = z * sqrt(rate * (1 - rate) / n + z * z / (4 * n * n)) / weight
    # Exactly 0 and 1 at the ends, where rounding would miss them.
    low = 0.0 if passed == 0 else _clip(centre - reach)
    high = 1.0 if passed == n else _clip(centre + reach)
    return Estimate(rate, (low, high))


def histogram(scores: Iterable[float]) -> list[int]:
    """How many scores lie in each of 20 equal bins over 0..1; 1.0 counts in the last."""
    counts = [0] * BINS
    for score in scores:
        counts[find_bin(score)] += 1
    return counts


def find_bin(score: float) -> int:
    return min(int(score * BINS), BINS - 1)


def percentiles(values: Iterable[float], shares: Sequence[float]) -> tuple[float, ...] | None:
    """The values below which each share (0..1) of all values lies; None without values.

    Between two values linearly: definition 7 of R. J. Hyndman and Y. Fan, Sample quantiles in
    statistical packages, The American Statistician 50 (1996), as numpy does by default.
    """
    ordered = sorted(values)
    if not ordered:
        return None
    last, values_at = len(ordered) - 1, []
    for share in shares:
        low = floor(share * last)
        step = ordered[min(low + 1, last)] - ordered[low]
        values_at.append(ordered[low] + step * (share * last - low))
    return tuple(values_at)


def t_quantile(df: int, level: float = LEVEL) -> float:
    """The t that the middle `level` of Student's distribution with `df` ≥ 1 does not exceed.

    G. W. Hill, Algorithm 396: Student's t-quantiles, Communications of the ACM 13 (1970).
    Agrees with scipy to 1 part in 100,000 for levels from 0.8 to 0.999.
    """
    tails = 1 - level
    if df == 1:
        return cos(tails * pi / 2) / sin(tails * pi / 2)
    if df == 2:
        return sqrt(2 / (tails * (2 - tails)) - 2)
    a = 1 / (df - 0.5)
    b = 48 / a**2
    c = ((20700 * a / b - 98) * a - 16) * a + 96.36
    d = ((94.5 / (b + c) - 3) / b + 1) * sqrt(a * pi / 2) * df
    y = (d * tails) ** (2 / df)
    if y <= 0.05 + a:
        y = _far_tail(df, y, d)
    else:
        y = _near_normal(df, NormalDist().inv_cdf(tails / 2), (a, b, c, d))
    return sqrt(df * y)


def _near_normal(df: int, x: float, terms: tuple[float, float, float, float]) -> float:
    a, b, c, d = terms
    y = x * x
    if df < 5:
        c += 0.3 * (df - 4.5) * (x + 0.6)
    c += (((0.05 * d * x - 5) * x - 7) * x - 2) * x + b
    y = (((((0.4 * y + 6.3) * y + 36) * y + 94.5) / c - y - 3) / b + 1) * x
    return expm1(a * y * y)


def _far_tail(df: int, y: float, d: float) -> float:
    inner = (df + 6) / (df * y) - 0.089 * d - 0.822
    return ((1 / (inner * (df + 2) * 3) + 0.5 / (df + 4)) * y - 1) * (df + 1) / (df + 2) + 1 / y


def _clip(value: float) -> float:
    return min(1.0, max(0.0, value))
