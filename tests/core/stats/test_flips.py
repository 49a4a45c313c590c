"""When flips are told: more than usual, or one way."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from scoring.core.stats.flips import LINE_LEVEL, FlipCounts, flip_tests

USUAL = [FlipCounts(200, 6, 5)] * 6


@pytest.mark.parametrize(
    ("steps", "is_churn", "is_one_way"),
    [
        ([], False, False),
        ([FlipCounts(200, 0, 0)], False, False),
        ([FlipCounts(200, 60, 60)], False, False),  # nothing is usual yet
        ([FlipCounts(200, 0, 30)], False, True),
        ([*USUAL, FlipCounts(200, 6, 6)], False, False),
        ([*USUAL, FlipCounts(200, 21, 20)], True, False),
        ([*USUAL, FlipCounts(200, 1, 40)], True, True),
        ([*USUAL, FlipCounts(200, 0, 4)], False, False),
    ],
)
def test_flips_are_told_where_they_are_unusual(
    steps: list[FlipCounts], is_churn: bool, is_one_way: bool
) -> None:
    churn, mcnemar = flip_tests(steps, 1)
    assert (churn is not None, mcnemar is not None) == (is_churn, is_one_way)


def test_p_is_corrected_for_both_tests_and_all_lines() -> None:
    step = FlipCounts(200, 0, 30)
    exact = stats.binomtest(0, 30).pvalue
    assert flip_tests([step], 6)[1] == pytest.approx(12 * exact)
    assert flip_tests([step], 1_000_000)[1] is None


def test_steady_steps_are_rarely_told() -> None:
    """All steps between runs of one source: a rate of LINE_LEVEL exceeds the bound once in 1,000.
    Neighbouring steps share a run.
    """
    draw = np.random.default_rng(5)
    told, rounds = 0, 20
    for _ in range(rounds):
        ease = draw.beta(2, 1, 200)
        runs = draw.random((20, 200)) < ease
        steps = [
            FlipCounts(200, int((after & ~before).sum()), int((before & ~after).sum()))
            for before, after in pairwise(runs)
        ]
        told += sum(any(flip_tests(steps[: n + 1], 1)) for n in range(19))
    assert told <= stats.binom.ppf(0.999, rounds * 19, LINE_LEVEL)
