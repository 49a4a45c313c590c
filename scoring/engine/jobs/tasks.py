"""Tasks under way in an executor, each for one row: the same for jobs, uploads and alerts.

The worker calls the `step` of each runner in turn. A step collects the tasks that have ended,
renews the leases of the others and starts what is waiting; it never waits for a task.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from typing import Any, Generic, NamedTuple, TypeVar

from django.db.models import Model

from scoring.engine.jobs import lease
from scoring.engine.processes.process_pool import Executor

Row = TypeVar("Row", bound=Model)
LeasedRow = TypeVar("LeasedRow", bound=lease.Leased)


class EndedTask(NamedTuple, Generic[Row]):
    """The row of a task that has ended. `fault` is what it raised, or what ended its process."""

    row: Row
    fault: BaseException | None


class RunningTasks(Generic[Row]):
    """The tasks of a runner that are under way; iterating gives their rows."""

    def __init__(self, executor: Executor, limit: int) -> None:
        self._executor, self._limit = executor, limit
        self._futures: dict[Row, Future[Any]] = {}

    def __iter__(self) -> Iterator[Row]:
        return iter(list(self._futures))

    def __len__(self) -> int:
        return len(self._futures)

    @property
    def ids(self) -> list[int]:
        return [row.pk for row in self._futures]

    @property
    def free(self) -> int:
        """How many more may be started."""
        return self._limit - len(self._futures)

    @property
    def have_ended(self) -> bool:
        """Whether one has, and is to be collected."""
        return any(future.done() for future in self._futures.values())

    def start(self, row: Row, function: Callable[..., Any], *args: Any) -> None:
        """Start the task of a row, whose lease is ours if it has one."""
        self._futures[row] = submit(self._executor, function, *args)

    def collect(self) -> list[EndedTask[Row]]:
        """Those that have ended; they are under way no more."""
        ended = [(row, future) for row, future in self._futures.items() if future.done()]
        for row, _ in ended:
            del self._futures[row]
        return [EndedTask(row, future.exception()) for row, future in ended]

    def abandon(self) -> list[Row]:
        """Forget all tasks because the worker stops; the rows they were for."""
        rows = list(self._futures)
        self._futures.clear()
        return rows


class LeasedTasks(RunningTasks[LeasedRow]):
    """Tasks whose rows other workers could take."""

    _renew_at = 0.0

    def renew_leases(self) -> None:
        """Keep the rows from other workers, every RENEW_SECONDS."""
        if len(self) and time.monotonic() >= self._renew_at:
            self._renew_at = time.monotonic() + lease.RENEW_SECONDS
            for row in self:
                lease.renew(row)


def submit(executor: Executor, function: Callable[..., Any], *args: Any) -> Future[Any]:
    """Submit to an executor whose processes may have died while they had nothing to do."""
    try:
        return executor.submit(function, *args)
    except BrokenProcessPool:
        executor.restart()
        return executor.submit(function, *args)
