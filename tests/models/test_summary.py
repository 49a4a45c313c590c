"""What a summary says of its scores."""

from __future__ import annotations

import pytest

from scoring.models import RunSummary


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
