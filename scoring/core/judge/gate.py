"""How many calls an endpoint is given at once: fewer when it groans, more again slowly.

Additive increase, multiplicative decrease, as in TCP's congestion avoidance (RFC 5681): a 429 or
503 halves the limit, once for all calls that were under way together; each success adds
1 / limit, so that a round of successes adds one. A Retry-After stops everybody until then.
"""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from itertools import count

Turn = tuple[int, int, asyncio.Future[None]]  # rank, arrival


class Clock:
    """The time, in one place, so that tests need not wait for it."""

    def monotonic(self) -> float:
        return time.monotonic()

    def utc(self) -> datetime:
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class Gate:
    """The places of one endpoint; used on one event loop only."""

    def __init__(self, concurrency: int, clock: Clock) -> None:
        self.limit = float(concurrency)
        self.in_flight = 0
        self._most = concurrency
        self._clock = clock
        self._round = 0
        self._opens_at = clock.monotonic()
        self._waiting: list[Turn] = []  # a heap
        self._arrivals = count()

    @property
    def standstill(self) -> str:
        """`rate-limited until 14:05 UTC` while all calls pause, else empty. Any thread may ask."""
        left = self._opens_at - self._clock.monotonic()
        if left <= 0:
            return ""
        return f"rate-limited until {clock_time(self._clock.utc() + timedelta(seconds=left))}"

    @property
    def is_used(self) -> bool:
        """Whether anybody is inside or wants to be."""
        return bool(self.in_flight or self._waiting)

    async def enter(self, rank: int = 0) -> int:
        """Wait for a place and take it; gives the number of the round, for `press`.

        The lowest rank comes first, then who came first.
        """
        while True:
            left = self._opens_at - self._clock.monotonic()
            if left > 0:
                await self._clock.sleep(left)
            elif self.in_flight < int(self.limit):
                self.in_flight += 1
                return self._round
            else:
                await self._turn(rank)

    def leave(self) -> None:
        """Give the place back."""
        self.in_flight -= 1
        self._wake()

    def press(self, in_round: int) -> None:
        """A call of that round was told to slow down."""
        if in_round == self._round:
            self.limit = max(1.0, self.limit / 2)
            self._round += 1

    def grow(self) -> None:
        """A call succeeded."""
        self.limit = min(float(self._most), self.limit + 1 / self.limit)

    def pause(self, seconds: float) -> None:
        """Let nobody in for that long; a longer pause stays."""
        self._opens_at = max(self._opens_at, self._clock.monotonic() + seconds)

    async def _turn(self, rank: int) -> None:
        """Wait until a place may be free; who is called off then passes the turn on."""
        turn = asyncio.get_running_loop().create_future()
        heappush(self._waiting, (rank, next(self._arrivals), turn))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._wake()
            raise

    def _wake(self) -> None:
        free = int(self.limit) - self.in_flight
        while free > 0 and self._waiting:
            turn = heappop(self._waiting)[-1]
            if not turn.done():
                turn.set_result(None)
                free -= 1


def clock_time(moment: datetime) -> str:
    """14:05 UTC: the first full minute that is not before the moment."""
    whole = moment.replace(second=0, microsecond=0)
    minute = whole if whole == moment else whole + timedelta(minutes=1)
    return f"{minute:%H:%M} UTC"
