"""Paired comparisons against scipy, against counting by hand, and against chance itself."""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from scoring.core.stats.paired_tests import (
    RESAMPLED_BELOW,
    RESAMPLES,
    Flips,
    _exact_p,
    _permuted_p,
    benjamini_hochberg,
    count_flips,
    detectable_difference,
    difference,
    holm,
)
from tests.support.thoroughness import examples

unit = st.floats(0, 1).map(lambda value: round(value, 2))
pairs = st.lists(st.tuples(unit, unit), min_size=2, max_size=8)


def columns(of: list[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [before for before, _ in of], [after for _, after in of]


def test_a_worked_example() -> None:
    """Three of four cases fell by 0.2: of the eight ways to flip three signs two are as extreme."""
    found = difference([0.9, 0.8, 0.7, 0.5], [0.7, 0.6, 0.5, 0.5])
    assert (found.n, found.method) == (4, "exact")
    assert found.mean == pytest.approx(-0.15)
    assert found.p == 0.25


NOTHING = [([], 0, None, None), ([(0.5, 0.7)], 1, 0.2, 1.0)]


@pytest.mark.parametrize(("of", "n", "mean", "p"), NOTHING)
def test_too_few_pairs_claim_nothing(
    of: list[tuple[float, float]], n: int, mean: float | None, p: float | None
) -> None:
    found = difference(*columns(of))
    assert (found.n, found.p, found.interval, found.standard_error) == (n, p, None, None)
    assert found.mean == (None if mean is None else pytest.approx(mean))


def test_equal_runs_do_not_differ() -> None:
    found = difference([0.1, 0.9] * 50, [0.1, 0.9] * 50)
    assert (found.mean, found.interval, found.p) == (0.0, (0.0, 0.0), 1.0)


@given(pairs)
@settings(max_examples=examples(50))
def test_few_pairs_are_tested_over_every_flip(of: list[tuple[float, float]]) -> None:
    moves = [round(after - before, 12) for before, after in of]
    sums = [
        abs(sum(sign * move for sign, move in zip(signs, moves, strict=True)))
        for signs in product((1, -1), repeat=len(moves))
    ]
    share = sum(each >= abs(sum(moves)) - 1e-12 for each in sums) / len(sums)
    assert difference(*columns(of)).p == pytest.approx(share)


@given(pairs)
@settings(max_examples=examples(25))
def test_turned_round_the_difference_changes_its_sign(of: list[tuple[float, float]]) -> None:
    one, other = difference(*columns(of)), difference(*reversed(columns(of)))
    assert other.mean == pytest.approx(-(one.mean or 0.0))
    assert other.p == pytest.approx(one.p)
    assert other.standard_error == pytest.approx(one.standard_error)


def test_no_interval_reaches_beyond_what_scores_can_differ() -> None:
    found = difference([1.0] * 8, [0.0] * 7 + [1.0])
    assert found.interval is not None
    assert found.interval[0] == -1.0


def sample(n: int, effect: float, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    before = draw.beta(5, 2, n)
    return before, np.clip(before + draw.normal(effect, 0.1, n), 0, 1)


@pytest.mark.parametrize(("n", "effect"), [(40, 0.03), (200, 0.01), (200, 0.0)])
def test_the_permutation_test_agrees_with_scipy(n: int, effect: float) -> None:
    before, after = sample(n, effect)
    theirs = stats.permutation_test(
        (after - before,),
        lambda moves, axis: moves.mean(axis=axis),
        permutation_type="samples",
        n_resamples=9_999,
        vectorized=True,
        rng=np.random.default_rng(1),
    )
    ours = difference(before.tolist(), after.tolist())
    assert ours.method == "resampled"
    assert ours.p == pytest.approx(theirs.pvalue, abs=0.015)  # both are drawn: 3 standard errors


@pytest.mark.parametrize(
    "moved",
    [
        np.array([0.1, -0.2, 0.3, 0.4, -0.15, 0.25, 0.35, 0.05, 0.6]),  # drawn one by one
        np.array([0.5] * 11 + [-0.5] * 4 + [0.25]),  # drawn by how often a size occurs
        np.array([0.5, -0.5, 0.25, -0.25]),
    ],
)
def test_random_flips_have_the_p_of_all_flips(moved: np.ndarray) -> None:
    """Within four standard errors of so many draws; the observed signs count among them."""
    exact = _exact_p(moved)
    error = (exact * (1 - exact) / RESAMPLES) ** 0.5
    assert _permuted_p(moved) == pytest.approx(exact, abs=4 * error + 1 / RESAMPLES)


def test_no_random_flips_make_p_zero() -> None:
    assert _permuted_p(np.linspace(0.1, 0.9, 60)) == 1 / (RESAMPLES + 1)


def test_the_bootstrap_interval_agrees_with_scipy() -> None:
    before, after = sample(200, 0.02)
    theirs = stats.bootstrap(
        (after - before,), np.mean, method="percentile", rng=np.random.default_rng(1)
    ).confidence_interval
    ours = difference(before.tolist(), after.tolist()).interval
    assert ours == pytest.approx((theirs.low, theirs.high), abs=0.001)


@pytest.mark.parametrize(
    ("broke", "fixed"),
    [(0, 1), (0, 9), (3, 1), (5, 5), (6, 5), (130, 180), (20_000, 19_500), (900, 0)],
)
def test_flips_are_tested_as_scipy_tests_them(broke: int, fixed: int) -> None:
    theirs = stats.binomtest(broke, broke + fixed, 0.5).pvalue
    assert Flips(50_000, broke, fixed).p == pytest.approx(theirs, rel=1e-9)


@pytest.mark.parametrize("size", [1.0, 0.25])
def test_many_verdicts_are_tested_exactly(size: float) -> None:
    """Above the limit of resampling, too: McNemar's test, whatever the size of all differences."""
    before = np.array([size] * 300 + [0.0] * (RESAMPLED_BELOW - 300))
    after = np.array([0.0] * 180 + [size] * 250 + [0.0] * (RESAMPLED_BELOW - 430))
    found = difference(before, after)
    assert (found.p, found.method) == (Flips(RESAMPLED_BELOW, 180, 130).p, "counted")


def test_the_few_differences_of_verdicts_are_drawn_as_scipy_draws_them() -> None:
    """Scores of 0 and 1: the permutation test is McNemar's then, and the interval scipy's."""
    draw = np.random.default_rng(8)
    before = draw.random(300) < 0.7
    after = np.where(draw.random(300) < 0.1, ~before, before)
    found = difference(before.astype(float), after.astype(float))
    assert found.p == count_flips(before.tolist(), after.tolist()).p
    assert found.method == "exact"
    moves = after.astype(float) - before
    theirs = stats.bootstrap(
        (moves,), np.mean, method="percentile", rng=np.random.default_rng(1)
    ).confidence_interval
    assert found.interval == pytest.approx((theirs.low, theirs.high), abs=0.004)


@pytest.mark.parametrize("n", [60, 400])
def test_of_equal_verdicts_at_most_one_in_twenty_is_called_different(n: int) -> None:
    draw = np.random.default_rng(12)
    rounds = [count_flips(*(draw.random((2, n)) < 0.7).tolist()).p for _ in range(400)]
    assert sum(p <= 0.05 for p in rounds) <= stats.binom.ppf(0.999, 400, 0.05)


def test_many_pairs_take_students_t() -> None:
    before, after = sample(RESAMPLED_BELOW, 0.002)
    ours = difference(before.tolist(), after.tolist())
    theirs = stats.ttest_rel(after, before)
    assert ours.method == "normal"
    assert ours.p == pytest.approx(theirs.pvalue)
    interval = theirs.confidence_interval(0.95)
    assert ours.interval == pytest.approx((interval.low, interval.high), rel=1e-4)


def test_the_same_scores_give_the_same_numbers() -> None:
    before, after = sample(300, 0.01)
    assert difference(before.tolist(), after.tolist()) == difference(before, after)


@pytest.mark.slow
@pytest.mark.parametrize("n", [12, 60])
def test_of_equal_runs_at_most_one_in_twenty_is_called_different(n: int) -> None:
    """400 rounds: with a true rate of 5 % more than 33 alarms come once in 1,000."""
    draw = np.random.default_rng(11)
    rounds = [difference(draw.beta(5, 2, n), draw.beta(5, 2, n)) for _ in range(400)]
    alarms = sum(found.p is not None and found.p <= 0.05 for found in rounds)
    assert alarms <= stats.binom.ppf(0.999, 400, 0.05)


@pytest.mark.parametrize("claims", [1, 8])
def test_the_detectable_difference_is_found_four_times_in_five(claims: int) -> None:
    """Also at the level that is left to one of eight claims."""
    draw = np.random.default_rng(5)
    base = draw.normal(0, 0.1, (300, 100))
    error = difference(np.zeros(100), base[0]).standard_error
    assert error is not None
    effect = detectable_difference(error, claims)
    found = stats.ttest_1samp(base + effect, 0, axis=1).pvalue <= 0.05 / claims
    assert 0.65 <= found.mean() <= 0.92


FLIPS = [
    ([True, True, False, False], [True, False, True, False], (4, 1, 1), 1.0),
    ([True] * 5, [False] * 5, (5, 5, 0), 2 * 0.5**5),
    ([], [], (0, 0, 0), 1.0),
]


@pytest.mark.parametrize(("before", "after", "counts", "p"), FLIPS)
def test_flips_are_counted_and_tested(
    before: list[bool], after: list[bool], counts: tuple[int, int, int], p: float
) -> None:
    found = count_flips(before, after)
    assert tuple(found) == counts
    assert found.p == pytest.approx(p)


@given(st.integers(0, 30), st.integers(0, 30))
def test_mcnemar_is_twice_the_smaller_tail(broke: int, fixed: int) -> None:
    total = broke + fixed
    tail = sum(comb(total, k) for k in range(min(broke, fixed) + 1)) / 2**total
    assert Flips(100, broke, fixed).p == pytest.approx(min(1.0, 2 * tail))


ps = st.lists(st.floats(0, 1), max_size=12)


@given(ps)
def test_false_discoveries_are_corrected_as_scipy_does(found: list[float]) -> None:
    theirs = stats.false_discovery_control(found) if found else []
    assert benjamini_hochberg(found) == pytest.approx(list(theirs))


@given(ps)
def test_holm_rejects_step_by_step(found: list[float]) -> None:
    """By the definition: go up from the smallest until one is too large for what is left."""
    corrected = holm(found)
    for level in (0.01, 0.05, 0.3):
        rejected = set()
        for rank, place in enumerate(sorted(range(len(found)), key=found.__getitem__)):
            if found[place] * (len(found) - rank) > level:
                break
            rejected.add(place)
        assert {place for place, p in enumerate(corrected) if p <= level} == rejected
