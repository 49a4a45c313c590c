"""Drift of output texts: similarity to earlier outputs and to each other."""

from __future__ import annotations

import random
from collections.abc import Iterable
from statistics import fmean
from typing import Final

MAX_CASES: Final = 500  # cases looked at
MAX_CHARACTERS: Final = 2_000  # of each text
SEED: Final = 20_240_229


def sample_positions(case_count: int) -> list[int]:
    """The positions, from 1 and in order, of the cases to compare; the same each time."""
    positions = range(1, case_count + 1)
    if case_count <= MAX_CASES:
        return list(positions)
    return sorted(random.Random(SEED).sample(positions, MAX_CASES))  # noqa: S311  no secret


def mean_similarity(pairs: Iterable[tuple[str, str]]) -> float | None:
    """The mean of 1 - Levenshtein distance / longer length over the pairs; None without pairs.

    Two empty texts are equal. Only the first MAX_CHARACTERS of each text count.
    """
    from rapidfuzz.distance import Levenshtein

    similarities = [
        Levenshtein.normalized_similarity(one[:MAX_CHARACTERS], other[:MAX_CHARACTERS])
        for one, other in pairs
    ]
    return fmean(similarities) if similarities else None
