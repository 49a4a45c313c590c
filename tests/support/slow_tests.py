"""Measures which tests are slow and writes the list of them, `tests/support/slow_tests.txt`.

    python -m tests.support.slow_tests

Half of the time of the tests without browser goes to a tenth of them. Those are marked `slow`
besides the ones that say so themselves, see `tests/conftest.py`. Measure on an idle machine.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path
from statistics import mean
from typing import Final

import pytest

LIST: Final = Path(__file__).with_suffix(".txt")
MEASURING: Final = "EVALSITE_MEASURE_SLOW_TESTS"  # set for the processes of pytest meanwhile
PART: Final = 0.5  # of the time of all tests, taken by the slow ones


@cache
def slow_tests() -> frozenset[str]:
    """The names of the slow tests, such as `tests/core/test_config.py::test_defaults`.

    None while they are measured.
    """
    if MEASURING in os.environ:
        return frozenset()
    return frozenset(LIST.read_text().split())


def name_of(node_id: str) -> str:
    """A test's name without its parameters."""
    return node_id.partition("[")[0]


class Durations:
    """A pytest plugin that sums up how long each test takes, with its fixtures."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = defaultdict(float)  # by node id

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[report.nodeid] += report.duration

    def slowest(self, part: float) -> list[str]:
        """The names of the slowest tests that take this part of the whole time."""
        times = defaultdict(list)
        for node_id, seconds in self._seconds.items():
            times[name_of(node_id)].append(seconds)
        remaining = part * sum(self._seconds.values())
        slowest = []
        for name in sorted(times, key=lambda name: mean(times[name]), reverse=True):
            if remaining <= 0:
                break
            slowest.append(name)
            remaining -= sum(times[name])
        return slowest


def main() -> int:
    """Run the tests and, where all pass, write the list anew; the exit code is that of pytest."""
    text = __doc__ or ""
    formatter = argparse.RawDescriptionHelpFormatter
    argparse.ArgumentParser(description=text, formatter_class=formatter).parse_args()
    durations = Durations()
    os.environ[MEASURING] = "1"
    code = pytest.main(["-q", "-m", "not slow and not browser"], plugins=[durations])
    if code == pytest.ExitCode.OK:
        LIST.write_text("".join(f"{name}\n" for name in sorted(durations.slowest(PART))))
    return int(code)


if __name__ == "__main__":
    sys.exit(main())
