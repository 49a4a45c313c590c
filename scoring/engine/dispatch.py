"""Works on runs: holds them, feeds their shards to a pool in turn, and brings them to their end."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, wait
from typing import Final

from django.db import transaction
from django.utils import timezone

from scoring.engine import alerts, compare_asks, generate, hold, notices, plan
from scoring.engine.drift import asks as drift_asks
from scoring.engine.lane import SHARD_SECONDS, Lane, Work, all_flights
from scoring.engine.needs import needs_services
from scoring.engine.pool import Executor
from scoring.engine.services import services_of
from scoring.engine.summaries import summarise
from scoring.models import Attempt, OutputSetState, Run, RunState, Shard

TELL_SECONDS: Final = 1.0  # how often it is looked up why a run stands still


class Dispatcher:
    """Brings runs to their end: those that ask services in `threads`, all others in `pool`.

    Without `threads` the pool does everything, and then it must be of this process.
    """

    def __init__(self, pool: Executor, threads: Executor | None = None) -> None:
        self._lane = Lane(pool, SHARD_SECONDS)
        self._asking = Lane(threads) if threads else self._lane
        self._lanes = [self._lane, self._asking] if threads else [self._lane]
        self._tell_at = 0.0

    @property
    def is_idle(self) -> bool:
        return not self._works()

    def take(self, run: Run) -> bool:
        """Hold the run and cut it into shards; False when another process works on it."""
        if not hold.take(run):
            return False
        plan.plan(run)
        shards = Shard.objects.filter(attempt__run=run, done_at=None)
        work = Work(run, deque(shards.values_list("pk", flat=True)))
        if needs_services(run):
            work.services = services_of(run)
            self._asking.works.append(work)
        else:
            self._lane.works.append(work)
        return True

    def take_waiting(self) -> None:
        """Take every run that is ready and that nobody works on, the oldest first."""
        mine = [work.run.pk for work in self._works()]
        ready = Run.objects.unfinished().exclude(output_set__state=OutputSetState.LOADING)
        for run in ready.exclude(pk__in=mine).order_by("pk"):
            self.take(run)

    def step(self, timeout: float) -> None:
        """Hand out shards, wait for at least one to end, settle what ended, finish what is done."""
        self._look_after_holds()
        self._tell_standstills()
        for lane in self._lanes:
            lane.hand_out()
        wait(all_flights(self._lanes), timeout, FIRST_COMPLETED)
        for lane in self._lanes:
            lane.settle()
            for work in lane.drained():
                lane.works.remove(work)
                if not _outputs_are_made(work.run):
                    _finish(work.run)

    def stop(self, seconds: float) -> None:
        """Let shards under way end, for at most this long, then let go of every run."""
        for work in self._works():
            work.stop_asking()
        wait(all_flights(self._lanes), seconds)
        for work in self._works():
            work.hurry()
            _tell_standstill(work.run, "")
            hold.release(work.run)
        for lane in self._lanes:
            lane.works.clear()
            lane.flights.clear()

    def _works(self) -> list[Work]:
        return [work for lane in self._lanes for work in lane.works]

    def _look_after_holds(self) -> None:
        """Renew holds, and hand out nothing more of a run that is cancelled or lost."""
        states = dict(
            Run.objects.filter(
                pk__in=[work.run.pk for work in self._works()], held_by=hold.own_name()
            ).values_list("pk", "state")
        )
        for lane in self._lanes:
            for work in list(lane.works):
                if states.get(work.run.pk) != RunState.RUNNING:
                    work.stop()
                if work.run.pk not in states:
                    lane.works.remove(work)
                elif time.monotonic() - work.renewed_at > hold.RENEW_SECONDS:
                    hold.renew(work.run)
                    work.renewed_at = time.monotonic()

    def _tell_standstills(self) -> None:
        """Write down why runs stand still, where that has changed."""
        if time.monotonic() < self._tell_at:
            return
        self._tell_at = time.monotonic() + TELL_SECONDS
        for work in self._asking.works:
            if work.services:
                _tell_standstill(work.run, work.services.standstill)


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
    drift_asks.measure_after(run)


def _drive(dispatcher: Dispatcher, on_progress: Callable[[], None]) -> None:
    try:
        while not dispatcher.is_idle:
            dispatcher.step(timeout=0.2)
            on_progress()
    finally:
        dispatcher.stop(seconds=5)


def _tell_standstill(run: Run, text: str) -> None:
    text = text[:200]
    if run.standstill != text:
        run.standstill = text
        Run.objects.filter(pk=run.pk).update(standstill=text)


def _outputs_are_made(run: Run) -> bool:
    """Whether the run has just made all its outputs; it is let go of, and scoring comes next."""
    open_shards = Shard.objects.filter(attempt__run=run, done_at=None)
    run.refresh_from_db(fields=["state"])
    if open_shards.exists() or run.state != RunState.RUNNING or not plan.is_generating(run):
        return False
    with transaction.atomic():
        generate.finish(run.output_set)
        Attempt.objects.filter(run=run, finished_at=None).update(finished_at=timezone.now())
        hold.release(run)
    return True


def _finish(run: Run) -> None:
    """Write the figures and the end state, and let go. A run that scored everything is finished,
    even where a cancel came last. What follows from it is left in the same transaction, so that
    it is done once the run has ended, whatever becomes of this process.
    """
    _tell_standstill(run, "")
    is_open = Shard.objects.filter(attempt__run=run, done_at=None).exists()
    is_open |= plan.is_generating(run)
    summarise(run)
    with transaction.atomic():
        end = RunState.CANCELLED if is_open else RunState.FINISHED
        plan.move(run, (RunState.RUNNING, RunState.CANCELLING), end)
        done = Attempt.objects.filter(run=run, finished_at=None)
        if end == RunState.FINISHED:
            done.update(finished_at=timezone.now())
        hold.release(run)
        notices.tell_end(run)
        drift_asks.leave_after(run)
        compare_asks.leave_after(run)
        alerts.leave_after(run)
