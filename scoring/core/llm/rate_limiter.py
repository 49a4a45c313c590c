"""The number of calls an endpoint gets at once: fewer after a 429 or 503, slowly more again.

Additive increase, multiplicative decrease, as in TCP's congestion avoidance (RFC 5681): a 429 or
503 halves the limit, once for all calls that ran at the same time; each success adds 1 / limit,
so that a round of successes adds one. A Retry-After pauses all calls until then.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from itertools import count
from typing import Final

FIRST_BACKOFF_SECONDS: Final = 0.5
TAKEN: Final = "other workers make all calls that the connection allows"

Waiter = tuple[int, int, asyncio.Future[None]]  # rank, arrival


class Clock:
    """The time; tests replace it."""

    def monotonic(self) -> float:
        return time.monotonic()

    def utc(self) -> datetime:
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class RateLimiter:
    """Limits the concurrent calls of one endpoint; used on one event loop only.

    `allowed` is how many calls other processes leave to this one, None where nobody else asks;
    `is_refused` while they leave none of those it wants.
    """

    def __init__(self, concurrency: int, clock: Clock) -> None:
        self.limit = float(concurrency)
        self.in_flight = 0
        self.demand = 0  # calls under way, waiting or paused
        self.allowed: int | None = None
        self.is_refused = False
        self.allowed_at = clock.monotonic()
        self.on_demand: Callable[[], object] = lambda: None
        self._most = concurrency
        self._clock = clock
        self._round = 0
        self._opens_at = clock.monotonic()
        self._waiting: list[Waiter] = []  # a heap
        self._arrivals = count()

    @property
    def stall_reason(self) -> str:
        """`rate-limited until 14:05 UTC` while all calls pause, else why none is under way; empty
        where one is. Thread-safe.
        """
        if left := self.pause_seconds:
            return f"rate-limited until {clock_time(self._clock.utc() + timedelta(seconds=left))}"
        return TAKEN if self.is_refused and not self.in_flight else ""

    @property
    def pause_seconds(self) -> float:
        """How long all calls still pause."""
        return max(0.0, self._opens_at - self._clock.monotonic())

    @property
    def is_used(self) -> bool:
        """Whether a call holds a slot or waits for one."""
        return bool(self.demand)

    async def acquire(self, rank: int = 0) -> int:
        """Wait for a slot and take it. Returns the number of the round, for `slow_down`.

        The lowest rank goes first, then the earliest arrival.
        """
        self.demand += 1
        try:
            while True:
                if left := self.pause_seconds:
                    await self._clock.sleep(left)
                elif self.in_flight < self._slots:
                    self.in_flight += 1
                    return self._round
                else:
                    if not self.allowed:
                        self.on_demand()
                    await self._wait_turn(rank)
        except asyncio.CancelledError:
            self.demand -= 1
            raise

    def release(self) -> None:
        """Return the slot."""
        self.in_flight -= 1
        self.demand -= 1
        self._wake()

    def allow(self, calls: int) -> None:
        """Take no more slots than this; those taken are kept."""
        self.allowed = calls
        self._wake()

    def slow_down(self, in_round: int) -> None:
        """Halve the limit, once for each round."""
        if in_round == self._round:
            self.limit = max(1.0, self.limit / 2)
            self._round += 1

    def speed_up(self) -> None:
        """Raise the limit after a success."""
        self.limit = min(float(self._most), self.limit + 1 / self.limit)

    def pause(self, seconds: float) -> None:
        """Hold all calls for that long, unless a pause under way is longer."""
        self._opens_at = max(self._opens_at, self._clock.monotonic() + seconds)

    @property
    def _slots(self) -> int:
        limit = int(self.limit)
        return limit if self.allowed is None else min(limit, self.allowed)

    async def _wait_turn(self, rank: int) -> None:
        """Wait until a slot may be free; a cancelled waiter passes its turn on."""
        turn = asyncio.get_running_loop().create_future()
        heappush(self._waiting, (rank, next(self._arrivals), turn))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._wake()
            raise

    def _wake(self) -> None:
        free = self._slots - self.in_flight
        while free > 0 and self._waiting:
            turn = heappop(self._waiting)[-1]
            if not turn.done():
                turn.set_result(None)
                free -= 1


def backoff_seconds(attempt: int) -> float:
    """How long to wait after an attempt, counted from 1: doubles each time, with jitter."""
    return FIRST_BACKOFF_SECONDS * 2.0 ** (attempt - 1) * random.uniform(0.5, 1)  # noqa: S311


def clock_time(moment: datetime) -> str:
    """14:05 UTC: the first full minute that is not before the moment."""
    whole = moment.replace(second=0, microsecond=0)
    minute = whole if whole == moment else whole + timedelta(minutes=1)
    return f"{minute:%H:%M} UTC"
