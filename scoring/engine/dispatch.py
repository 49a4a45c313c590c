"""Works on runs: holds them, feeds their shards to a pool in turn, and brings them to their end."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from typing import Final

from django.db import OperationalError, transaction
from django.db.models import F
from django.utils import timezone

from scoring.engine import hold, plan
from scoring.engine.execute import execute, give_up
from scoring.engine.pool import Executor
from scoring.engine.summaries import summarise
from scoring.models import Attempt, OutputSetState, Run, RunState, Shard

log = logging.getLogger(__name__)

MAX_TRIES: Final = 3
PAUSE_SECONDS: Final = 5.0  # after the database could not be written


@dataclass
class Work:
    """A run in hand. `suspects` were under way when a pool process died; each is tried alone."""

    run: Run
    waiting: deque[int]
    suspects: deque[int] = field(default_factory=deque)
    renewed_at: float = field(default_factory=time.monotonic)

    def next_shard(self, *, suspects: bool) -> int | None:
        queue = self.suspects if suspects else self.waiting
        return queue.popleft() if queue else None


class Dispatcher:
    """Several runs take turns shard by shard, so a small one is not stuck behind a big one."""

    def __init__(self, pool: Executor) -> None:
        self._pool = pool
        self._works: deque[Work] = deque()
        self._flights: dict[Future[None], tuple[Work, int]] = {}
        self._paused_until = 0.0

    @property
    def is_idle(self) -> bool:
        return not self._works

    def take(self, run: Run) -> bool:
        """Hold the run and cut it into shards; False when another process works on it."""
        if not hold.take(run):
            return False
        plan.plan(run)
        shards = Shard.objects.filter(attempt__run=run, done_at=None)
        self._works.append(Work(run, deque(shards.values_list("pk", flat=True))))
        return True

    def take_waiting(self) -> None:
        """Take every run that is ready and that nobody works on, the oldest first."""
        mine = [work.run.pk for work in self._works]
        ready = Run.objects.unfinished().filter(output_set__state=OutputSetState.READY)
        for run in ready.exclude(pk__in=mine).order_by("pk"):
            self.take(run)

    def step(self, timeout: float) -> None:
        """Hand out shards, wait for at least one to end, settle what ended, finish what is done."""
        self._look_after_holds()
        self._hand_out()
        done, _ = wait(self._flights, timeout, FIRST_COMPLETED)
        self._settle(done)
        for work in self._drained():
            self._works.remove(work)
            _finish(work.run)

    def stop(self, seconds: float) -> None:
        """Let shards under way end, for at most this long, then let go of every run."""
        wait(self._flights, seconds)
        for work in self._works:
            hold.release(work.run)
        self._works.clear()
        self._flights.clear()

    def _look_after_holds(self) -> None:
        """Renew holds, and hand out nothing more of a run that is cancelled or lost."""
        states = dict(
            Run.objects.filter(
                pk__in=[work.run.pk for work in self._works], held_by=hold.own_name()
            ).values_list("pk", "state")
        )
        for work in list(self._works):
            if states.get(work.run.pk) != RunState.RUNNING:
                work.waiting.clear()
                work.suspects.clear()
            if work.run.pk not in states:
                self._works.remove(work)
            elif time.monotonic() - work.renewed_at > hold.RENEW_SECONDS:
                hold.renew(work.run)
                work.renewed_at = time.monotonic()

    def _hand_out(self) -> None:
        if time.monotonic() < self._paused_until:
            return
        alone = any(work.suspects for work in self._works)
        # One more than there are processes, so that none waits for us between two shards.
        room = 1 if alone else self._pool.processes + 1
        while len(self._flights) < room and self._hand_out_one(alone):
            pass

    def _hand_out_one(self, suspects: bool) -> bool:
        for _ in range(len(self._works)):
            work = self._works[0]
            self._works.rotate(-1)
            shard = work.next_shard(suspects=suspects)
            if shard is not None:
                self._flights[self._pool.submit(execute, shard)] = work, shard
                return True
        return False

    def _settle(self, done: Iterable[Future[None]]) -> None:
        landed = [(future, *self._flights.pop(future)) for future in done]
        crashed = [(work, shard) for future, work, shard in landed if _is_crash(future)]
        for future, work, shard in landed:
            fault = future.exception()
            if fault is not None and not _is_crash(future):
                self._set_back(work, shard, fault)
        if crashed:
            self._after_crash(crashed)

    def _after_crash(self, crashed: list[tuple[Work, int]]) -> None:
        """A pool process died, and with it the whole pool: find out on which shard."""
        wait(self._flights)
        crashed += self._flights.values()
        self._flights.clear()
        self._pool.restart()
        if len(crashed) == 1:
            ((work, shard),) = crashed
            log.warning("run %s: a process died on shard %s", work.run.uuid, shard)
            self._count_try(work, shard, "worker_crashed", "the process that scored it died")
            return
        for work, shard in crashed:
            work.suspects.append(shard)

    def _set_back(self, work: Work, shard: int, fault: BaseException) -> None:
        log.warning("run %s: shard %s failed: %s", work.run.uuid, shard, fault)
        if isinstance(fault, OperationalError):  # locked or a full disk: the scorers are innocent
            self._paused_until = time.monotonic() + PAUSE_SECONDS
            work.waiting.append(shard)
        else:
            reason = f"{type(fault).__name__}: {fault}"
            self._count_try(work, shard, "scorer_failed", reason)

    def _count_try(self, work: Work, shard: int, code: str, reason: str) -> None:
        Shard.objects.filter(pk=shard).update(tries=F("tries") + 1)
        tries = Shard.objects.filter(pk=shard).values_list("tries", flat=True).first()
        if tries is None:  # the run was deleted meanwhile
            return
        if tries < MAX_TRIES:
            work.suspects.append(shard)
        else:
            give_up(shard, code, f"{reason}, {tries} times")

    def _drained(self) -> list[Work]:
        busy = [id(work) for work, _ in self._flights.values()]
        return [
            work
            for work in self._works
            if not work.waiting and not work.suspects and id(work) not in busy
        ]


def work_on(run: Run, pool: Executor, on_progress: Callable[[], None] = lambda: None) -> None:
    """Score this run to its end; while another process holds it, only wait for that one."""
    dispatcher = Dispatcher(pool)
    while run.is_unfinished:
        if dispatcher.take(run):
            _drive(dispatcher, on_progress)
        else:
            time.sleep(0.2)
        on_progress()
        run.refresh_from_db()


def _drive(dispatcher: Dispatcher, on_progress: Callable[[], None]) -> None:
    try:
        while not dispatcher.is_idle:
            dispatcher.step(timeout=0.2)
            on_progress()
    finally:
        dispatcher.stop(seconds=5)


def _is_crash(future: Future[None]) -> bool:
    return isinstance(future.exception(), BrokenProcessPool)


def _finish(run: Run) -> None:
    """Write the figures and the end state, and let go. A run that scored everything is finished,
    even where a cancel came last.
    """
    summarise(run)
    open_shards = Shard.objects.filter(attempt__run=run, done_at=None)
    with transaction.atomic():
        end = RunState.CANCELLED if open_shards.exists() else RunState.FINISHED
        plan.move(run, (RunState.RUNNING, RunState.CANCELLING), end)
        done = Attempt.objects.filter(run=run, finished_at=None)
        if end == RunState.FINISHED:
            done.update(finished_at=timezone.now())
        hold.release(run)
