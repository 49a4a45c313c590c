"""The power of the exact McNemar test: against the trinomial distribution, added up by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from scoring.core.stats.mcnemar import (
    ALPHA,
    MAX_TRIALS,
    cases_needed,
    critical_counts,
    detectable_drop,
    drop_power,
    mcnemar_power,
    trials_needed,
)
from scoring.core.stats.paired_tests import POWER, Flips


def added_up(n: int, broke: float, fixed: float) -> float:
    """The chance of every outcome that scipy's binomial test calls a significant drop."""
    counts = [(b, f) for b in range(n + 1) for f in range(n + 1 - b) if b > f]
    chances = [broke, fixed, max(0.0, 1 - broke - fixed)]
    return sum(
        float(stats.multinomial.pmf([b, f, n - b - f], n, chances))
        for b, f in counts
        if stats.binomtest(f, b + f).pvalue <= ALPHA
    )


@pytest.mark.parametrize(
    ("n", "broke", "fixed"), [(5, 1, 0), (6, 1, 0), (10, 0.5, 0.1), (25, 0.3, 0.05), (40, 0.1, 0.1)]
)
def test_power_is_that_of_all_outcomes(n: int, broke: float, fixed: float) -> None:
    assert mcnemar_power(n, broke, fixed) == pytest.approx(added_up(n, broke, fixed), abs=1e-9)


def test_critical_counts_are_those_of_the_test() -> None:
    counts = critical_counts(np.arange(200)).astype(int).tolist()
    for count, broke in enumerate(counts):
        assert broke > count or Flips(count, broke, count - broke).p <= ALPHA
        assert Flips(count, broke - 1, count - broke + 1).p > ALPHA or 2 * broke <= count + 1


@pytest.mark.parametrize(("n", "discordance"), [(50, 0.0), (200, 0.05), (999, 0.3), (5_000, 0.1)])
def test_the_detectable_drop_is_the_smallest_with_the_power(n: int, discordance: float) -> None:
    drop = detectable_drop(n, discordance)
    assert drop is not None
    assert drop_power(n, discordance, drop) >= POWER > drop_power(n, discordance, drop - 0.001)


def test_power_grows_with_cases_and_drop_and_shrinks_with_chance_flips() -> None:
    assert drop_power(400, 0.1, 0.1) > drop_power(200, 0.1, 0.1) > drop_power(100, 0.1, 0.1)
    assert drop_power(200, 0.1, 0.2) > drop_power(200, 0.1, 0.1)
    assert drop_power(200, 0.05, 0.1) > drop_power(200, 0.4, 0.1)


def test_five_cases_find_nothing_and_none_has_no_power() -> None:
    assert (detectable_drop(5, 0.0), detectable_drop(0, 0.0)) == (None, None)
    assert drop_power(0, 0.0, 0.5) == mcnemar_power(10, 0.0, 0.0) == 0.0
    assert detectable_drop(10, 0.0) is not None


@pytest.mark.parametrize(("discordance", "drop"), [(0.0, 0.1), (0.1, 0.05), (0.5, 0.2)])
def test_so_many_cases_are_about_enough(discordance: float, drop: float) -> None:
    cases = cases_needed(discordance, drop)
    assert cases is not None
    assert drop_power(cases, discordance, drop) >= POWER
    assert drop_power(round(0.9 * cases), discordance, drop) < POWER


@pytest.mark.parametrize("n", [*range(120, 145), 180, 250])
def test_more_cases_are_needed_than_were_not_enough(n: int) -> None:
    if drop_power(n, 0.05, 0.1) < POWER:
        assert (cases_needed(0.05, 0.1, n) or 0) > n


def test_a_tiny_drop_takes_more_cases_than_are_searched() -> None:
    assert cases_needed(0.5, 1e-5) is None


def test_more_trials_help_only_where_chance_hides_the_drop() -> None:
    trials = trials_needed(200, 0.3, 0.1)
    assert trials is not None
    assert drop_power(200, 0.3 / trials, 0.1) >= POWER > drop_power(200, 0.3 / (trials - 1), 0.1)
    assert trials_needed(20, 0.0, 0.1) is None
    assert drop_power(20, 0.5 / MAX_TRIALS, 0.1) < POWER
