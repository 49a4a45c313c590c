"""How often tests repeat: little by default, more where `EVALSITE_SLOW_TESTS` is set."""

from __future__ import annotations

import os

#: Whether slow tests run, too, and every test as often as it can be wished.
IS_THOROUGH = os.environ.get("EVALSITE_SLOW_TESTS", "") not in {"", "0"}
#: How often a test kills its process; `EVALSITE_TEST_KILLS=100` asks for more.
KILLS = int(os.environ.get("EVALSITE_TEST_KILLS") or (10 if IS_THOROUGH else 2))
#: How many calls a run makes that lasts longer than its kills, and at most between two kills.
CALLS = 30 * max(KILLS, 4)
CALLS_BETWEEN_KILLS = (CALLS - 60) // KILLS


def examples(number: int) -> int:
    """How many examples Hypothesis draws: a quarter unless all are asked for."""
    return number if IS_THOROUGH else max(1, number // 4)
