"""Sums of scores by case over several runs, and the test of the next run against them.

A unit is a case; its `key` is the same number in every run. numpy and scipy are
imported where they are used: most processes never test a run.
"""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from math import sqrt
from typing import TYPE_CHECKING, Final, NamedTuple

from scoring.core.import_lock import IMPORT_LOCK
from scoring.core.stats.descriptive import t_quantile

if TYPE_CHECKING:
    import numpy as np

MAX_DEVIATIONS: Final = 40  # deviations of a count of successes; its probability beyond them is nil


@dataclass(frozen=True)
class CaseSums:
    """Of each unit, in order of `keys`: its number of scores, their sum and their squares' sum."""

    keys: np.ndarray
    counts: np.ndarray
    totals: np.ndarray
    squares: np.ndarray

    @property
    def is_binary(self) -> bool:
        """Whether every score is 0 or 1: only these equal their squares."""
        return bool((self.totals == self.squares).all())

    @property
    def n(self) -> int:
        return len(self.keys)


def sum_run(keys: np.ndarray, scores: np.ndarray) -> CaseSums:
    """Of a single run, whose units may come in any order."""
    import numpy as np

    order = np.argsort(keys, kind="stable")
    scores = np.asarray(scores, float)[order]
    return CaseSums(np.asarray(keys, np.int64)[order], np.ones(len(keys)), scores, scores**2)


def add_sums(one: CaseSums, other: CaseSums) -> CaseSums:
    """The sums over the runs of both."""
    import numpy as np

    keys = one.keys if np.array_equal(one.keys, other.keys) else np.union1d(one.keys, other.keys)
    columns = np.zeros((3, len(keys)))
    for sums in (one, other):
        columns[:, np.searchsorted(keys, sums.keys)] += (sums.counts, sums.totals, sums.squares)
    return CaseSums(keys, *columns)


def pack_sums(sums: CaseSums) -> bytes:
    """The bytes that `unpack_sums` reads. Keys are close together, so their steps are stored."""
    import numpy as np

    stream = BytesIO()
    steps = np.diff(sums.keys, prepend=0)
    np.savez_compressed(
        stream, keys=steps, counts=sums.counts, totals=sums.totals, squares=sums.squares
    )
    return stream.getvalue()


def unpack_sums(data: bytes) -> CaseSums:
    import numpy as np

    with np.load(BytesIO(data), allow_pickle=False) as columns:
        sums = (columns[name] for name in ("counts", "totals", "squares"))
        return CaseSums(np.cumsum(columns["keys"]), *sums)


def change_p(before: CaseSums, run: CaseSums) -> float | None:
    """The two-sided p of the run having the same level as the earlier ones, unit by unit; None
    where fewer than two units have a score in both.

    Scores of 0 and 1: the exact test given each unit's successes in all runs together. Any of the
    runs is as likely to hold them, so the newest run's number of successes is Poisson-binomial.
    With one earlier run that is the exact McNemar test. Other scores: the larger p of two
    t tests of the differences from each unit's mean, whose variance is taken from the differences
    or from each unit's scores in all these runs; with one earlier run both are the paired t test.
    """
    import numpy as np

    _, rows, run_rows = np.intersect1d(before.keys, run.keys, True, True)
    if len(rows) < 2:
        return None
    counts, totals, scores = before.counts[rows], before.totals[rows], run.totals[run_rows]
    if before.is_binary and run.is_binary:
        shares, sizes = np.unique((totals + scores) / (counts + 1), return_counts=True)
        return tail_p(shares, sizes, int(scores.sum()))
    return _t_tests_p(counts, totals, before.squares[rows], scores)


class PairedDifference(NamedTuple):
    """Of the second of two runs to the first, over `n` units; the interval holds 95 %."""

    n: int
    mean: float
    low: float
    high: float
    p: float


def paired_difference(one: CaseSums, other: CaseSums) -> PairedDifference | None:
    """Of two single runs; None where fewer than two units have a score in both."""
    import numpy as np

    p = change_p(one, other)
    if p is None:
        return None
    _, rows, other_rows = np.intersect1d(one.keys, other.keys, True, True)
    differences = other.totals[other_rows] - one.totals[rows]
    n, mean = len(differences), float(differences.mean())
    reach = t_quantile(n - 1) * float(differences.std(ddof=1)) / sqrt(n)
    return PairedDifference(n, mean, max(-1.0, mean - reach), min(1.0, mean + reach), p)


def tail_p(shares: np.ndarray, sizes: np.ndarray, successes: int) -> float:
    """Twice the smaller tail of the number of successes, at most 1."""
    below, above = tail_probabilities(shares, sizes, successes)
    return min(1.0, 2 * min(below, above))


def tail_probabilities(
    shares: np.ndarray, sizes: np.ndarray, successes: int
) -> tuple[float, float]:
    """The chances of at most and of at least so many successes, where `sizes` units succeed with
    each of `shares`.

    The discrete Fourier transform of the characteristic function: Y. Hong, On computing the
    distribution function for the Poisson binomial distribution, Computational Statistics and Data
    Analysis 59 (2013). Here over a window of MAX_DEVIATIONS deviations, so that 100,000 units take
    milliseconds; what lies outside is below the precision of floats.
    """
    import numpy as np

    variance = float((shares * (1 - shares)) @ sizes)
    total = int(sizes.sum())
    length = 1
    while length < min(total + 1, int(MAX_DEVIATIONS * np.sqrt(variance)) + 64):
        length *= 2
    first = 0 if total < length else int(shares @ sizes) - length // 2
    turns = np.exp(-2j * np.pi * np.arange(length // 2 + 1) / length)
    powers = np.ones(len(turns), complex)
    for share, size in zip(shares, sizes, strict=True):
        powers *= (1 - share + share * turns) ** int(size)
    chances = np.clip(np.fft.irfft(powers * turns**-first, length), 0, None)
    index = successes - first
    if not 0 <= index < length:
        return (0.0, 1.0) if index < 0 else (1.0, 0.0)
    return min(1.0, float(chances[: index + 1].sum())), min(1.0, float(chances[index:].sum()))


def _t_tests_p(
    counts: np.ndarray, totals: np.ndarray, squares: np.ndarray, scores: np.ndarray
) -> float:
    """Of two t tests the larger p, as neither holds everywhere.

    A variance taken from the differences goes with their mean where scores are skewed: 50 cases
    near 1 raise an alarm in 18 % of pages instead of 10. One taken from all scores is too small
    where only the newest run's scores vary more, which is no change of level.
    """
    import numpy as np

    differences = np.round(scores - totals / counts, 12)
    total = float(differences.sum())
    within = np.round(squares + scores**2 - (totals + scores) ** 2 / (counts + 1), 12)
    over_runs = float(within.clip(0) @ ((1 + 1 / counts) / counts))
    return max(
        _t_test_p(total, float(differences @ differences), len(differences)),
        _t_test_p(total, over_runs, int(counts.sum())),
    )


def _t_test_p(total: float, variance: float, freedom: int) -> float:
    """Of a sum whose variance includes its own deviation, so that its square is at most
    `freedom` times the variance.
    """
    if not total:
        return 1.0
    ratio = total**2 / variance if variance else freedom
    if ratio >= freedom * (1 - 1e-12):
        return 0.0
    with IMPORT_LOCK:
        from scipy.special import stdtr

    return float(2 * stdtr(freedom - 1, -sqrt(ratio * (freedom - 1) / (freedom - ratio))))
