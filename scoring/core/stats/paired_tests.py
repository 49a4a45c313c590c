"""Paired tests of two runs over the same cases.

Everything works on pairs: the same case in both runs. numpy and scipy are imported where they are
used, because no page needs them before two runs are compared; scipy.stats never, as it would take
some 45 MB of a worker.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from scoring.core.import_lock import IMPORT_LOCK
from scoring.core.stats.descriptive import LEVEL, Interval, t_quantile

if TYPE_CHECKING:
    import numpy as np

RESAMPLES: Final = 10_000
RESAMPLED_BELOW: Final = 5_000  # pairs; with more, the normal interval says the same
EXACT_UP_TO: Final = 13  # differing pairs whose 2^n flips are all tried
POWER: Final = 0.8
SEED: Final = 20_240_229
_REPEATED: Final = 8  # times that differences come on average: drawn by how often each does then
_CHUNK: Final = 2_000_000  # numbers drawn at once: memory stays near 16 MB

Method = Literal["exact", "resampled", "counted", "normal"]


class Difference(NamedTuple):
    """The mean of candidate minus baseline over `n` pairs of scores.

    `interval` holds the mean difference with 95 % confidence, None below two pairs. `p` is the
    two-sided chance of so large a difference if neither run were better, None without pairs.
    `standard_error` is that of the mean, None below two pairs. `method` says how interval and p
    were found.
    """

    n: int
    mean: float | None
    interval: Interval | None
    p: float | None
    standard_error: float | None
    method: Method


class Flips(NamedTuple):
    """Verdicts that changed: `broke` pass → fail, `fixed` fail → pass, among `n` pairs."""

    n: int
    broke: int
    fixed: int

    @property
    def p(self) -> float:
        """The exact McNemar test, two-sided: were broke and fixed equally likely?

        Q. McNemar, Note on the sampling error of the difference between correlated proportions or
        percentages, Psychometrika 12 (1947); the exact form is the binomial test.
        """
        if self.broke == self.fixed:
            return 1.0
        fewer, more = sorted([self.broke, self.fixed])
        with IMPORT_LOCK:
            from scipy.special import betainc

            return min(1.0, 2 * float(betainc(more, fewer + 1, 0.5)))


def difference(
    baseline: Sequence[float] | np.ndarray, candidate: Sequence[float] | np.ndarray
) -> Difference:
    """The difference of two equally long lists of scores, pair by pair.

    Below RESAMPLED_BELOW pairs: a seeded bootstrap interval and a sign-flip permutation test; with
    more, Student's t for both. Where all that moved did so by one size, as verdicts do, the
    permutation test is McNemar's and exact whatever their number. The same scores always give the
    same numbers.
    """
    import numpy as np

    pairs = np.asarray(candidate, float) - np.asarray(baseline, float)
    pairs = np.round(pairs, 12)  # 0.8 - 0.7 and 0.9 - 0.8 are the same difference
    n = len(pairs)
    if n == 0:
        return Difference(0, None, None, None, None, "exact")
    mean = float(pairs.mean())
    if n == 1:
        return Difference(1, mean, None, 1.0, None, "exact")
    error = float(pairs.std(ddof=1)) / sqrt(n)
    p, method = _sign_flip_test(pairs)
    if method in ("normal", "counted"):
        reach = t_quantile(n - 1) * error
        interval = _clip_interval(mean - reach, mean + reach)
    else:
        interval = _bootstrap_interval(pairs)
    return Difference(n, mean, interval, p, error, method)


def count_flips(baseline: Sequence[bool], candidate: Sequence[bool]) -> Flips:
    """From who passed in each run, pair by pair."""
    pairs = list(zip(baseline, candidate, strict=True))
    broke = sum(before and not after for before, after in pairs)
    fixed = sum(after and not before for before, after in pairs)
    return Flips(len(pairs), broke, fixed)


def holm(ps: Sequence[float]) -> list[float]:
    """The p-values corrected for their number, in their order: no false alarm among them all.

    S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of
    Statistics 6 (1979).
    """
    factors = holm_factors(ps)
    corrected = [1.0] * len(ps)
    worst = 0.0
    for index in sorted(range(len(ps)), key=ps.__getitem__):
        worst = max(worst, min(1.0, factors[index] * ps[index]))
        corrected[index] = worst
    return corrected


def holm_factors(ps: Sequence[float]) -> list[int]:
    """By how much `holm` multiplies each p: one less for each smaller one."""
    factors = [0] * len(ps)
    for rank, index in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        factors[index] = len(ps) - rank
    return factors


def benjamini_hochberg(ps: Sequence[float]) -> list[float]:
    """The p-values corrected so that of those below q a share of at most q are false alarms.

    Y. Benjamini and Y. Hochberg, Controlling the false discovery rate, Journal of the Royal
    Statistical Society B 57 (1995).
    """
    corrected = [1.0] * len(ps)
    best = 1.0
    ordered = sorted(range(len(ps)), key=ps.__getitem__, reverse=True)
    for rank, index in zip(range(len(ps), 0, -1), ordered, strict=True):
        best = min(best, ps[index] * len(ps) / rank)
        corrected[index] = best
    return corrected


def detectable_difference(standard_error: float, claims: int = 1) -> float:
    """The effect found with POWER, two-sided, by a normal test of one among so many claims: at the
    level that Holm's correction leaves to the smallest p.
    """
    normal = NormalDist()
    level = (1 - LEVEL) / max(1, claims)
    return (normal.inv_cdf(1 - level / 2) + normal.inv_cdf(POWER)) * standard_error


def _sign_flip_test(pairs: np.ndarray) -> tuple[float, Method]:
    import numpy as np

    is_large = len(pairs) >= RESAMPLED_BELOW
    moved = pairs[pairs != 0.0]
    if len(moved) and np.ptp(np.abs(moved)) == 0.0:
        fell = int(np.count_nonzero(moved < 0.0))
        p = Flips(len(pairs), fell, len(moved) - fell).p
        return p, "counted" if is_large else "exact"
    if is_large:
        return _t_p(pairs), "normal"
    if len(moved) <= EXACT_UP_TO:
        return _exact_p(moved), "exact"
    return _permuted_p(moved), "resampled"


def _t_p(pairs: np.ndarray) -> float:
    if not pairs.any():
        return 1.0
    error = float(pairs.std(ddof=1)) / sqrt(len(pairs))
    with IMPORT_LOCK:
        from scipy.special import stdtr

        return float(2 * stdtr(len(pairs) - 1, -abs(pairs.mean()) / error))


def _exact_p(moved: np.ndarray) -> float:
    """Over every way to flip the signs; pairs that do not differ have no sign."""
    import numpy as np

    if not len(moved):
        return 1.0
    patterns = np.arange(2 ** len(moved))[:, None] >> np.arange(len(moved)) & 1
    sums = (1 - 2 * patterns) @ moved
    return float(np.mean(np.abs(sums) >= abs(moved.sum()) - 1e-12))


def _permuted_p(moved: np.ndarray) -> float:
    """Over seeded random flips of the signs, the observed one counted among them.

    B. Phipson and G. K. Smyth, Permutation p-values should never be zero, Statistical
    Applications in Genetics and Molecular Biology 9 (2010).
    """
    import numpy as np

    draw = np.random.default_rng(SEED)
    limit, extreme = abs(moved.sum()) - 1e-12, 0
    sizes, counts = np.unique(np.abs(moved), return_counts=True)
    if len(sizes) * _REPEATED <= len(moved):
        positive = draw.binomial(counts, 0.5, (RESAMPLES, len(counts)))
        extreme = int(np.count_nonzero(np.abs((2 * positive - counts) @ sizes) >= limit))
        return (extreme + 1) / (RESAMPLES + 1)
    for size in _chunks(len(moved)):
        signs = draw.integers(0, 2, (size, len(moved)), dtype=np.int8) * 2.0 - 1.0
        extreme += int(np.count_nonzero(np.abs(signs @ moved) >= limit))
    return (extreme + 1) / (RESAMPLES + 1)


def _bootstrap_interval(pairs: np.ndarray) -> Interval:
    """The middle 95 % of the means of seeded resamples, widened for small n by √(n / (n - 1)).

    Resamples vary less than samples by that factor: B. Efron and R. Tibshirani, An Introduction to
    the Bootstrap (1993), 5.3.
    """
    import numpy as np

    n, mean = len(pairs), float(pairs.mean())
    low, high = np.quantile(_resample_means(pairs), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    wider = sqrt(n / (n - 1))
    return _clip_interval(mean + (float(low) - mean) * wider, mean + (float(high) - mean) * wider)


def _clip_interval(low: float, high: float) -> Interval:
    """Scores lie in 0..1, so that their differences cannot lie outside -1..1."""
    return max(-1.0, round(low, 12)), min(1.0, round(high, 12))


def _resample_means(pairs: np.ndarray) -> np.ndarray:
    import numpy as np

    n = len(pairs)
    draw = np.random.default_rng(SEED)
    values, counts = np.unique(pairs, return_counts=True)
    if len(values) * _REPEATED <= n:
        return np.asarray(draw.multinomial(n, counts / n, RESAMPLES) @ values / n)
    drawn = (pairs[draw.integers(0, n, (size, n), dtype=np.int32)] for size in _chunks(n))
    return np.concatenate([resamples.mean(axis=1) for resamples in drawn])


def _chunks(width: int) -> list[int]:
    whole = max(1, _CHUNK // width)
    rest = RESAMPLES % whole
    return [whole] * (RESAMPLES // whole) + ([rest] if rest else [])
