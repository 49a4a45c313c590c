"""The pool of clients of this process: one event loop, a client and a rate limiter per endpoint."""

from __future__ import annotations

import asyncio
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final, NamedTuple, TypeVar

from scoring.core.llm.client import Client
from scoring.core.llm.endpoint import Endpoint
from scoring.core.llm.limit_sharing import LimitSharing, LimitStore
from scoring.core.llm.rate_limiter import Clock, RateLimiter

WRITERS: Final = 8  # replies that arrive together are stored together
MAX_CLIENTS: Final = 64  # endpoints kept open; each change of a key or price makes a new one

T = TypeVar("T")


class PooledClient(NamedTuple):
    """The client and the rate limiter of an endpoint, shared by all its callers."""

    endpoint: Endpoint
    client: Client
    limiter: RateLimiter


class ClientPool:
    """An event loop on a thread of its own, threads that store replies, and the clients."""

    def __init__(self, clock: Clock | None = None, limits: LimitStore | None = None) -> None:
        self.clock = clock or Clock()
        self.pid = os.getpid()
        self._clients: OrderedDict[Endpoint, PooledClient] = OrderedDict()
        self._writer = ThreadPoolExecutor(WRITERS, thread_name_prefix="replies")
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name="judges", daemon=True)
        self._thread.start()
        self._sharing = LimitSharing(limits, self.clock, self.write) if limits else None
        if self._sharing:
            self.start(self._sharing.run())

    def start(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Start `work` on the loop; any thread may wait for the future."""
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    async def write(self, work: Callable[[], T]) -> T:
        """The result of `work`, done on a writing thread."""
        return await self.loop.run_in_executor(self._writer, work)

    def client_for(self, endpoint: Endpoint) -> PooledClient:
        """The client of an endpoint. Called on the loop."""
        if endpoint not in self._clients:
            self._drop_oldest_idle()
            limiter = RateLimiter(endpoint.concurrency, self.clock)
            if self._sharing:
                self._sharing.add(limiter, endpoint)
            self._clients[endpoint] = PooledClient(endpoint, Client(endpoint, self.clock), limiter)
        self._clients.move_to_end(endpoint)
        return self._clients[endpoint]

    def close(self) -> None:
        """End the loop, its connections and the threads."""
        self.start(self._close_clients()).result()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self._writer.shutdown()
        self.loop.close()

    async def _close_clients(self) -> None:
        if self._sharing:
            await self._sharing.stop()
        for pooled in self._clients.values():
            await pooled.client.close()
        self._clients.clear()

    def _drop_oldest_idle(self) -> None:
        """Make room for one more client. Clients in use stay, even where they are too many."""
        idle = [pooled for pooled in self._clients.values() if not pooled.limiter.is_used]
        for pooled in idle[: max(0, len(self._clients) + 1 - MAX_CLIENTS)]:
            del self._clients[pooled.endpoint]
            self._closing = self.loop.create_task(pooled.client.close())


_lock = threading.Lock()
_shared: list[ClientPool] = []
_limits: list[LimitStore] = []


def share_limits(store: LimitStore) -> None:
    """Share the limits of endpoints with other processes; called before any is asked."""
    _limits[:] = [store]


def shared_pool() -> ClientPool:
    """The pool of this process; a forked child gets its own."""
    with _lock:
        if not _shared or _shared[0].pid != os.getpid():
            _shared[:] = [ClientPool(limits=next(iter(_limits), None))]
        return _shared[0]
