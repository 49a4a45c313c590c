"""Tells a test that fails by chance from one that is red: what failed is run once more, alone.

With `--second-look`, as `.ci/run` asks for it, after all other tests. What passes then is unsteady:
it is named with its first failure, and up to `MAX_UNSTEADY` of those leave the run green.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Final

import pytest
from _pytest.terminal import TerminalReporter

MAX_UNSTEADY: Final = 3
#: When more than this many fail it is no chance, and to look again would take long.
MAX_FAILED: Final = 20


def passes_alone(node_id: str, folder: Path, *options: str) -> bool:
    """Whether the test passes in a process of its own, started in this folder."""
    command = [sys.executable, "-m", "pytest", "-q", "--numprocesses=0", "-p", "no:cacheprovider"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    done = subprocess.run(
        [*command, *options, node_id],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode == pytest.ExitCode.OK and " passed" in done.stdout


class SecondLook:
    """A pytest plugin for the process that gathers the reports of all others."""

    def __init__(self, reporter: TerminalReporter) -> None:
        self._reporter = reporter

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        result = yield
        failures = self._failures()
        if 0 < len(failures) <= MAX_FAILED:
            self._reporter.write_sep("-", f"a second look at {len(failures)} that failed, alone")
            root, chosen = session.config.rootpath, session.config.getoption("ds", None)
            options = [f"--ds={chosen}"] if chosen else []
            unsteady = [each for each in failures if passes_alone(each, root, *options)]
            if len(unsteady) <= MAX_UNSTEADY:
                for node_id in unsteady:
                    self._forgive(failures[node_id], session)
        return result

    def _failures(self) -> dict[str, list[pytest.TestReport]]:
        """The reports of what failed, in its fixtures too, by node id."""
        failures: dict[str, list[pytest.TestReport]] = {}
        for outcome in ("failed", "error"):
            for report in self._reporter.stats.get(outcome, []):
                if isinstance(report, pytest.TestReport):
                    failures.setdefault(report.nodeid, []).append(report)
        return failures

    def _forgive(self, reports: list[pytest.TestReport], session: pytest.Session) -> None:
        stats = self._reporter.stats
        for report in reports:
            stats["failed" if report in stats.get("failed", []) else "error"].remove(report)
            session.testsfailed -= 1
        stats.setdefault("unsteady", []).append(reports[0])

    def pytest_terminal_summary(self) -> None:
        """The first failure of each, and the lines that `.ci/run` repeats at its end."""
        unsteady = self._reporter.stats.get("unsteady", [])
        if not unsteady:
            return
        self._reporter.write_sep("=", "unsteady: failed among others, passed alone")
        for report in unsteady:
            self._reporter.write_sep("_", report.nodeid)
            self._reporter.write_line(report.longreprtext)
            for title, text in report.sections:
                self._reporter.write_line(f"--- {title}\n{text}")
        for report in unsteady:
            self._reporter.write_line(f"UNSTEADY {report.nodeid} - {first_line(report)}")


def first_line(report: pytest.TestReport) -> str:
    """Why it failed, as pytest's own summary gives it."""
    crash = getattr(report.longrepr, "reprcrash", None)
    text = str(crash.message if crash else report.longreprtext).strip()
    return text.splitlines()[0] if text else "no reason given"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--second-look",
        action="store_true",
        help="run what failed once more, alone; up to three that pass then fail nothing",
    )


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    is_worker = hasattr(config, "workerinput")
    if config.getoption("--second-look") and reporter is not None and not is_worker:
        config.pluginmanager.register(SecondLook(reporter))
