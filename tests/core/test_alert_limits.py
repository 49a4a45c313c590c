"""Which limits an alert rule may have."""

from __future__ import annotations

import math
from typing import Any

import pytest

from scoring.core.alert_limits import BOUNDS, limit_problem, warning_problem

SHARE = "Give a number above 0 and up to 1."


@pytest.mark.parametrize(
    ("kind", "limit", "problem"),
    [
        ("mean_below", 1, ""),
        ("mean_below", 1e-9, ""),
        ("mean_below", 0, SHARE),
        ("mean_below", 1.01, SHARE),
        ("mean_below", None, SHARE),
        ("mean_below", math.nan, SHARE),
        ("mean_below", True, SHARE),
        ("mean_below", "0.5", SHARE),
        ("drop", None, ""),
        ("drop", 0.5, ""),
        ("regressions", 0, ""),
        ("regressions", 2.5, f"Give {BOUNDS['regressions'].text}."),
        ("regressions", -1, f"Give {BOUNDS['regressions'].text}."),
        ("no_data", 365.0, ""),
        ("no_data", 366, f"Give {BOUNDS['no_data'].text}."),
        ("another", None, ""),
        ("another", 0.5, "This kind has no limit: leave it out."),
    ],
)
def test_a_limit_lies_in_the_range_of_its_kind(kind: str, limit: Any, problem: str) -> None:
    assert limit_problem(kind, limit) == problem


@pytest.mark.parametrize(
    ("kind", "limit", "warning", "problem"),
    [
        ("mean_below", 0.8, None, ""),
        ("mean_below", 0.8, 0.9, ""),
        ("mean_below", 0.8, 0.8, "A warning comes first: give more than the limit."),
        ("no_data", 8, 7, ""),
        ("no_data", 8, 9, "A warning comes first: give less than the limit."),
        ("drop", None, 0.1, "Only a rule with a limit can warn before it."),
        ("drop", 0.1, 2, f"Give {BOUNDS['drop'].text}."),
        ("another", None, 0.5, "This kind has no limit: leave it out."),
    ],
)
def test_a_warning_lies_before_the_limit(
    kind: str, limit: float | None, warning: float | None, problem: str
) -> None:
    assert warning_problem(kind, limit, warning) == problem
