"""Shares the calls that an endpoint gets at once between the processes that ask it.

Each process says about once a second how many calls it has, and is told how many it may have. What
one gives up another gets, so that all together never have more than the endpoint takes. A pause
that one was asked for is everybody's.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from itertools import count
from typing import Final, NamedTuple, Protocol
from weakref import WeakKeyDictionary

from scoring.core.llm.endpoint import Endpoint
from scoring.core.llm.rate_limiter import Clock, RateLimiter

log = logging.getLogger(__name__)

EXCHANGE_SECONDS: Final = 1.0
GATHER_SECONDS: Final = 0.05  # for calls that begin together
EXPIRE_SECONDS: Final = 10.0  # until what a process was allowed is given to others
TURN_SECONDS: Final = 5.0  # until calls that cannot be divided go to other processes


class Usage(NamedTuple):
    """The calls of a process, under way and in all, and how long it was asked to pause."""

    in_flight: int
    demand: int
    pause_seconds: float = 0.0


class Allowance(NamedTuple):
    """How many calls a process may have under way, and how long it has to pause."""

    calls: int
    pause_seconds: float = 0.0


class Share(NamedTuple):
    """What another process wants, and what it is allowed."""

    demand: int
    allowed: int


class LimitStore(Protocol):
    """Where processes of several machines leave their shares."""

    def exchange(self, endpoint: Endpoint, caller: int, usage: Usage) -> Allowance:
        """Say what a caller of this process has, and get what it may have."""


def divide_calls(calls: int, demands: Mapping[str, int], turn: int = 0) -> dict[str, int]:
    """As equally as the demands allow, so many that none is left while one is wanted.

    Who gets one more than others changes with `turn`.
    """
    shares = dict.fromkeys(demands, 0)
    names = sorted(demands)
    first = turn % len(names) if names else 0
    hungry = [name for name in names[first:] + names[:first] if demands[name]]
    while calls and hungry:
        each = max(1, calls // len(hungry))
        for name in hungry[:calls]:
            given = min(each, demands[name] - shares[name])
            shares[name] += given
            calls -= given
        hungry = [name for name in hungry if shares[name] < demands[name]]
    return shares


def allow_calls(
    concurrency: int, others: Mapping[str, Share], own: str, usage: Usage, turn: int
) -> int:
    """How many calls the process of the name `own` may have under way: its share, as far as others
    are not allowed them. Calls under way are not taken from it.
    """
    demands = {name: share.demand for name, share in others.items()} | {own: usage.demand}
    free = concurrency - sum(share.allowed for share in others.values())
    return max(usage.in_flight, min(free, divide_calls(concurrency, demands, turn)[own]))


class LimitSharing:
    """Exchanges what the endpoints of a process are asked and may be asked; on one event loop.

    `run_blocking` awaits a function of the store on another thread.
    """

    def __init__(
        self, store: LimitStore, clock: Clock, run_blocking: Callable[..., Awaitable[Allowance]]
    ) -> None:
        self._store, self._clock, self._run_blocking = store, clock, run_blocking
        self._is_wanted = asyncio.Event()
        self._limiters: WeakKeyDictionary[RateLimiter, tuple[Endpoint, int]] = WeakKeyDictionary()
        self._numbers = count()
        self._task: asyncio.Task[None] | None = None

    def add(self, limiter: RateLimiter, endpoint: Endpoint) -> None:
        """From now on, its calls wait until they are allowed."""
        self._limiters[limiter] = endpoint, next(self._numbers)
        limiter.on_demand = self._is_wanted.set
        limiter.allow(0)

    async def run(self) -> None:
        """Exchange each second, and soon after a call that nothing is allowed for; until `stop`."""
        self._task = asyncio.current_task()
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._is_wanted.wait(), EXCHANGE_SECONDS)
            await asyncio.sleep(GATHER_SECONDS)
            self._is_wanted.clear()
            for limiter in list(self._limiters):
                if limiter.demand or limiter.allowed:
                    await self._exchange(limiter)

    async def stop(self) -> None:
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _exchange(self, limiter: RateLimiter) -> None:
        endpoint, number = self._limiters[limiter]
        before = limiter.allowed or 0
        limiter.allow(min(before, limiter.in_flight))  # none begins meanwhile
        usage = Usage(limiter.in_flight, limiter.demand, limiter.pause_seconds)
        try:
            exchange = partial(self._store.exchange, endpoint, number, usage)
            allowance = await self._run_blocking(exchange)
        except Exception as fault:  # noqa: BLE001  whatever the store is
            log.warning("calls of %s are not shared out: %s", endpoint.name, fault)
            waited = self._clock.monotonic() - limiter.allowed_at
            limiter.allow(before if waited < EXPIRE_SECONDS else 0)
            return
        limiter.allowed_at = self._clock.monotonic()
        limiter.is_refused = bool(usage.demand) and not allowance.calls
        limiter.pause(allowance.pause_seconds)
        limiter.allow(allowance.calls)
