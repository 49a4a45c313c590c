"""The suite's own plugins tell what fails by chance, what hangs and what takes long."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import ROOT
from tests.support.second_look import MAX_UNSTEADY

#: Fails among others, which are run by two processes, and passes alone.
CHANCE = "def test_{}(): assert 'PYTEST_XDIST_WORKER' not in os.environ, 'beside others'\n"
ENDLESS = "def test_endless(): sum(itertools.repeat(0))\n"  # deaf to signals
PLUGINS = " ".join(
    f"-p tests.support.{name}"
    for name in ("durations", "library_warnings", "scheduling", "second_look")
)
INI = f"""
[pytest]
addopts = {PLUGINS} -p no:cacheprovider -p no:django --numprocesses=2 --dist=loadfile -ra
faulthandler_timeout = 1
faulthandler_exit_on_timeout = true
markers = long
filterwarnings = error
  default::DeprecationWarning:(?!test_)
"""


#: Of each kind that ends as it should in a suite that is red: what fails by chance, what fails
#: always, what says falsely that it takes long, and what warns.
MIXED = f"""
import warnings
{CHANCE.format("chance")}
def test_red(): assert 1 == 2, 'never'
@pytest.mark.long('a worker is killed')
def test_short(): pass
def test_library(): warnings.warn_explicit('old', DeprecationWarning, {pytest.__file__!r}, 1)
def test_own(): warnings.warn('old', DeprecationWarning)
"""


def suite(folder: Path, tests: str, *options: str) -> subprocess.CompletedProcess[str]:
    """What pytest says of a suite with these tests beside one that passes."""
    (folder / "pytest.ini").write_text(INI)
    (folder / "test_planted.py").write_text(f"import itertools, os, pytest\n{tests}")
    (folder / "test_sound.py").write_text("def test_sound(): pass\n")
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTEST_", "COV_"))
    }
    return subprocess.run(
        [sys.executable, "-m", "pytest", *options],
        cwd=folder,
        env={**environment, "PYTHONPATH": str(ROOT), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    """What pytest says of the suite of all kinds, asked for second looks and durations."""
    return suite(tmp_path_factory.mktemp("mixed"), MIXED, "--second-look", "--slowest", "1")


@pytest.mark.long("pytest is run three times")
def test_what_fails_by_chance_is_named_and_forgiven(tmp_path: Path) -> None:
    done = suite(tmp_path, CHANCE.format("chance"), "--second-look")
    assert done.returncode == pytest.ExitCode.OK, done.stdout
    assert "UNSTEADY test_planted.py::test_chance - AssertionError: beside others" in done.stdout
    assert "FAILED" not in done.stdout
    assert "1 passed, 1 unsteady in" in done.stdout.splitlines()[-1]


def test_what_fails_twice_is_red_beside_what_is_unsteady(
    mixed: subprocess.CompletedProcess[str],
) -> None:
    assert mixed.returncode == pytest.ExitCode.TESTS_FAILED
    assert "UNSTEADY test_planted.py::test_chance" in mixed.stdout
    assert "FAILED test_planted.py::test_red - AssertionError: never" in mixed.stdout
    assert "2 failed, 3 passed, 1 warning, 1 unsteady in" in mixed.stdout.splitlines()[-1]


@pytest.mark.long("pytest is run five times")
def test_only_so_many_unsteady_tests_are_forgiven(tmp_path: Path) -> None:
    tests = "".join(CHANCE.format(number) for number in range(MAX_UNSTEADY + 1))
    done = suite(tmp_path, tests, "--second-look")
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert "UNSTEADY" not in done.stdout
    assert done.stdout.count("FAILED test_planted.py::test_") == MAX_UNSTEADY + 1


@pytest.mark.long("a process hangs for a second")
def test_a_test_that_no_signal_reaches_ends_its_process_once_and_the_rest_is_run(
    tmp_path: Path,
) -> None:
    done = suite(tmp_path, f"{ENDLESS}def test_behind(): pass\n")
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert "FAILED test_planted.py::test_endless - worker" in done.stdout
    assert "in test_endless" in done.stderr  # the stack of every thread
    assert "1 failed, 2 passed in" in done.stdout.splitlines()[-1]


def test_long_tests_are_told_with_their_reasons(mixed: subprocess.CompletedProcess[str]) -> None:
    report = mixed.stdout.partition("the 1 slowest tests")[2]
    slowest, unexplained, stale = report.split("\n===")[:3]
    assert slowest.count("::test_") == 1
    assert unexplained.endswith("\nnone")
    assert stale.splitlines()[1].endswith("test_planted.py::test_short  a worker is killed")


def test_a_warning_of_a_library_is_named_with_its_version_and_fails_nothing(
    mixed: subprocess.CompletedProcess[str],
) -> None:
    assert f"1 x pytest {pytest.__version__}: DeprecationWarning: old" in mixed.stdout
    assert "FAILED test_planted.py::test_own - DeprecationWarning: old" in mixed.stdout
    assert "test_library - " not in mixed.stdout
