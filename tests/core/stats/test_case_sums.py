"""Sums by case and their tests, against scipy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from scoring.core.stats.case_sums import (
    CaseSums,
    add_sums,
    change_p,
    pack_sums,
    paired_difference,
    sum_run,
    tail_probabilities,
    unpack_sums,
)
from scoring.core.stats.paired_tests import count_flips


def run(scores: list[float] | np.ndarray, keys: list[int] | None = None) -> CaseSums:
    return sum_run(np.array(keys or range(len(scores))), np.array(scores, float))


def drawn(seed: int, n: int, runs: int) -> tuple[CaseSums, CaseSums]:
    """Sums over so many runs of cases of different ease, and one more run."""
    draw = np.random.default_rng(seed)
    ease = draw.beta(4, 1, n)
    found = [run((draw.random(n) < ease).astype(float)) for _ in range(runs + 1)]
    sums = found[0]
    for each in found[1:-1]:
        sums = add_sums(sums, each)
    return sums, found[-1]


def same(one: CaseSums, other: CaseSums) -> bool:
    names = ("keys", "counts", "totals", "squares")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


def test_runs_are_added_case_by_case() -> None:
    sums = add_sums(run([1.0, 0.5], [7, 3]), run([0.25, 1.0], [3, 9]))
    assert sums.keys.tolist() == [3, 7, 9]
    assert sums.counts.tolist() == [2, 1, 1]
    assert sums.totals.tolist() == [0.75, 1.0, 1.0]
    assert sums.squares.tolist() == [0.3125, 1.0, 1.0]
    assert not sums.is_binary
    assert add_sums(run([1, 0]), run([0, 1])).is_binary


def test_what_is_packed_is_unpacked_bit_by_bit() -> None:
    sums = add_sums(run(np.random.default_rng(1).random(50)), run([0.1] * 20, [*range(30, 50)]))
    assert same(unpack_sums(pack_sums(sums)), sums)


@pytest.mark.parametrize("seed", range(5))
def test_with_one_earlier_run_it_is_the_exact_mcnemar_test(seed: int) -> None:
    sums, newest = drawn(seed, 60, 1)
    expected = count_flips((sums.totals == 1).tolist(), (newest.totals == 1).tolist()).p
    assert change_p(sums, newest) == pytest.approx(expected)


@pytest.mark.parametrize(("n", "runs"), [(20, 2), (50, 7), (300, 20)])
def test_with_more_runs_successes_are_poisson_binomial(n: int, runs: int) -> None:
    sums, newest = drawn(n, n, runs)
    exact = stats.poisson_binom((sums.totals + newest.totals) / (runs + 1))
    count = int(newest.totals.sum())
    expected = min(1.0, 2 * min(exact.cdf(count), exact.sf(count - 1)))
    assert change_p(sums, newest) == pytest.approx(expected, rel=1e-9)


def test_other_scores_have_a_paired_t_test_with_one_earlier_run() -> None:
    one, other = np.random.default_rng(1).random((2, 30))
    expected = stats.ttest_rel(other, one).pvalue
    assert change_p(run(one), run(other)) == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(6))
def test_with_more_earlier_runs_the_larger_p_of_two_variances_counts(seed: int) -> None:
    scores = np.random.default_rng(seed).random((4, 30))
    sums = add_sums(add_sums(run(scores[0]), run(scores[1])), run(scores[2]))
    differences = scores[3] - scores[:3].mean(axis=0)
    within = ((scores - scores.mean(axis=0)) ** 2).sum(axis=0) / 3
    ratio = differences.sum() ** 2 / (within * (1 + 1 / 3)).sum()
    t = np.sqrt(ratio * 89 / (90 - ratio))  # 30 cases with three runs before
    expected = max(2 * stats.t(89).sf(t), stats.ttest_1samp(differences, 0.0).pvalue)
    assert change_p(sums, run(scores[3])) == pytest.approx(expected)


@pytest.mark.slow
def test_few_skewed_scores_reach_a_small_p_no_more_often_than_it_says() -> None:
    """Scores near 1 that cannot exceed it; a test that takes the variance from the differences
    alone reaches this p three times too often."""
    draw, rounds, before = np.random.default_rng(3), 6_000, 15
    found = 0
    for _ in range(rounds):
        ease = draw.beta(0.97, 0.03, 50)
        scores = np.clip(ease + draw.normal(0, 0.15, (before + 1, 50)), 0, 1)
        earlier, counts = scores[:before], np.full(50, float(before))
        sums = CaseSums(np.arange(50), counts, earlier.sum(axis=0), (earlier**2).sum(axis=0))
        found += (change_p(sums, run(scores[before])) or 1.0) <= 0.0025
    assert 0 < found <= stats.binom.ppf(0.999, rounds, 0.0025)


@pytest.mark.parametrize(
    ("before", "after", "p"),
    [
        ([0.5, 0.5, 0.5], [0.5, 0.5, 0.5], 1.0),
        ([0.5, 0.5, 0.5], [0.6, 0.6, 0.6], 0.0),
        ([1, 1, 1], [1, 1, 1], 1.0),
        ([0.5], [0.9], None),
    ],
)
def test_runs_without_variance(before: list[float], after: list[float], p: float | None) -> None:
    assert change_p(run(before), run(after)) == pytest.approx(p, abs=1e-20)


def test_cases_that_one_side_has_not_do_not_count() -> None:
    assert change_p(run([1, 1], [1, 2]), run([0, 0], [3, 4])) is None
    assert change_p(run([1, 1, 0], [1, 2, 3]), run([1, 1, 0], [1, 2, 4])) == 1.0


@pytest.mark.parametrize(("n", "share"), [(1, 0.5), (100, 0.01), (5_000, 0.3), (400_000, 0.97)])
def test_tails_of_equal_shares_are_binomial(n: int, share: float) -> None:
    exact = stats.binom(n, share)
    for place in (-4, -1, 0, 2, 4):
        count = min(n, max(0, round(n * share + place * exact.std())))
        expected = exact.cdf(count), exact.sf(count - 1)
        found = tail_probabilities(np.array([share]), np.array([n]), count)
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-12)


def test_far_outside_one_tail_is_all() -> None:
    shares, sizes = np.array([0.5]), np.array([1_000_000])
    assert tail_probabilities(shares, sizes, 0) == (0.0, 1.0)
    assert tail_probabilities(shares, sizes, 1_000_000) == (1.0, 0.0)


def test_a_step_has_its_interval() -> None:
    draw = np.random.default_rng(2)
    one, other = draw.random(40), draw.random(40)
    found = paired_difference(run(one), run(other))
    exact = stats.ttest_1samp(other - one, 0.0)
    interval = exact.confidence_interval()
    assert found is not None
    assert found == pytest.approx(
        (40, (other - one).mean(), interval.low, interval.high, exact.pvalue), rel=1e-4
    )
    assert paired_difference(run([1.0]), run([0.0])) is None
