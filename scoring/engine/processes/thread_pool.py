"""Threads that mostly wait, for models' replies and for torch, which computes without Python."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import Any, Final, Self

from django.db import connections

THREADS: Final = 4  # so many shards of calls keep an endpoint busy

_Task = tuple[Future[Any], Callable[..., Any], tuple[Any, ...]]


class ThreadPool:
    """An executor of daemon threads in this process, which may end without waiting for them.

    They start on first use, and none keeps a database connection between two tasks.
    """

    can_end_tasks = False
    stall_reason = ""

    def __init__(self, threads: int = THREADS) -> None:
        self.processes = threads
        self.capacity = threads + 1
        self._tasks: SimpleQueue[_Task | None] = SimpleQueue()
        self._started = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def submit(self, function: Callable[..., Any], *args: Any) -> Future[Any]:
        if self._started < self.processes:
            self._started += 1
            name = f"services-{self._started}"
            threading.Thread(target=_work, args=(self._tasks,), name=name, daemon=True).start()
        future: Future[Any] = Future()
        self._tasks.put((future, function, args))
        return future

    def restart(self) -> None:
        """Nothing to do: no thread ever takes the others with it."""

    def close(self) -> None:
        """Drop what has not begun and let each thread end after its task; wait for none."""
        try:
            while task := self._tasks.get_nowait():
                task[0].cancel()
        except Empty:
            pass
        for _ in range(self._started):
            self._tasks.put(None)
        self._started = 0


def _work(tasks: SimpleQueue[_Task | None]) -> None:
    while task := tasks.get():
        future, function, args = task
        if not future.set_running_or_notify_cancel():
            continue
        try:
            result = function(*args)
        except BaseException as fault:  # noqa: BLE001  a future carries any fault
            connections.close_all()
            future.set_exception(fault)
        else:
            connections.close_all()
            future.set_result(result)
