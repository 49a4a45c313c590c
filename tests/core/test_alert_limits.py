"""Which limits an alert rule may have."""

from __future__ import annotations

import math
from typing import Any

import pytest

from scoring.core.alert_limits import BOUNDS, limit_problem

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
