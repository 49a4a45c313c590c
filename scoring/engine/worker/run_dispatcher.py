"""Works on runs: leases them, schedules their shards and finishes them."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, wait
from functools import partial
from typing import Any, Final

from django.db import connection, transaction

from scoring.core.log_context import log_context
from scoring.engine.jobs import lease
from scoring.engine.jobs.isolation import is_unwritable
from scoring.engine.outputs import generation
from scoring.engine.processes.process_pool import Executor
from scoring.engine.runs import follow_up, notifications, planning
from scoring.engine.runs.progress import ALL_QUEUES, has_other_workers
from scoring.engine.runs.requirements import queue_of, run_needs_services
from scoring.engine.runs.summaries import summarize_run
from scoring.engine.services.team_services import open_run_services
from scoring.engine.worker.shard_scheduler import (
    SHARD_SECONDS,
    RunWork,
    ShardScheduler,
    all_futures,
)
from scoring.models import Attempt, OutputSetState, Run, RunState, Shard, WorkQueue
from scoring.models.base import now_after

log = logging.getLogger(__name__)

REPORT_SECONDS: Final = 1.0  # how often the cause of a standstill is written
NOT_RUNS: Final = frozenset({WorkQueue.IMPORTS, WorkQueue.JOBS})
LEAVE_SECONDS: Final = 60.0  # until a run that cannot be given up is tried again


class RunDispatcher:
    """Brings runs to their end: those that ask services in `threads`, all others in `pool`.

    Without `threads` the pool does everything, and then it must be of this process.
    """

    def __init__(self, pool: Executor, threads: Executor | None = None) -> None:
        self._computing = ShardScheduler(pool, SHARD_SECONDS if pool.can_end_tasks else None)
        self._asking = ShardScheduler(threads) if threads else self._computing
        self._schedulers = list(dict.fromkeys([self._computing, self._asking]))
        self._tell_at = 0.0
        self._left_until: dict[int, float] = {}  # runs that could not even be given up

    @property
    def is_idle(self) -> bool:
        return not self._works()

    def take(self, run: Run) -> bool:
        """Lease the run and cut it into shards; False when another process works on it."""
        if not lease.acquire(run):
            return False
        planning.plan_attempt(run)
        shards = Shard.objects.filter(attempt__run=run, done_at=None)
        work = RunWork(run, deque(shards.values_list("pk", flat=True)))
        if run_needs_services(run):
            work.services = open_run_services(run)
            self._asking.works.append(work)
        else:
            self._computing.works.append(work)
        return True

    def take_waiting(self, queues: frozenset[str] = ALL_QUEUES) -> None:
        """Take every run of these queues that is ready and not leased, the oldest first.

        Where there are other workers, one that is busy takes one at a time.
        """
        now = time.monotonic()
        left = [run for run, until in self._left_until.items() if now < until]
        mine = [work.run.pk for work in self._works()]
        ready = Run.objects.unfinished().exclude(output_set__state=OutputSetState.LOADING)
        if queues != ALL_QUEUES:
            ready = ready.exclude(lease.is_current())
        for run in ready.exclude(pk__in=[*mine, *left]).order_by("pk"):
            if queues != ALL_QUEUES and queue_of(run) not in queues:
                continue
            self._guard(run, partial(self.take, run))
            is_busy = any(scheduler.is_busy for scheduler in self._schedulers)
            if is_busy and has_other_workers(queues - NOT_RUNS):
                return

    def step(self, timeout: float) -> None:
        """Submit shards, wait for at least one to end, handle those that ended, finish runs."""
        self._renew_leases()
        self._write_standstills()
        for scheduler in self._schedulers:
            scheduler.submit_waiting()
        wait(all_futures(self._schedulers), timeout, FIRST_COMPLETED)
        for scheduler in self._schedulers:
            scheduler.collect()
            while scheduler.failed:
                work, fault = scheduler.failed.pop()
                self._give_up(work.run, fault)
            for work in scheduler.drained():
                scheduler.works.remove(work)
                self._guard(work.run, partial(_end_attempt, work.run))

    def stop(self, seconds: float) -> None:
        """Let shards under way end, for at most this long, then release every run."""
        for work in self._works():
            work.stop_calls()
        wait(all_futures(self._schedulers), seconds)
        for work in self._works():
            work.hurry()
            _write_standstill(work.run, "")
            lease.release(work.run)
        self.let_go()

    def let_go(self) -> None:
        """Forget every run, to take it up again from what is stored. Shards under way may still be
        stored: one that is done twice changes nothing.
        """
        for work in self._works():
            work.stop_calls()
        for scheduler in self._schedulers:
            scheduler.works.clear()
            scheduler.tasks.clear()

    def _guard(self, run: Run, step: Callable[[], Any]) -> None:
        """Take a step of one run. What goes wrong ends that run, not the worker."""
        with log_context(run=run.uuid):
            try:
                step()
            except Exception as fault:
                if is_unwritable(fault):
                    raise
                self._give_up(run, fault)

    def _give_up(self, run: Run, fault: Exception) -> None:
        """End the run with its cause; where not even that works, leave it alone for a while."""
        log.error("run %s is given up", run.uuid, exc_info=fault)
        for scheduler in self._schedulers:
            for work in [work for work in scheduler.works if work.run.pk == run.pk]:
                work.stop()
                scheduler.works.remove(work)
        try:
            with transaction.atomic():
                if planning.give_up_run(run, f"{type(fault).__name__}: {fault}"):
                    notifications.notify_run_end(run)
                    follow_up.enqueue(run)
        except Run.DoesNotExist:
            log.info("run %s was deleted meanwhile", run.uuid)
        except Exception as second:
            if is_unwritable(second) or not connection.is_usable():
                raise
            log.exception("run %s cannot be given up", run.uuid)
            self._left_until[run.pk] = time.monotonic() + LEAVE_SECONDS

    def _works(self) -> list[RunWork]:
        return [work for scheduler in self._schedulers for work in scheduler.works]

    def _renew_leases(self) -> None:
        """Renew leases, and submit nothing more of a run that is cancelled or lost."""
        leased = Run.objects.filter(lease_owner=lease.own_name())
        leased = leased.filter(pk__in=[work.run.pk for work in self._works()])
        states = dict(leased.values_list("pk", "state"))
        for scheduler in self._schedulers:
            for work in list(scheduler.works):
                if states.get(work.run.pk) != RunState.RUNNING:
                    work.stop()
                if work.run.pk not in states:
                    scheduler.works.remove(work)
                elif time.monotonic() - work.renewed_at > lease.RENEW_SECONDS:
                    lease.renew(work.run)
                    work.renewed_at = time.monotonic()

    def _write_standstills(self) -> None:
        """Write why runs stand still, where that has changed."""
        if time.monotonic() < self._tell_at:
            return
        self._tell_at = time.monotonic() + REPORT_SECONDS
        for scheduler in self._schedulers:
            for work in scheduler.works:
                text = work.services.stall_reason if work.services else scheduler.stall_reason
                _write_standstill(work.run, text)


def run_to_end(run: Run, pool: Executor, on_progress: Callable[[], None] = lambda: None) -> None:
    """Score this run to its end; while another process has leased it, only wait for that one."""
    dispatcher = RunDispatcher(pool)
    while run.is_unfinished:
        if dispatcher.take(run):
            try:
                while not dispatcher.is_idle:
                    dispatcher.step(timeout=0.2)
                    on_progress()
            finally:
                dispatcher.stop(seconds=5)
        else:
            time.sleep(0.2)
        on_progress()
        if run.is_unfinished:  # another process may have ended it
            run.refresh_from_db()


def _write_standstill(run: Run, text: str) -> None:
    text = text[:200]
    if run.stall_reason != text:
        run.stall_reason = text
        Run.objects.filter(pk=run.pk).update(stall_reason=text)


def _end_attempt(run: Run) -> None:
    if not _outputs_are_made(run):
        _finish(run)


def _outputs_are_made(run: Run) -> bool:
    """Whether the run has just made all its outputs; it is released, and scoring comes next."""
    if not planning.is_generating(run):
        return False
    open_shards = Shard.objects.filter(attempt__run=run, done_at=None)
    run.refresh_from_db(fields=["state"])
    if open_shards.exists() or run.state != RunState.RUNNING:
        return False
    with transaction.atomic():
        generation.finish_generation(run.output_set)
        Attempt.objects.filter(run=run, finished_at=None).update(
            finished_at=now_after("created_at")
        )
        lease.release(run)
    return True


def _finish(run: Run) -> None:
    """Write the figures and the end state. A run that scored everything is finished, even where a
    cancel came last. Notices and the follow-up job are created in the same transaction, so that
    none is lost with this process; where another process has ended the run, none is repeated. Where
    the database forgot shards in a crash, after they had been stored, the run is begun again.
    """
    _write_standstill(run, "")
    is_open = Shard.objects.filter(attempt__run=run, done_at=None).exists()
    is_open |= planning.is_generating(run)
    if is_open and Run.objects.filter(pk=run.pk, state=RunState.RUNNING).exists():
        lease.release(run)
        return
    summarize_run(run)
    with transaction.atomic():
        end = RunState.CANCELLED if is_open else RunState.FINISHED
        if not planning.change_state(run, (RunState.RUNNING, RunState.CANCELLING), end):
            return
        done = Attempt.objects.filter(run=run, finished_at=None)
        if end == RunState.FINISHED:
            done.update(finished_at=now_after("created_at"))
        notifications.notify_run_end(run)
        follow_up.enqueue(run)
