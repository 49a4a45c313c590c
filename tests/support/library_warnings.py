"""Names the libraries that a library warned of, with their versions.

Such a warning fails no test (`filterwarnings` in `pyproject.toml`): what a new version of a library
says of another one is not for this code to mend, but worth knowing before the next one.
"""

from __future__ import annotations

import warnings
from collections import Counter
from importlib.metadata import packages_distributions, version
from pathlib import PurePath
from typing import Final

import pytest
from _pytest.terminal import TerminalReporter

INSTALLED: Final = ("site-packages", "dist-packages")


class LibraryWarnings:
    """A pytest plugin that counts the warnings raised in installed packages."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def pytest_warning_recorded(self, warning_message: warnings.WarningMessage) -> None:
        if library := library_of(warning_message.filename):
            kind = warning_message.category.__name__
            self._counts[f"{library}: {kind}: {str(warning_message.message).splitlines()[0]}"] += 1

    def pytest_terminal_summary(self, terminalreporter: TerminalReporter) -> None:
        if self._counts:
            terminalreporter.write_sep("=", "warnings of libraries, which fail nothing")
            for told, count in sorted(self._counts.items()):
                terminalreporter.write_line(f"{count} x {told}")


def library_of(file_name: str) -> str:
    """Name and version of the installed package that the file belongs to; empty for others."""
    parts = PurePath(file_name).parts
    inside = next((parts[n + 1 :] for n, part in enumerate(parts) if part in INSTALLED), ())
    if not inside:
        return ""
    package = PurePath(inside[0]).stem
    names = packages_distributions().get(package)
    return f"{names[0]} {version(names[0])}" if names else package


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(LibraryWarnings())
