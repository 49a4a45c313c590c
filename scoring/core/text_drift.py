"""How far outputs have moved from earlier ones, and how alike they are among themselves."""

from __future__ import annotations

import random
from collections.abc import Iterable
from statistics import fmean
from typing import Final

MOST_CASES: Final = 500  # cases looked at
MOST_CHARACTERS: Final = 2_000  # of each text
SEED: Final = 20_240_229


def sampled_positions(case_count: int) -> list[int]:
    """The positions, counted from 1 and in order, of the cases to look at; the same each time."""
    everything = range(1, case_count + 1)
    if case_count <= MOST_CASES:
        return list(everything)
    return sorted(random.Random(SEED).sample(everything, MOST_CASES))  # noqa: S311  no secret


def mean_similarity(pairs: Iterable[tuple[str, str]]) -> float | None:
    """The mean of 1 - Levenshtein distance / longer length over the pairs; None without pairs.

    Two empty texts are equal. Only the first MOST_CHARACTERS of each text count.
    """
    from rapidfuzz.distance import Levenshtein

    found = [
        Levenshtein.normalized_similarity(one[:MOST_CHARACTERS], other[:MOST_CHARACTERS])
        for one, other in pairs
    ]
    return fmean(found) if found else None
