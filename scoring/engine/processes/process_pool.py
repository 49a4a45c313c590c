"""Processes that do the computing, so that no page and no heartbeat ever waits for it."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from importlib import import_module
from multiprocessing import forkserver
from multiprocessing.connection import wait
from multiprocessing.context import BaseContext
from pathlib import Path
from typing import Any, Final, Protocol, Self

from scoring.core.refused_statement import is_refused

ROOT: Final = str(Path(__file__).resolve().parents[3])
PRELOAD: Final = "scoring.engine.worker.preload"


class Executor(Protocol):
    """The interface of a pool of so many processes or threads.

    Where it `can_end_tasks`, `restart` ends what is under way, and the tasks that were submitted
    first are those that are.
    """

    can_end_tasks: bool

    @property
    def processes(self) -> int:
        """How many tasks it does at the same time."""

    @property
    def capacity(self) -> int:
        """How many submitted tasks keep all of it busy."""

    @property
    def stall_reason(self) -> str:
        """Why no task goes on; empty while they do."""

    def submit(self, function: Callable[..., Any], *args: Any) -> Future[Any]:
        """The future result of the function.

        Raises BrokenProcessPool where a process has died since, and goes on to until `restart`.
        """

    def restart(self) -> None:
        """Make the pool usable again after one of its processes died."""


class InlineExecutor:
    """A pool without processes: the caller does the work."""

    can_end_tasks = True
    processes = 0
    stall_reason = ""

    @property
    def capacity(self) -> int:
        return self.processes + 1

    def submit(self, function: Callable[..., Any], *args: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(function(*args))
        except Exception as fault:  # noqa: BLE001  a future carries any fault
            future.set_exception(fault)
        return future

    def restart(self) -> None:
        pass


class ProcessPool:
    """Warm processes on this process's database; they start on first use and die with it.

    With `forks` they are copies of this process, which are there at once but inherit all it holds:
    for a command that has no threads and soon ends. Otherwise they are forked from a small server,
    which takes half a second to start. Outside transactions only, as connections are closed.
    """

    can_end_tasks = True
    stall_reason = ""

    def __init__(self, processes: int, *, forks: bool = False) -> None:
        self.processes = processes
        self.capacity = processes + 1  # so that none waits for us between two tasks
        self._forks = forks
        self._executor: ProcessPoolExecutor | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def submit(self, function: Callable[..., Any], *args: Any) -> Future[Any]:
        if self._executor is None:
            self._executor = self._start()
        return self._executor.submit(_call, function, *args)

    def restart(self) -> None:
        self.close()

    def process_ids(self) -> list[int]:
        """Of the processes that have been started."""
        return list((self._executor and self._executor._processes) or {})

    def close(self) -> None:
        """End the processes, whatever they are doing."""
        executor, self._executor = self._executor, None
        if executor is None:
            return
        # A snapshot: the executor forgets its processes while it shuts down.
        processes = list((executor._processes or {}).values())
        executor.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.kill()
        for process in processes:
            process.join()

    def _start(self) -> ProcessPoolExecutor:
        from django.db import connection

        return ProcessPoolExecutor(
            self.processes,
            mp_context=_forking() if self._forks else _fork_server(),
            initializer=_begin,
            initargs=(connection.settings_dict,),
        )


def _forking() -> BaseContext:
    from django.db import connections

    import_module(PRELOAD)  # once for all of them
    connections.close_all()  # two processes must not use one
    return multiprocessing.get_context("fork")


def _fork_server() -> BaseContext:
    """Start it with our import path: it would look for PRELOAD in the current folder only."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([PRELOAD])
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([ROOT, before] if before else [ROOT])
    try:
        forkserver.ensure_running()
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before
    return context


def _begin(database: dict[str, Any]) -> None:
    """Set up a pool process: Django, the parent's database, and an end when the parent ends."""
    import_module(PRELOAD)  # has been done already, unless the fork server could not

    from django.db import connection

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    connection.settings_dict.update(database)
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)  # a shard's rows are many and none is part of a cycle
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _call(function: Callable[..., Any], *args: Any) -> Any:
    """Call it with a connection that works: the server may have ended the last one's.

    What a database would never do comes back as no OperationalError: the cause that tells it from a
    database out of reach is lost between processes.
    """
    from django.db import DatabaseError, OperationalError, close_old_connections

    close_old_connections()
    try:
        return function(*args)
    except OperationalError as fault:
        if is_refused(fault):
            raise DatabaseError(str(fault)) from None
        raise


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
