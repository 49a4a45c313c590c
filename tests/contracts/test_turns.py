"""Tests that measure time bear no other beside them, in whichever process it runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, flock
from pathlib import Path

import pytest

from tests.turns import Turns

TESTS = Path(__file__).resolve().parents[1]
CLOCK = re.compile(r"\b(process_time|perf_counter|getrusage)\(")


def is_free(lock: Path, how: int) -> bool:
    """Whether one more process could take it now; it does not keep it."""
    with lock.open("w") as one_more:
        try:
            flock(one_more, how | LOCK_NB)
        except BlockingIOError:
            return False
    return True


@pytest.fixture
def room(tmp_path: Path) -> Path:
    return tmp_path / "room.lock"


@pytest.fixture
def process(tmp_path: Path) -> Iterator[Callable[[], Turns]]:
    with ExitStack() as ends:

        def begun() -> Turns:
            made = Turns(tmp_path)
            ends.callback(made.pytest_unconfigure)
            return made

        yield begun


def test_tests_run_beside_each_other(process: Callable[[], Turns], room: Path) -> None:
    one, other = process(), process()
    one.enter(is_marked=False)
    other.enter(is_marked=False)
    assert is_free(room, LOCK_SH)
    one.leave(is_next_marked=False)
    assert not is_free(room, LOCK_EX)
    other.leave(is_next_marked=True)
    assert is_free(room, LOCK_EX)


def test_beside_a_marked_one_runs_none(process: Callable[[], Turns], room: Path) -> None:
    one = process()
    one.enter(is_marked=True)
    assert not is_free(room, LOCK_SH)
    one.leave(is_next_marked=False)
    assert is_free(room, LOCK_EX)


def test_between_two_marked_ones_runs_none(process: Callable[[], Turns], room: Path) -> None:
    one = process()
    one.enter(is_marked=True)
    one.leave(is_next_marked=True)
    assert not is_free(room, LOCK_SH)
    one.enter(is_marked=True)
    one.leave(is_next_marked=False)
    assert is_free(room, LOCK_EX)


def test_a_marked_one_waits_and_is_not_overtaken(
    process: Callable[[], Turns], room: Path, tmp_path: Path
) -> None:
    running, marked = process(), process()
    running.enter(is_marked=False)
    with ThreadPoolExecutor(1) as threads:
        entered: Future[None] = threads.submit(marked.enter, is_marked=True)
        while is_free(tmp_path / "door.lock", LOCK_EX):
            assert not entered.done()
        assert not entered.done()
        running.leave(is_next_marked=False)
        entered.result(10)
    assert not is_free(room, LOCK_SH)
    assert is_free(tmp_path / "door.lock", LOCK_EX)


def test_a_process_that_ends_keeps_nobody_waiting(process: Callable[[], Turns], room: Path) -> None:
    one = process()
    one.enter(is_marked=True)
    one.pytest_unconfigure()
    assert is_free(room, LOCK_EX)


@pytest.mark.parametrize(
    "path",
    [path for path in sorted(TESTS.rglob("test_*.py")) if CLOCK.search(path.read_text())],
    ids=lambda path: str(path.relative_to(TESTS)),
)
def test_a_file_that_measures_time_marks_who_does(path: Path) -> None:
    assert "@pytest.mark.alone\n" in path.read_text()
