from __future__ import annotations

import subprocess
import sys
import threading
from concurrent.futures import Future, wait

import pytest
from django.db import connections

from scoring.engine.processes.thread_pool import ThreadPool
from tests.support.waiting import DEADLINE_SECONDS


def fail(text: str) -> None:
    raise ValueError(text)


def test_a_future_brings_the_result_or_the_fault() -> None:
    with ThreadPool() as threads:
        assert threads.submit(pow, 2, 10).result(DEADLINE_SECONDS) == 1_024
        assert isinstance(threads.submit(fail, "no").exception(DEADLINE_SECONDS), ValueError)
        assert threads.submit(pow, 2, 3).result(DEADLINE_SECONDS) == 8


def test_even_a_task_that_wants_to_exit_ends_only_itself() -> None:
    with ThreadPool(1) as threads:
        assert isinstance(threads.submit(sys.exit, 3).exception(DEADLINE_SECONDS), SystemExit)
        assert threads.submit(pow, 2, 3).result(DEADLINE_SECONDS) == 8


@pytest.mark.parametrize("count", [1, 4])
def test_so_many_tasks_are_under_way_at_once(count: int) -> None:
    meeting = threading.Barrier(count)
    with ThreadPool(count) as threads:
        asked = [threads.submit(meeting.wait, DEADLINE_SECONDS) for _ in range(count)]
        assert sorted(future.result(DEADLINE_SECONDS) for future in asked) == list(range(count))


def test_closing_drops_what_has_not_begun_and_waits_for_nothing() -> None:
    begun, may_end = threading.Event(), threading.Event()

    def stay() -> str:
        begun.set()
        may_end.wait(DEADLINE_SECONDS)
        return "ended"

    threads = ThreadPool(1)
    first: Future[str] = threads.submit(stay)
    second = threads.submit(pow, 2, 3)
    assert begun.wait(DEADLINE_SECONDS)
    threads.close()
    assert (first.done(), second.cancelled()) == (False, True)
    may_end.set()
    assert first.result(DEADLINE_SECONDS) == "ended"


def test_the_threads_end_when_closed() -> None:
    threads = ThreadPool(2)
    found = [threads.submit(threading.current_thread).result(DEADLINE_SECONDS) for _ in range(2)]
    threads.close()
    for thread in found:
        thread.join(DEADLINE_SECONDS)
        assert not thread.is_alive()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("statement", ["SELECT 1", "no SQL"])
def test_no_thread_keeps_a_database_connection(statement: str) -> None:
    seen = []

    def query() -> None:
        own = connections["default"]
        seen.append(own)
        own.cursor().execute(statement)

    with ThreadPool(1) as threads:
        wait([threads.submit(query)], DEADLINE_SECONDS)
    assert [own.connection for own in seen] == [None]
    assert seen[0] is not connections["default"]


def test_a_process_ends_although_a_task_does_not() -> None:
    code = (
        "import time\n"
        "from scoring.engine.processes.thread_pool import ThreadPool\n"
        "ThreadPool(1).submit(time.sleep, 600)\n"
        "print('bye')\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=DEADLINE_SECONDS,
        check=False,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "bye\n", "")
