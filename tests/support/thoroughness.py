"""How often tests repeat: little by default, more where `EVALSITE_SLOW_TESTS` is set or, of kills,
`EVALSITE_TEST_KILLS` says so.
"""

from __future__ import annotations

import os

#: Whether slow tests run, too, and every test as often as it can be wished.
IS_THOROUGH = os.environ.get("EVALSITE_SLOW_TESTS", "") not in {"", "0"}
#: How often everything that is killed is, in all tests of it together.
ALL_KILLS = int(os.environ.get("EVALSITE_TEST_KILLS") or (100 if IS_THOROUGH else 2))
#: How often one test kills.
KILLS = min(ALL_KILLS, 10)
#: How many calls a run makes that lasts longer than its kills, and at most between two kills.
CALLS = 30 * max(KILLS, 4)
CALLS_BETWEEN_KILLS = (CALLS - 60) // KILLS


def examples(number: int) -> int:
    """How many examples Hypothesis draws: a quarter unless all are asked for."""
    return number if IS_THOROUGH else max(1, number // 4)
