"""Matching of removed lines with the lines that replace them, in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

TABLE: Final = 2_000  # pairs of lines up to which every line is compared with every other
WINDOW: Final = 12  # in more of them, lines of either side that are compared with each other
OPENING: Final = 400  # characters of a line that tell what it is like
#: Share of characters in common from which two lines may belong together.
MIN_SIMILARITY: Final = 0.5

Pair = tuple[int, int]


def match_lines(removed: Sequence[str], added: Sequence[str]) -> list[Pair]:
    """Indexes of lines that belong together, rising on both sides: the most alike in sum.

    In long blocks a window moves on by half, from the last pair found. Lines that moved farther
    are not found there, and the time grows with the number of lines, not with its square.
    """
    left, right = ([line.strip()[:OPENING] for line in side] for side in (removed, added))
    if len(left) * len(right) <= TABLE:
        return _align(left, right)
    pairs: list[Pair] = []
    row = column = 0
    while row < len(left) and column < len(right):
        window = _align(left[row : row + WINDOW], right[column : column + WINDOW])
        near = [pair for pair in window if max(pair) < WINDOW // 2]
        pairs += [(row + down, column + across) for down, across in near]
        down, across = near[-1] if near else (WINDOW // 2 - 1, WINDOW // 2 - 1)
        row, column = row + down + 1, column + across + 1
    return pairs


def _align(left: Sequence[str], right: Sequence[str]) -> list[Pair]:
    """The pairs in order whose similarity beyond `MIN_SIMILARITY` is the greatest in sum."""
    from rapidfuzz.distance import LCSseq

    similarity = LCSseq.normalized_similarity
    best = [[0.0] * (len(right) + 1)]
    for line in left:
        above, here = best[-1], [0.0]
        for column, other in enumerate(right):
            gain = max(0.0, similarity(line, other, score_cutoff=MIN_SIMILARITY) - MIN_SIMILARITY)
            here.append(max(above[column + 1], here[column], above[column] + gain))
        best.append(here)
    return _trace_back(best)


def _trace_back(best: Sequence[Sequence[float]]) -> list[Pair]:
    """The pairs that led to the best sum, by the table of the best sums."""
    row, column = len(best) - 1, len(best[0]) - 1
    pairs: list[Pair] = []
    while row and column:
        if best[row][column] == best[row - 1][column]:
            row -= 1
        elif best[row][column] == best[row][column - 1]:
            column -= 1
        else:
            row, column = row - 1, column - 1
            pairs.append((row, column))
    return pairs[::-1]
