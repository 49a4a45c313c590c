from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from typing import Any

import pytest

from scoring.engine.jobs import lease, tasks
from scoring.engine.jobs.tasks import EndedTask, LeasedTasks, RunningTasks
from scoring.models import Job


class Executor:
    """Its tasks end when a test says so."""

    processes = 2

    def __init__(self, faults: int = 0) -> None:
        self.futures: list[Future[Any]] = []
        self.faults, self.restarts = faults, 0

    def submit(self, function: Callable[..., Any], *args: Any) -> Future[Any]:
        if self.restarts < self.faults:
            raise BrokenProcessPool
        self.futures.append(Future())
        return self.futures[-1]

    def restart(self) -> None:
        self.restarts += 1


def test_tasks_that_have_ended_are_collected_once_with_their_faults() -> None:
    executor, fault = Executor(), ValueError("no")
    running: RunningTasks[Job] = RunningTasks(executor, 3)
    jobs = [Job(pk=number) for number in (1, 2, 3)]
    for job in jobs:
        running.start(job, print)
    assert (running.free, running.ids, len(running)) == (0, [1, 2, 3], 3)
    assert not running.have_ended
    executor.futures[1].set_result(None)
    executor.futures[2].set_exception(fault)
    assert running.have_ended
    assert running.collect() == [EndedTask(jobs[1], None), EndedTask(jobs[2], fault)]
    assert not running.have_ended
    assert (running.collect(), running.free, list(running)) == ([], 2, jobs[:1])
    assert (running.abandon(), len(running)) == (jobs[:1], 0)


def test_leases_are_renewed_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    now, renewed = [100.0], []
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    monkeypatch.setattr(lease, "renew", lambda row: renewed.append((now[0], row.pk)))
    leased: LeasedTasks[Job] = LeasedTasks(Executor(), 2)
    leased.renew_leases()
    leased.start(Job(pk=1), print)
    for second in range(2 * lease.RENEW_SECONDS):
        now[0] = 100.0 + second
        leased.renew_leases()
    assert renewed == [(100.0, 1), (100.0 + lease.RENEW_SECONDS, 1)]


def test_an_executor_whose_processes_died_is_restarted_once() -> None:
    executor = Executor(faults=1)
    assert tasks.submit(executor, print) is executor.futures[0]
    assert executor.restarts == 1
    with pytest.raises(BrokenProcessPool):
        tasks.submit(Executor(faults=2), print)
