"""What a score and a summary of scores say."""

from __future__ import annotations

import pytest

from scoring.core.contract import Result
from scoring.models import RunSummary, Score, Status, Verdict


def summary(scored: int, mean: float | None, variance: float | None) -> RunSummary:
    return RunSummary(n=9, scored=scored, errors=0, skipped=0, mean=mean, variance=variance)


def test_nothing_scored_gives_no_mean() -> None:
    assert summary(0, None, None).mean_estimate is None


def test_one_score_gives_no_interval() -> None:
    estimate = summary(1, 0.4, None).mean_estimate
    assert estimate is not None
    assert estimate.value == pytest.approx(0.4)
    assert estimate.interval is None


def test_the_interval_is_students() -> None:
    """0.2, 0.4, 0.6: t(2) at 95 % is 4.302653, so 0.4 ± 4.302653 * 0.2 / √3, clipped."""
    estimate = summary(3, 0.4, 0.04).mean_estimate
    assert estimate is not None
    assert estimate.interval == pytest.approx((0.0, 0.8968276), abs=1e-6)


@pytest.mark.parametrize(
    ("scored", "variance", "error"), [(0, None, None), (1, None, None), (4, 0.16, 0.2)]
)
def test_the_standard_error_is_that_of_the_scored(
    scored: int, variance: float | None, error: float | None
) -> None:
    assert summary(scored, 0.5, variance).standard_error == error


def test_problems_are_counted_over_causes_and_faults() -> None:
    row = summary(3, 0.4, 0.04)
    row.causes, row.faults = {"no_output": 2}, {"invalid_json": 1, "no_output": 1}
    assert row.problems == {"no_output": 3, "invalid_json": 1}
    row.passed = 2
    assert row.pass_rate == pytest.approx(2 / 3)
    assert summary(0, None, None).pass_rate is None


@pytest.mark.parametrize(
    ("status", "score", "verdict", "result"),
    [
        (Status.SCORED, 1.0, Verdict.PASS, Result("scored", 1.0, "pass", "", {"code": "x"})),
        (Status.SCORED, 0.0, Verdict.FAIL, Result("scored", 0.0, "fail", "", {"code": "x"})),
        (Status.ERROR, None, None, Result("error", None, None, "", {"code": "x"})),
        (Status.SKIPPED, None, None, Result("skipped", None, None, "", {"code": "x"})),
    ],
)
def test_a_row_gives_the_scorer_s_result_again(
    status: Status, score: float | None, verdict: Verdict | None, result: Result
) -> None:
    row = Score(status=status, score=score, verdict=verdict, metadata_json='{"code": "x"}')
    assert row.result == result
