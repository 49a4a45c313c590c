"""A scorer's figures over a run, over outputs or over cases, and as many decimals as they need."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.core.stats.descriptive import Estimate
from scoring.engine.runs.scorer_figures import RunFigure
from scoring.models import RunScorer, RunSummary

SCORER = RunScorer(name="close", threshold=0.5)
#: Over four cases, each reduced to one figure.
TRIALS = {
    "mean": {"n": 4, "total": 2.0, "squares": 1.5, "passed": 3},
    "pass_at": {"2": {"n": 4, "total": 3.0, "squares": 2.5}},
    "unsteady": 1,
}


def figure(how: str = "mean", **summary: Any) -> RunFigure:
    return RunFigure(SCORER, RunSummary(**summary), how)


def test_a_run_at_work_has_no_figures() -> None:
    none = RunFigure(SCORER, None)
    assert (none.mean, none.pass_rate, none.case_count, none.unsteady_count) == (None, None, 0, 0)
    assert (none.cause_counts, none.fault_counts, none.decimals) == ([], [], 2)


def test_codes_are_told_by_their_number() -> None:
    told = figure(causes={"a": 1, "b": 3, "c": 1}, faults={"d": 1, "e": 2})
    assert told.cause_counts == [("b", 3), ("a", 1), ("c", 1)]
    assert told.fault_counts == [("e", 2), ("d", 1)]


@pytest.mark.parametrize(
    ("low", "high", "decimals"),
    [
        (0.4, 0.6, 2),
        (0.40, 0.41, 2),
        (0.400, 0.409, 3),
        (0.4, 0.4002, 4),
        (0.4, 0.40002, 5),
        (0.4, 0.4 + 2e-8, 2),  # what rounding left
    ],
)
def test_a_mean_has_as_many_decimals_as_tell_its_ends_apart(
    monkeypatch: pytest.MonkeyPatch, low: float, high: float, decimals: int
) -> None:
    estimate = Estimate(0.4, (low, high + 1e-12))
    monkeypatch.setattr(RunSummary, "mean_estimate", estimate)
    assert figure(trials={}).decimals == decimals


def test_a_pass_rate_is_of_what_was_scored() -> None:
    rate = figure(passed=3, scored=4, trials={}).pass_rate
    assert rate is not None
    assert rate.value == 0.75


@pytest.mark.parametrize(
    ("how", "mean", "rate", "count"),
    [("mean", 0.5, 0.75, 4), ("pass@2", None, 0.75, 4), ("pass@3", None, None, 0)],
)
def test_where_cases_have_trials_figures_are_over_cases(
    how: str, mean: float | None, rate: float | None, count: int
) -> None:
    told = figure(how, trials=TRIALS, passed=1, scored=9)
    assert [each and each.value for each in (told.mean, told.pass_rate)] == [mean, rate]
    assert (told.case_count, told.unsteady_count) == (count, 1)
