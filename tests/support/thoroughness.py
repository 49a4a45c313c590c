"""How often tests repeat: little by default, more where `CI` is set in the environment."""

from __future__ import annotations

import os

IN_CI = "CI" in os.environ
#: How often a test kills its process; `EVALSITE_TEST_KILLS=100` asks for more.
KILLS = int(os.environ.get("EVALSITE_TEST_KILLS") or (10 if IN_CI else 2))
#: How many calls a run makes that lasts longer than its kills, and at most between two kills.
CALLS = 30 * max(KILLS, 10)
CALLS_BETWEEN_KILLS = (CALLS - 60) // KILLS


def examples(number: int) -> int:
    """How many examples Hypothesis draws: all of them in CI, else a quarter."""
    return number if IN_CI else max(1, number // 4)
