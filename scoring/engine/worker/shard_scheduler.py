"""Schedules the shards of several runs on one executor, in turn."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Iterable
from concurrent.futures import Future, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from django.db.models import F

from scoring.engine.jobs.isolation import is_unwritable
from scoring.engine.processes.process_pool import Executor
from scoring.engine.runs.execution import execute_shard, fail_shard
from scoring.engine.services.team_services import RunStoppedError, TeamServices
from scoring.models import Run, Shard
from scoring.models.job import MAX_TRIES

log = logging.getLogger(__name__)

PAUSE_SECONDS: Final = 5.0  # after the database could not be written
NOT_STORED: Final = "the database does not store what is scored; the worker's log says why"
SHARD_SECONDS: Final = 15 * 60.0  # in a process of a pool; a thread cannot be ended


class ShardError(Exception):
    """A shard failed in another process, whose fault is described by the text."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class NotStoredError(Exception):
    """Another process could not store what a shard's scorers said."""


@dataclass(eq=False)
class RunWork:
    """A run being worked on. `suspects` are the shards under way when a pool process died; each is
    tried alone. `services` answer the run's scorers where they ask for any.
    """

    run: Run
    waiting: deque[int]
    suspects: deque[int] = field(default_factory=deque)
    renewed_at: float = field(default_factory=time.monotonic)
    services: TeamServices | None = None

    @property
    def is_drained(self) -> bool:
        return not (self.waiting or self.suspects)

    def stop(self) -> None:
        """Submit no further shard, and begin no further call for those under way."""
        self.waiting.clear()
        self.suspects.clear()
        self.stop_calls()

    def stop_calls(self) -> None:
        if self.services:
            self.services.stop()

    def hurry(self) -> None:
        if self.services:
            self.services.hurry()


@dataclass(eq=False)
class ShardTask:
    """A shard under way; `since` is when an executor that takes them in order came to it."""

    work: RunWork
    shard: int
    since: float | None = None


class ShardScheduler:
    """Several runs take turns shard by shard, so a small one is not stuck behind a big one."""

    def __init__(self, pool: Executor, shard_seconds: float | None = None) -> None:
        self._pool = pool
        self._shard_seconds = shard_seconds
        self._paused_until = 0.0
        self._is_unstored = False
        self.works: deque[RunWork] = deque()
        self.failed: list[tuple[RunWork, Exception]] = []  # works whose rows could not be written
        self.tasks: dict[Future[None], ShardTask] = {}

    @property
    def stall_reason(self) -> str:
        """Why no shard goes on, whatever its run; empty while they do."""
        return NOT_STORED if self._is_unstored else self._pool.stall_reason

    @property
    def is_busy(self) -> bool:
        """Whether each process has a shard to go on with when it has ended its own."""
        return sum(len(work.waiting) for work in self.works) > self._pool.processes

    def submit_waiting(self) -> None:
        """Give the executor as much as it can begin with."""
        if time.monotonic() < self._paused_until:
            return
        alone = any(work.suspects for work in self.works)
        room = 1 if alone else self._pool.capacity
        while len(self.tasks) < room and self._submit_one(alone):
            pass

    def collect(self) -> None:
        """Handle the tasks that have ended, and those that take too long."""
        done = [future for future in self.tasks if future.done()]
        ended = [(self.tasks.pop(future), future.exception()) for future in done]
        for task, fault in ended:
            self._handle_fault(task, fault)
        crashed = [task for task, fault in ended if _is_crash(fault)]
        if crashed:
            self._handle_crash(crashed)
        elif self._shard_seconds:
            self._end_late_shards(self._shard_seconds)

    def drained(self) -> list[RunWork]:
        """The runs of which nothing waits and nothing is under way."""
        busy = {id(task.work) for task in self.tasks.values()}
        return [work for work in self.works if work.is_drained and id(work) not in busy]

    def _submit_one(self, suspects: bool) -> bool:
        for _ in range(len(self.works)):
            work = self.works[0]
            self.works.rotate(-1)
            queue = work.suspects if suspects else work.waiting
            if queue:
                return self._submit(work, queue)
        return False

    def _submit(self, work: RunWork, queue: deque[int]) -> bool:
        """Whether the pool has taken the next shard. It takes none once a process has died; this
        shard then waits until those under way are collected.
        """
        shard = queue.popleft()
        try:
            future = self._pool.submit(execute_shard, shard)
        except BrokenProcessPool:
            queue.appendleft(shard)
            if not self.tasks:
                self._pool.restart()
            return False
        self.tasks[future] = ShardTask(work, shard)
        return True

    def _handle_fault(self, task: ShardTask, fault: BaseException | None) -> None:
        """Of a shard that failed by itself; a crash is handled with all that was under way."""
        if fault is None:
            self._is_unstored = False
        if fault is None or isinstance(fault, RunStoppedError) or _is_crash(fault):
            return
        work, shard = task.work, task.shard
        log.warning("run %s: shard %s failed: %s", work.run.uuid, shard, fault)
        if isinstance(fault, NotStoredError) or is_unwritable(fault):  # the scorers are innocent
            self._paused_until = time.monotonic() + PAUSE_SECONDS
            self._is_unstored = True
            work.waiting.append(shard)
        else:
            self._count_try(task, "scorer_failed", describe_fault(fault), task.work.waiting)

    def _handle_crash(self, crashed: list[ShardTask]) -> None:
        """A pool process died, and with it the whole pool: the shards under way are suspects."""
        wait(self.tasks)
        crashed += self.tasks.values()
        self.tasks.clear()
        self._pool.restart()
        if len(crashed) == 1:
            (task,) = crashed
            log.warning("run %s: a process died on shard %s", task.work.run.uuid, task.shard)
            reason = "the process that scored it died"
            self._count_try(task, "worker_crashed", reason, task.work.suspects)
            return
        for task in crashed:
            task.work.suspects.append(task.shard)

    def _end_late_shards(self, limit: float) -> None:
        """End the processes when a shard takes too long; the other shards begin again."""
        now = time.monotonic()
        for task in islice(self.tasks.values(), self._pool.processes):
            task.since = task.since or now
        late = [task for task in self.tasks.values() if task.since and now - task.since > limit]
        if not late:
            return
        others = [task for task in self.tasks.values() if task not in late]
        self.tasks.clear()
        self._pool.restart()
        for task in late:
            log.warning("run %s: shard %s does not end", task.work.run.uuid, task.shard)
            if Shard.objects.filter(pk=task.shard).exists():
                self._fail_shard(task, *too_slow(limit))
        for task in others:
            task.work.waiting.appendleft(task.shard)

    def _count_try(self, task: ShardTask, code: str, reason: str, again: deque[int]) -> None:
        """Let the shard be tried again; after the last time its scores are errors."""
        shard = task.shard
        Shard.objects.filter(pk=shard).update(try_count=F("try_count") + 1)
        tries = Shard.objects.filter(pk=shard).values_list("try_count", flat=True).first()
        if tries is None:  # the run was deleted meanwhile
            return
        if tries < MAX_TRIES:
            again.append(shard)
        else:
            self._fail_shard(task, code, f"{reason}, {tries} times")

    def _fail_shard(self, task: ShardTask, code: str, reason: str) -> None:
        try:
            fail_shard(task.shard, code, reason)
        except Exception as fault:
            if is_unwritable(fault):
                raise
            self.failed.append((task.work, fault))


def describe_fault(fault: BaseException) -> str:
    """What the shard's scores say of the fault that ended it."""
    return fault.text if isinstance(fault, ShardError) else f"{type(fault).__name__}: {fault}"


def too_slow(limit: float) -> tuple[str, str]:
    """The code and the reason of scores whose shard took longer than so many seconds."""
    return "too_slow", f"its shard was not scored within {limit / 60:.3g} minutes"


def _is_crash(fault: BaseException | None) -> bool:
    return isinstance(fault, BrokenProcessPool)


def all_futures(schedulers: Iterable[ShardScheduler]) -> list[Future[None]]:
    return [future for scheduler in schedulers for future in scheduler.tasks]
