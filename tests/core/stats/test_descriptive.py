"""Means, rates, bins and percentiles against numpy and scipy."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as oracle

from scoring.core.stats.descriptive import (
    BINS,
    estimate_from_moments,
    find_bin,
    histogram,
    mean_estimate,
    percentiles,
    rate_estimate,
    t_quantile,
)

scores = st.floats(0, 1)


@given(st.lists(scores, min_size=2, max_size=50), st.sampled_from([0.8, 0.95, 0.99]))
def test_the_mean_and_its_interval_are_those_of_scipy(values: list[float], level: float) -> None:
    found = mean_estimate(len(values), math.fsum(values), math.fsum(v * v for v in values), level)
    assert found is not None
    assert found.interval is not None
    mean, error = np.mean(values), oracle.sem(values)
    reach = oracle.t.ppf((1 + level) / 2, len(values) - 1) * error
    # Sums of squares lose half of the digits of a very small spread.
    assert found.value == pytest.approx(mean, abs=1e-12)
    assert found.interval[0] == pytest.approx(max(0, mean - reach), abs=1e-5 + 1e-5 * reach)
    assert found.interval[1] == pytest.approx(min(1, mean + reach), abs=1e-5 + 1e-5 * reach)
    assert 0 <= found.interval[0] <= found.value <= found.interval[1] <= 1


@given(st.lists(scores, min_size=2, max_size=50))
def test_sample_moments_give_the_same_estimate_as_sums(values: list[float]) -> None:
    of_sums = mean_estimate(len(values), math.fsum(values), math.fsum(v * v for v in values))
    found = estimate_from_moments(
        len(values), float(np.mean(values)), float(np.var(values, ddof=1))
    )
    assert of_sums is not None
    assert of_sums.interval is not None
    assert found is not None
    assert found.value == pytest.approx(of_sums.value, abs=1e-12)
    assert found.interval == pytest.approx(of_sums.interval, abs=1e-5)


def test_no_scores_have_no_mean_and_one_has_no_interval() -> None:
    assert mean_estimate(0, 0.0, 0.0) is None
    assert mean_estimate(1, 0.25, 0.0625) == (0.25, None)


def test_equal_scores_have_an_interval_without_width() -> None:
    n = 1_000_000
    found = mean_estimate(n, math.fsum([0.9] * n), math.fsum([0.9 * 0.9] * n))
    assert found is not None
    assert found.interval == pytest.approx((0.9, 0.9), abs=1e-9)


@pytest.mark.parametrize("level", [0.8, 0.9, 0.95, 0.99, 0.999])
@pytest.mark.parametrize("df", [*range(1, 41), 60, 100, 1_000, 100_000, 10_000_000])
def test_the_t_quantile_is_that_of_scipy(df: int, level: float) -> None:
    assert t_quantile(df, level) == pytest.approx(oracle.t.ppf((1 + level) / 2, df), rel=1e-5)


@pytest.mark.parametrize("level", [0.9, 0.95])
@pytest.mark.parametrize(
    ("passed", "n"), [(0, 1), (1, 1), (0, 10), (10, 10), (1, 3), (7, 10), (131, 1_200), (5, 10**6)]
)
def test_the_rate_interval_is_that_of_scipy(passed: int, n: int, level: float) -> None:
    found = rate_estimate(passed, n, level)
    wanted = oracle.binomtest(passed, n).proportion_ci(level, method="wilson")
    assert found is not None
    assert found.value == passed / n
    assert found.interval == pytest.approx((wanted.low, wanted.high))


@given(st.integers(1, 10**7), st.floats(0, 1))
def test_a_rate_lies_in_its_interval_and_that_in_0_to_1(n: int, share: float) -> None:
    found = rate_estimate(int(n * share), n)
    assert found is not None
    assert found.interval is not None
    assert 0 <= found.interval[0] <= found.value <= found.interval[1] <= 1


def test_no_cases_have_no_rate() -> None:
    assert rate_estimate(0, 0) is None


@pytest.mark.parametrize(
    ("score", "place"),
    [(0.0, 0), (0.0499999, 0), (0.05, 1), (0.5, 10), (0.949, 18), (0.95, 19), (1.0, 19)],
)
def test_a_score_lies_in_its_bin(score: float, place: int) -> None:
    assert find_bin(score) == place


@given(st.lists(st.integers(0, 1000).map(lambda part: part / 1000)))
def test_the_histogram_counts_every_score_once(values: list[float]) -> None:
    edges = [round(place * 0.05, 2) for place in range(BINS)] + [1.0]
    counts, _ = np.histogram(values, bins=edges)
    assert histogram(values) == counts.tolist()
    assert sum(histogram(values)) == len(values)


@given(
    st.lists(st.floats(0, 1e6), min_size=1, max_size=40),
    st.lists(st.floats(0, 1), min_size=1, max_size=4),
)
def test_percentiles_are_those_of_numpy(values: list[float], shares: list[float]) -> None:
    found = percentiles(values, shares)
    assert found == pytest.approx(np.quantile(values, shares).tolist(), rel=1e-9, abs=1e-9)


def test_percentiles_of_nothing_are_none() -> None:
    assert percentiles([], (0.5,)) is None
    assert percentiles(iter([3.0]), (0.0, 0.5, 1.0)) == (3.0, 3.0, 3.0)


def test_neither_numpy_nor_scipy_is_loaded() -> None:
    code = (
        "import sys, scoring.core.stats.descriptive; "
        "sys.exit('numpy' in sys.modules or 'scipy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
