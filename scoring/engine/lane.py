"""A lane: one executor, and the shards that runs of one kind send through it in turn."""

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

from django.db import OperationalError
from django.db.models import F

from scoring.engine.execute import execute, give_up
from scoring.engine.pool import Executor
from scoring.engine.services import Stopped, TeamServices
from scoring.models import Run, Shard

log = logging.getLogger(__name__)

MAX_TRIES: Final = 3
PAUSE_SECONDS: Final = 5.0  # after the database could not be written
SHARD_SECONDS: Final = 15 * 60.0  # in a process of a pool; a thread cannot be ended


@dataclass(eq=False)
class Work:
    """A run in hand. `suspects` were under way when a pool process died; each is tried alone.

    `services` answer the run's scorers where they ask for any.
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
        """Hand out nothing more, and ask nothing more for what is under way."""
        self.waiting.clear()
        self.suspects.clear()
        self.stop_asking()

    def stop_asking(self) -> None:
        if self.services:
            self.services.stop()

    def hurry(self) -> None:
        if self.services:
            self.services.hurry()


@dataclass(eq=False)
class Flight:
    """A shard under way; `since` is when an executor that takes them in order came to it."""

    work: Work
    shard: int
    since: float | None = None


class Lane:
    """Several runs take turns shard by shard, so a small one is not stuck behind a big one."""

    def __init__(self, pool: Executor, shard_seconds: float | None = None) -> None:
        self._pool = pool
        self._shard_seconds = shard_seconds
        self._paused_until = 0.0
        self.works: deque[Work] = deque()
        self.flights: dict[Future[None], Flight] = {}

    def hand_out(self) -> None:
        """Give the executor as much as it can begin with."""
        if time.monotonic() < self._paused_until:
            return
        alone = any(work.suspects for work in self.works)
        # One more than there are processes, so that none waits for us between two shards.
        room = 1 if alone else self._pool.processes + 1
        while len(self.flights) < room and self._hand_out_one(alone):
            pass

    def settle(self) -> None:
        """Draw the conclusions from what has ended, and from what does not end."""
        landed = [future for future in self.flights if future.done()]
        flights = [(future, self.flights.pop(future)) for future in landed]
        for future, flight in flights:
            self._take_back(flight, future.exception())
        crashed = [flight for future, flight in flights if _is_crash(future.exception())]
        if crashed:
            self._after_crash(crashed)
        elif self._shard_seconds:
            self._end_the_endless(self._shard_seconds)

    def drained(self) -> list[Work]:
        """The runs of which nothing waits and nothing is under way."""
        busy = {id(flight.work) for flight in self.flights.values()}
        return [work for work in self.works if work.is_drained and id(work) not in busy]

    def _hand_out_one(self, suspects: bool) -> bool:
        for _ in range(len(self.works)):
            work = self.works[0]
            self.works.rotate(-1)
            queue = work.suspects if suspects else work.waiting
            if queue:
                return self._send(work, queue)
        return False

    def _send(self, work: Work, queue: deque[int]) -> bool:
        """Whether the pool has taken the next shard. It takes none once a process has died: those
        under way tell of that when they are settled, and this one, innocent, waits on.
        """
        shard = queue.popleft()
        try:
            future = self._pool.submit(execute, shard)
        except BrokenProcessPool:
            queue.appendleft(shard)
            if not self.flights:
                self._pool.restart()
            return False
        self.flights[future] = Flight(work, shard)
        return True

    def _take_back(self, flight: Flight, fault: BaseException | None) -> None:
        """A crash is left to those who know what else was under way."""
        if fault is None or isinstance(fault, Stopped) or _is_crash(fault):
            return
        work, shard = flight.work, flight.shard
        log.warning("run %s: shard %s failed: %s", work.run.uuid, shard, fault)
        if isinstance(fault, OperationalError):  # locked or a full disk: the scorers are innocent
            self._paused_until = time.monotonic() + PAUSE_SECONDS
            work.waiting.append(shard)
        else:
            _count_try(flight, "scorer_failed", f"{type(fault).__name__}: {fault}")

    def _after_crash(self, crashed: list[Flight]) -> None:
        """A pool process died, and with it the whole pool: find out on which shard."""
        wait(self.flights)
        crashed += self.flights.values()
        self.flights.clear()
        self._pool.restart()
        if len(crashed) == 1:
            (flight,) = crashed
            log.warning("run %s: a process died on shard %s", flight.work.run.uuid, flight.shard)
            _count_try(flight, "worker_crashed", "the process that scored it died")
            return
        for flight in crashed:
            flight.work.suspects.append(flight.shard)

    def _end_the_endless(self, limit: float) -> None:
        """End the processes when a shard takes too long; the shards beside it begin again."""
        now = time.monotonic()
        for flight in islice(self.flights.values(), self._pool.processes):
            flight.since = flight.since or now
        late = [f for f in self.flights.values() if f.since and now - f.since > limit]
        if not late:
            return
        beside = [flight for flight in self.flights.values() if flight not in late]
        self.flights.clear()
        self._pool.restart()
        for flight in late:
            log.warning("run %s: shard %s does not end", flight.work.run.uuid, flight.shard)
            if Shard.objects.filter(pk=flight.shard).exists():
                text = f"its shard was not scored within {limit / 60:.3g} minutes"
                give_up(flight.shard, "too_slow", text)
        for flight in beside:
            flight.work.waiting.appendleft(flight.shard)


def _is_crash(fault: BaseException | None) -> bool:
    return isinstance(fault, BrokenProcessPool)


def _count_try(flight: Flight, code: str, reason: str) -> None:
    shard = flight.shard
    Shard.objects.filter(pk=shard).update(tries=F("tries") + 1)
    tries = Shard.objects.filter(pk=shard).values_list("tries", flat=True).first()
    if tries is None:  # the run was deleted meanwhile
        return
    if tries < MAX_TRIES:
        flight.work.suspects.append(shard)
    else:
        give_up(shard, code, f"{reason}, {tries} times")


def all_flights(lanes: Iterable[Lane]) -> list[Future[None]]:
    return [future for lane in lanes for future in lane.flights]
