"""Reports the slowest tests, and whether those that take long say why.

With `--slowest N`, as `.ci/run` asks for it. A test that takes more than `LIMIT_SECONDS`, or
`BROWSER_LIMIT_SECONDS` in the browser, has a reason beside it: `@pytest.mark.long("...")`. Machines
differ, so what is said here fails nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

import pytest
from _pytest.terminal import TerminalReporter

LIMIT_SECONDS: Final = 2.0
BROWSER_LIMIT_SECONDS: Final = 5.0
#: A reason is stale when its test takes less than this part of the limit.
STALE_PART: Final = 0.25
MARK: Final = "long"


def limit_of(node_id: str) -> float:
    """From how many seconds on the test needs a reason."""
    return BROWSER_LIMIT_SECONDS if node_id.startswith("tests/browser/") else LIMIT_SECONDS


class Durations:
    """A pytest plugin that sums up how long each test takes, with its fixtures."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._seconds: dict[str, float] = defaultdict(float)  # by node id
        self._reasons: dict[str, str] = {}  # by node id

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[report.nodeid] += report.duration
        for name, reason in report.user_properties:
            if name == MARK:
                self._reasons[report.nodeid] = str(reason)

    def pytest_terminal_summary(self, terminalreporter: TerminalReporter) -> None:
        for title, lines in self.tables().items():
            terminalreporter.write_sep("=", title)
            for line in lines or ["none"]:
                terminalreporter.write_line(line)

    def tables(self) -> dict[str, list[str]]:
        """By what they list: lines of seconds, node id and reason, the longest first."""
        ordered = sorted(self._seconds, key=lambda node_id: -self._seconds[node_id])
        unexplained = [each for each in ordered if self._is_long(each, 1) and not self._why(each)]
        stale = [
            each for each in ordered if self._why(each) and not self._is_long(each, STALE_PART)
        ]
        return {
            f"the {self._count} slowest tests": self._lines(ordered[: self._count]),
            "long without a reason": self._lines(unexplained),
            "reasons that are stale": self._lines(stale),
        }

    def _is_long(self, node_id: str, part: float) -> bool:
        return self._seconds[node_id] > part * limit_of(node_id)

    def _why(self, node_id: str) -> str:
        return self._reasons.get(node_id, "")

    def _lines(self, node_ids: Iterable[str]) -> list[str]:
        return [
            f"{self._seconds[each]:6.1f} s  {each}  {self._why(each)}".rstrip() for each in node_ids
        ]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--slowest",
        type=int,
        metavar="N",
        help="report the N slowest tests, and which reasons for taking long lack or are stale",
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The reasons go along with the reports, which come from other processes."""
    for item in items:
        if mark := item.get_closest_marker(MARK):
            item.user_properties.append((MARK, mark.args[0]))


def pytest_configure(config: pytest.Config) -> None:
    count = config.getoption("--slowest")
    if count and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Durations(count))
