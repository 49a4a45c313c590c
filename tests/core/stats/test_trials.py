"""Trials of a case as one figure, against counting every choice of trials."""

from __future__ import annotations

from itertools import combinations
from statistics import fmean, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.stats.trials import (
    REDUCTIONS,
    Bounds,
    CaseTrials,
    Reduction,
    bound_pass_at_k,
    bound_trials,
    pass_at_k,
    pass_probability,
    reduce_scores,
    reduce_trials,
)

CASES = [
    CaseTrials((1.0, 0.5, 0.0), 1),
    CaseTrials((1.0, 1.0, 1.0), 3),
    CaseTrials((0.2,), 0),
    CaseTrials((), 0),
]

SCORES = [
    ((0.2, 0.4, 0.9), "mean", 0.5),
    ((0.2, 0.4, 0.9), "median", 0.4),
    ((0.2, 0.4, 0.9, 1.0), "median", 0.65),
    ((0.2, 0.4, 0.9), "min", 0.2),
    ((0.1, 0.2, 0.6), "mean", 0.3),  # 0.30000000000000004 before rounding
    ((0.7,), "mean", 0.7),
]


@pytest.mark.parametrize(("scores", "how", "score"), SCORES)
def test_trials_become_one_score(scores: tuple[float, ...], how: str, score: float) -> None:
    assert reduce_scores(scores, how) == score  # type: ignore[arg-type]


def test_a_case_without_scores_counts_nowhere() -> None:
    figure = reduce_trials(CASES, "mean", 0.5)
    assert (figure.n, figure.passed) == (3, 2)
    assert figure.mean is not None
    assert figure.mean.value == pytest.approx(fmean([0.5, 1.0, 0.2]))


@pytest.mark.parametrize(
    ("trials", "ways"),
    [
        (CaseTrials((0.0, 0.0), 0), ""),  # both fail whatever the threshold
        (CaseTrials((0.0, 0.0), 1), "mean median"),  # one of them does
        (CaseTrials((0.0, 0.0), 2), "mean median min"),
    ],
)
def test_at_threshold_0_what_fails_at_any_threshold_still_fails(
    trials: CaseTrials, ways: str
) -> None:
    passed = [how for how in REDUCTIONS if reduce_trials([trials], how, 0.0).passed]
    assert passed == ways.split()


def test_the_interval_is_over_cases_not_over_trials() -> None:
    """Ten equal trials of a case say no more about other cases than one does."""
    once = [CaseTrials((score,), 0) for score in (0.4, 0.5, 0.6)]
    often = [CaseTrials((score,) * 10, 0) for score in (0.4, 0.5, 0.6)]
    assert reduce_trials(often, "mean", 0.5).mean == reduce_trials(once, "mean", 0.5).mean
    mean = reduce_trials(once, "mean", 0.5).mean
    assert mean is not None
    assert mean.interval is not None
    reach = 4.302653 * stdev([0.4, 0.5, 0.6]) / 3**0.5  # Student's t with 2 degrees of freedom
    assert mean.interval == pytest.approx((0.5 - reach, 0.5 + reach), abs=1e-4)


@given(st.lists(st.booleans(), min_size=1, max_size=8), st.data())
def test_pass_at_k_is_the_share_of_choices_with_a_pass(
    trials: list[bool], data: st.DataObject
) -> None:
    k = data.draw(st.integers(1, len(trials)))
    choices = list(combinations(trials, k))
    share = sum(any(choice) for choice in choices) / len(choices)
    assert pass_probability(len(trials), sum(trials), k) == pytest.approx(share)


def test_pass_at_k_leaves_out_cases_with_fewer_trials() -> None:
    figure = pass_at_k(CASES, 3)
    assert (figure.n, figure.total) == (2, 2.0)  # one pass among three is found by three
    assert pass_at_k(CASES, 1).total == pytest.approx(1 / 3 + 1 + 0)


UNSTEADY = [((1.0, 0.0), 1, True), ((1.0, 1.0), 2, False), ((0.0, 0.0), 0, False), ((), 0, False)]


@pytest.mark.parametrize(("scores", "passed", "is_unsteady"), UNSTEADY)
def test_a_case_is_unsteady_when_its_trials_disagree(
    scores: tuple[float, ...], passed: int, is_unsteady: bool
) -> None:
    assert CaseTrials(scores, passed).is_unsteady is is_unsteady


LOST = [
    CaseTrials((1.0, 1.0), 2, lost=1),
    CaseTrials((0.0, 0.0, 0.0), 0),
    CaseTrials((), 0, lost=3),
]


@pytest.mark.parametrize(
    ("how", "mean", "pass_rate"),
    [
        ("mean", (2 / 3 / 3, 2 / 3), (0, 2 / 3)),
        ("median", (1 / 3, 2 / 3), (1 / 3, 2 / 3)),
        ("min", (0, 2 / 3), (0, 2 / 3)),
    ],
)
def test_lost_trials_make_bounds(
    how: Reduction, mean: tuple[float, float], pass_rate: tuple[float, float]
) -> None:
    found = bound_trials(LOST, how, 1.0)
    assert found
    assert found.n == 3
    assert found.mean == pytest.approx(mean)
    assert found.pass_rate == pytest.approx(pass_rate)


def test_cases_with_lost_trials_do_not_drop_out_of_pass_at_k() -> None:
    assert bound_pass_at_k(LOST, 3) == Bounds(3, None, (1 / 3, 2 / 3))
    assert bound_pass_at_k(LOST, 1) == Bounds(3, None, pytest.approx((2 / 9, 2 / 3)))
    assert bound_pass_at_k(LOST, 4) is None
    assert bound_trials([], "min", 0.5) is None


@given(st.lists(st.tuples(st.lists(st.booleans(), max_size=4), st.integers(0, 3)), max_size=6))
def test_whatever_lost_trials_score_lies_within_the_bounds(
    drawn: list[tuple[list[bool], int]],
) -> None:
    cases = [CaseTrials([float(s) for s in scores], sum(scores), lost) for scores, lost in drawn]
    filled = [case.fill(0.5, passes=False) for case in cases]
    for how in REDUCTIONS:
        bounds, actual = bound_trials(cases, how, 0.7), reduce_trials(filled, how, 0.7)
        if bounds:
            low, high = bounds.mean or (0, 0)
            assert low - 1e-9 <= actual.total / actual.n <= high + 1e-9
            assert bounds.pass_rate[0] <= (actual.passed or 0) / actual.n <= bounds.pass_rate[1]
