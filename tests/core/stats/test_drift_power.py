"""The drop that the next run would reveal, against its test and in which direction it moves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from benchmarks.drift_alarms import finds_drop
from scoring.core.stats.case_sums import CaseSums
from scoring.core.stats.drift_power import detectable_drop


def binary_sums(cases: int, runs: int, level: float) -> CaseSums:
    """Runs in which every case passed in the same share of runs."""
    counts = np.full(cases, float(runs))
    return CaseSums(np.arange(cases), counts, counts * level, counts * level)


def drop(cases: int = 200, runs: int = 8, level: float = 0.8, lines: int = 1) -> float:
    found = detectable_drop(binary_sums(cases, runs, level), [level] * runs, lines)
    assert found is not None
    return found


@pytest.mark.parametrize(
    "sums", [binary_sums(1, 8, 0.8), binary_sums(200, 8, 0.0), binary_sums(2, 8, 0.5)]
)
def test_where_no_drop_would_be_found_there_is_none(sums: CaseSums) -> None:
    assert detectable_drop(sums, [0.5] * 8) is None


@pytest.mark.parametrize(
    ("easier", "harder"),
    [
        ({"cases": 800}, {"cases": 200}),
        ({"runs": 20}, {"runs": 2}),
        ({"lines": 1}, {"lines": 50}),
        ({"level": 0.97}, {"level": 0.5}),
    ],
)
def test_more_evidence_reveals_a_smaller_drop(
    easier: dict[str, Any], harder: dict[str, Any]
) -> None:
    assert drop(**easier) < drop(**harder)


def test_wide_limits_hide_a_drop_that_the_test_would_find() -> None:
    sums = binary_sums(200, 8, 0.8)
    assert (detectable_drop(sums, [0.7, 0.9] * 4) or 1.0) > drop(200, 8, 0.8) + 0.1


@pytest.mark.slow
@pytest.mark.parametrize(("size", "level", "before"), [(50, 0.8, 4), (200, 0.97, 7), (200, 0.5, 8)])
def test_the_drop_that_a_page_states_is_found(size: int, level: float, before: int) -> None:
    draw = np.random.default_rng(before)
    found = [finds_drop(draw, size, level, 0.5, before) for _ in range(60)]
    assert sum(map(bool, found)) >= stats.binom.ppf(0.001, 60, 0.8)


@pytest.mark.slow
def test_a_smaller_drop_is_mostly_missed() -> None:
    """So that the stated one is not simply large."""
    draw = np.random.default_rng(1)
    found = [finds_drop(draw, 200, 0.8, 0.5, 7, drop=0.04) for _ in range(60)]
    assert sum(map(bool, found)) <= 30


@pytest.mark.slow
def test_a_drop_of_ten_points_is_found_where_runs_correlate() -> None:
    draw = np.random.default_rng(2)
    found = [finds_drop(draw, 200, 0.9, 0.6, 8, drop=0.1) for _ in range(60)]
    assert sum(map(bool, found)) >= stats.binom.ppf(0.001, 60, 0.83)
