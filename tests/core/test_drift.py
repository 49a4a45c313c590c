"""Limits and change points on series whose answer is known, and on noise that has none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from scoring.core.drift import FEWEST_A_SIDE, change_points, control_limits

unit = st.floats(0, 1)

#: Ten values whose nine moving ranges sum up to 0.18: limits 0.8 ± 2.66 times 0.02.
STEADY = [0.79, 0.81, 0.79, 0.81, 0.79, 0.81, 0.79, 0.81, 0.79, 0.81]


def test_a_worked_individuals_chart() -> None:
    limits = control_limits(STEADY)
    assert limits is not None
    assert limits.n == 10
    assert (limits.centre, limits.low, limits.high) == pytest.approx((0.8, 0.7468, 0.8532))


@pytest.mark.parametrize(("runs", "has_limits"), [(0, False), (7, False), (8, True)])
def test_fewer_than_eight_runs_have_no_limits(runs: int, has_limits: bool) -> None:
    assert (control_limits([0.5] * runs) is not None) is has_limits


def test_limits_look_back_on_twenty_runs() -> None:
    assert control_limits([0.0] * 30 + [0.8] * 20) == (0.8, 0.8, 0.8, 20)


@given(st.lists(unit, min_size=8, max_size=40))
def test_limits_stay_where_scores_are(values: list[float]) -> None:
    limits = control_limits(values)
    assert limits is not None
    assert 0 <= limits.low <= limits.centre + 1e-9
    assert limits.centre - 1e-9 <= limits.high <= 1


def test_of_steady_runs_few_leave_the_limits() -> None:
    """Three deviations either way: of normal values about 3 in 1,000, more while n is small."""
    draw = np.random.default_rng(3)
    outside = 0
    for _ in range(2_000):
        values = draw.normal(0.5, 0.02, 21)
        limits = control_limits(values[:20].tolist())
        assert limits is not None
        outside += not limits.low <= values[20] <= limits.high
    assert outside <= 2_000 * 0.015


def series(*levels: tuple[float, int], noise: float = 0.01, seed: int = 1) -> list[float]:
    draw = np.random.default_rng(seed)
    flat = np.concatenate([np.full(runs, level) for level, runs in levels])
    return (flat + draw.normal(0, noise, len(flat))).tolist()


KNOWN = [
    (series((0.8, 12)), []),
    (series((0.8, 8), (0.7, 8)), [8]),
    (series((0.8, 7), (0.7, 7), (0.9, 7)), [7, 14]),
    (series((0.5, 10), (0.6, 5)), [10]),
    (series((0.8, 2), (0.2, 2), noise=0.0), []),  # too few a side
    ([0.8] * 20, []),
    ([], []),
]


@pytest.mark.parametrize(("values", "places"), KNOWN)
def test_known_changes_are_found(values: list[float], places: list[int]) -> None:
    assert [change.place for change in change_points(values)] == places


def test_a_change_tells_both_levels() -> None:
    (change,) = change_points([0.8] * 8 + [0.7] * 8)
    assert (change.before, change.after) == pytest.approx((0.8, 0.7))
    assert change.p < 0.01


def test_noise_alone_rarely_changes() -> None:
    """400 series of 16 runs at 1 %: more than 11 alarms would come once in 1,000."""
    draw = np.random.default_rng(17)
    alarms = sum(bool(change_points(draw.normal(0.5, 0.05, 16).tolist())) for _ in range(400))
    assert alarms <= stats.binom.ppf(0.999, 400, 0.01)


@given(st.lists(unit, max_size=24))
def test_every_level_has_enough_runs_and_answers_are_the_same(values: list[float]) -> None:
    found = change_points(values)
    edges = [0, *(change.place for change in found), len(values)]
    if found:
        assert min(np.diff(edges)) >= FEWEST_A_SIDE
    assert change_points(values) == found
