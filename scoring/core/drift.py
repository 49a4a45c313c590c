"""A figure over runs in time: what is usual, and when its level changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import fmean
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    import numpy as np

FEWEST: Final = 8  # runs that limits need
LATEST: Final = 20  # runs that limits look back on
FEWEST_A_SIDE: Final = 3  # runs before and after a change
SIGNIFICANT: Final = 0.01
PERMUTATIONS: Final = 1_999
SEED: Final = 20_240_229
_SPREAD: Final = 2.66  # 3 / 1.128, the expected range of two normal values in deviations


class Limits(NamedTuple):
    """What the next run of an unchanged system will hardly leave; from the latest `n` runs."""

    centre: float
    low: float
    high: float
    n: int


class Change(NamedTuple):
    """The level changed with the run at `place`: it is the first of the new level."""

    place: int
    before: float
    after: float
    p: float


def control_limits(values: Sequence[float]) -> Limits | None:
    """The individuals chart of runs since the last break, oldest first; None below FEWEST.

    Centre ± 2.66 times the mean moving range: NIST/SEMATECH e-Handbook of Statistical Methods,
    6.3.2.2. Means and rates lie in 0..1, so the limits do.
    """
    if len(values) < FEWEST:
        return None
    latest = values[-LATEST:]
    centre = fmean(latest)
    reach = _SPREAD * fmean(abs(one - other) for one, other in pairwise(latest))
    return Limits(centre, max(0.0, centre - reach), min(1.0, centre + reach), len(latest))


def change_points(values: Sequence[float]) -> list[Change]:
    """Where the level changed, oldest first: binary segmentation, each split tested by permuting.

    A split needs FEWEST_A_SIDE runs on both sides and a permutation p below SIGNIFICANT. The same
    values always give the same splits. A. J. Scott and M. Knott, A cluster analysis method for
    grouping means in the analysis of variance, Biometrics 30 (1974); the statistic is that of a
    mean shift in the middle of independent values.
    """
    splits = sorted(_splits(values, 0, len(values)))
    edges = [0, *(place for place, _ in splits), len(values)]
    levels = [fmean(values[start:end]) for start, end in pairwise(edges)] if values else []
    return [
        Change(place, levels[number], levels[number + 1], p)
        for number, (place, p) in enumerate(splits)
    ]


def _splits(values: Sequence[float], start: int, end: int) -> Iterator[tuple[int, float]]:
    found = _best_split(values[start:end])
    if found is None:
        return
    place, p = start + found[0], found[1]
    yield place, p
    yield from _splits(values, start, place)
    yield from _splits(values, place, end)


def _best_split(values: Sequence[float]) -> tuple[int, float] | None:
    """The place of the clearest shift and its p; None where it is not significant."""
    import numpy as np

    if len(values) < 2 * FEWEST_A_SIDE or len(set(values)) == 1:
        return None
    observed = _shifts(np.asarray(values, float)[None, :])[0]
    draw = np.random.default_rng(SEED)
    shuffled = draw.permuted(np.tile(np.asarray(values, float), (PERMUTATIONS, 1)), axis=1)
    limit = observed.max() - 1e-12
    p = (1 + int(np.count_nonzero(_shifts(shuffled).max(axis=1) >= limit))) / (PERMUTATIONS + 1)
    return (int(observed.argmax()) + FEWEST_A_SIDE, p) if p < SIGNIFICANT else None


def _shifts(rows: np.ndarray) -> np.ndarray:
    """For each row and each allowed split the difference of the means, scaled by their error."""
    import numpy as np

    n = rows.shape[1]
    left = np.arange(FEWEST_A_SIDE, n - FEWEST_A_SIDE + 1)
    sums = np.cumsum(rows, axis=1)[:, left - 1]
    total = rows.sum(axis=1, keepdims=True)
    apart = np.abs(sums / left - (total - sums) / (n - left))
    return np.asarray(apart * np.sqrt(left * (n - left) / n))
