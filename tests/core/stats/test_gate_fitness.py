"""What a scorer may be used for, by its verdicts against people's on a random sample."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.stats.calibration import VerdictTable
from scoring.core.stats.gate_fitness import Fitness, FitnessFigures

GOOD = VerdictTable(50, 3, 3, 44)


def test_enough_labels_with_a_high_kappa_and_no_severe_failure_are_fit_to_gate() -> None:
    figures = FitnessFigures(GOOD, 0)
    assert figures.fitness == Fitness.GATING
    assert figures.lacking == []
    kappa = GOOD.kappa
    assert kappa is not None
    assert kappa.interval is not None
    assert figures.lower_bound == kappa.interval[0]


@pytest.mark.parametrize(
    ("table", "missed", "limit", "fitness", "lacking"),
    [
        (GOOD, 2, 0.6, "trend", ["It passes 2 outputs with a severe failure tag."]),
        (GOOD, 0, 0.9, "trend", ["Kappa may be as low as 0.79; 0.9 is asked for."]),
        (VerdictTable(20, 0, 1, 20), 0, 0.6, "trend", ["9 more reviews of a random sample"]),
        (VerdictTable(30, 10, 10, 20), 0, 0.6, "trend", ["Kappa may be as low as 0.2"]),
        (VerdictTable(20, 20, 20, 20), 0, 0.6, "exploring", ["Kappa may be as low as -0.22"]),
        (VerdictTable(9, 0, 0, 9), 0, 0.5, "exploring", ["32 more reviews"]),
        (VerdictTable(60, 0, 0, 0), 1, 0.6, "exploring", ["Kappa is not", "It passes 1 output "]),
        (VerdictTable(0, 0, 0, 0), 0, 0.6, "exploring", ["50 more reviews"]),
    ],
)
def test_what_is_lacking_is_said(
    table: VerdictTable, missed: int, limit: float, fitness: str, lacking: list[str]
) -> None:
    figures = FitnessFigures(table, missed, limit)
    assert figures.fitness == fitness
    assert len(figures.lacking) == len(lacking)
    for sentence, beginning in zip(figures.lacking, lacking, strict=True):
        assert sentence.startswith(beginning)


def test_complete_agreement_of_few_is_no_certainty() -> None:
    """The standard error of kappa is zero there, whatever the number of labels."""
    few, many = (FitnessFigures(VerdictTable(n, 0, 0, n), 0) for n in (25, 500))
    assert few.lower_bound is not None
    assert many.lower_bound is not None
    assert 0.8 < few.lower_bound < many.lower_bound < 1
    assert few.fitness == many.fitness == Fitness.GATING


@given(st.tuples(*[st.integers(0, 300)] * 4), st.integers(0, 3), st.floats(0, 1))
def test_a_scorer_gates_exactly_where_nothing_is_lacking(
    counts: tuple[int, int, int, int], missed: int, limit: float
) -> None:
    figures = FitnessFigures(VerdictTable(*counts), missed, limit)
    assert (figures.fitness == Fitness.GATING) == (not figures.lacking)
    if figures.fitness == Fitness.GATING:
        assert figures.labels >= 50
        assert not missed
        assert figures.lower_bound is not None
        assert figures.lower_bound >= limit
