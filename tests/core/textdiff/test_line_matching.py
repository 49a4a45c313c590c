"""Lines that belong together: in order, the most alike in sum, in bounded time."""

from __future__ import annotations

import random
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.core.textdiff import line_matching
from scoring.core.textdiff.line_matching import MIN_SIMILARITY, Pair, match_lines

LINES = st.lists(st.text("abc ", max_size=6), max_size=4)


def alike(one: str, other: str) -> float:
    """The share of characters in common, from the textbook's table; two empty texts are alike."""
    table = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i, a in enumerate(one):
        for j, b in enumerate(other):
            longest = max(table[i][j + 1], table[i + 1][j])
            table[i + 1][j + 1] = table[i][j] + 1 if a == b else longest
    return table[-1][-1] / max(len(one), len(other)) if one or other else 1.0


def gain(removed: list[str], added: list[str], pairs: list[Pair]) -> float:
    return sum(alike(removed[i].strip(), added[j].strip()) - MIN_SIMILARITY for i, j in pairs)


def every_way(rows: int, columns: int) -> list[list[Pair]]:
    """All ways to pair lines in order."""
    return [
        list(zip(some, others, strict=True))
        for count in range(min(rows, columns) + 1)
        for some in combinations(range(rows), count)
        for others in combinations(range(columns), count)
    ]


@given(LINES, LINES)
def test_no_other_way_to_pair_has_more_in_common(removed: list[str], added: list[str]) -> None:
    found = match_lines(removed, added)
    best = max(gain(removed, added, way) for way in every_way(len(removed), len(added)))
    assert gain(removed, added, found) == pytest.approx(best)
    assert all(gain(removed, added, [pair]) > 0 for pair in found)


@settings(deadline=None)
@given(
    st.lists(st.text("abc ", max_size=6), max_size=40),
    st.lists(st.text("abc ", max_size=6), max_size=40),
)
def test_pairs_rise_on_both_sides(removed: list[str], added: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(line_matching, "TABLE", 50)
        found = match_lines(removed, added)
    assert all(i < k and j < m for (i, j), (k, m) in pairwise(found))
    assert all(0 <= i < len(removed) and 0 <= j < len(added) for i, j in found)
    assert all(gain(removed, added, [pair]) > 0 for pair in found)


@pytest.mark.parametrize("size", [10, 44, 45, 300])
def test_each_of_many_changed_lines_finds_its_own(size: int) -> None:
    removed = [f"  the value of part {n} is {n * 7919 % 1000} today" for n in range(size)]
    added = [line.replace("today", "now") for line in removed]
    assert match_lines(removed, added) == [(n, n) for n in range(size)]


@pytest.mark.parametrize("size", [20, 300])
def test_new_and_missing_lines_shift_the_pairs_behind_them(size: int) -> None:
    chance = random.Random(size)
    removed = ["".join(chance.choices("abcdefghijklmnop", k=30)) for _ in range(size)]
    added = [line[:-3] + "end" for line in removed]
    del added[4]
    added[10:10] = ["0123456789", "9876543210"]
    wanted = [(n, n - (n > 4) + 2 * (n > 10)) for n in range(size) if n != 4]
    assert match_lines(removed, added) == wanted


@pytest.mark.parametrize("indent", ["", " " * 40, "\t\t\t"])
def test_indentation_makes_no_lines_alike(indent: str) -> None:
    assert match_lines([f"{indent}abc\n"], [f"{indent}xyz\n"]) == []
    assert match_lines([f"{indent}abcd\n"], ["abce\n"]) == [(0, 0)]
