"""Which lines that are gone became which of those that stand in their place, in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

TABLE: Final = 2_000  # pairs of lines up to which every line is compared with every other
WINDOW: Final = 12  # in more of them, lines of either side that are compared with each other
OPENING: Final = 400  # characters of a line that tell what it is like
ALIKE: Final = 0.5  # share of characters in common from which two lines may belong together

Pair = tuple[int, int]


def line_pairs(removed: Sequence[str], added: Sequence[str]) -> list[Pair]:
    """Places of lines that belong together, rising on both sides: the most alike in sum.

    In long blocks a window moves on by half, from the last pair found. Lines that moved farther
    are not found there, and the time grows with the number of lines, not with its square.
    """
    gone, new = ([line.strip()[:OPENING] for line in side] for side in (removed, added))
    if len(gone) * len(new) <= TABLE:
        return _aligned(gone, new)
    pairs: list[Pair] = []
    at, other = 0, 0
    while at < len(gone) and other < len(new):
        near = _aligned(gone[at : at + WINDOW], new[other : other + WINDOW])
        kept = [pair for pair in near if max(pair) < WINDOW // 2]
        pairs += [(at + row, other + column) for row, column in kept]
        row, column = kept[-1] if kept else (WINDOW // 2 - 1, WINDOW // 2 - 1)
        at, other = at + row + 1, other + column + 1
    return pairs


def _aligned(gone: Sequence[str], new: Sequence[str]) -> list[Pair]:
    """The pairs in order whose likeness is the greatest in sum."""
    best = [[0.0] * (len(new) + 1)]
    for likeness in _likeness(gone, new):
        above, here = best[-1], [0.0]
        for column, gain in enumerate(likeness):
            here.append(max(above[column + 1], here[column], above[column] + gain))
        best.append(here)
    return _traced(best)


def _likeness(gone: Sequence[str], new: Sequence[str]) -> list[list[float]]:
    """How much more alike than `ALIKE` each line is to each of the other side, at least 0."""
    from rapidfuzz.distance import LCSseq

    alike = LCSseq.normalized_similarity
    return [[max(0.0, alike(a, b, score_cutoff=ALIKE) - ALIKE) for b in new] for a in gone]


def _traced(best: Sequence[Sequence[float]]) -> list[Pair]:
    """The way back through the table of the best sums."""
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
