"""The lines to all endpoints of this process: one event loop, one client and gate per endpoint."""

from __future__ import annotations

import asyncio
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final, NamedTuple, TypeVar

from scoring.core.judge.client import Client
from scoring.core.judge.endpoint import Endpoint
from scoring.core.judge.gate import Clock, Gate

WRITERS: Final = 8  # so that replies that come together can be written together
MAX_LINES: Final = 64  # endpoints kept open; keys and prices change, and each change is a new one

T = TypeVar("T")


class Line(NamedTuple):
    """How an endpoint is reached, shared by all who call it."""

    endpoint: Endpoint
    client: Client
    gate: Gate


class Switchboard:
    """A loop on a thread of its own, threads that write replies down, and the lines."""

    def __init__(self, clock: Clock | None = None) -> None:
        self.clock = clock or Clock()
        self.pid = os.getpid()
        self._lines: OrderedDict[Endpoint, Line] = OrderedDict()
        self._writer = ThreadPoolExecutor(WRITERS, thread_name_prefix="replies")
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="judges", daemon=True)
        self._thread.start()

    def start(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Begin `work` on the loop; any thread may wait for the future."""
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    async def write(self, work: Callable[[], T]) -> T:
        """The result of `work`, done on a writing thread."""
        return await self.loop.run_in_executor(self._writer, work)

    def line(self, endpoint: Endpoint) -> Line:
        """The line to an endpoint. Called on the loop."""
        if endpoint not in self._lines:
            gate = Gate(endpoint.concurrency, self.clock)
            self._lines[endpoint] = Line(endpoint, Client(endpoint, self.clock), gate)
            self._drop_oldest_idle()
        self._lines.move_to_end(endpoint)
        return self._lines[endpoint]

    def close(self) -> None:
        """End the loop, its connections and the threads."""
        self.start(self._close_lines()).result()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self._writer.shutdown()
        self.loop.close()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()

    async def _close_lines(self) -> None:
        for line in self._lines.values():
            await line.client.close()
        self._lines.clear()

    def _drop_oldest_idle(self) -> None:
        idle = (line for line in self._lines.values() if not line.gate.is_used)
        while len(self._lines) > MAX_LINES and (line := next(idle, None)):
            del self._lines[line.endpoint]
            self._closing = self.loop.create_task(line.client.close())
            idle = (line for line in self._lines.values() if not line.gate.is_used)


_lock = threading.Lock()
_shared: list[Switchboard] = []


def shared() -> Switchboard:
    """The switchboard of this process; a forked child gets its own."""
    with _lock:
        if not _shared or _shared[0].pid != os.getpid():
            _shared[:] = [Switchboard()]
        return _shared[0]
