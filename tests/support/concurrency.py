"""The same act from several threads at the same moment, each with its own connection."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier, BrokenBarrierError
from typing import ParamSpec, TypeVar

import pytest
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext

P = ParamSpec("P")
R = TypeVar("R")

TIMES = 8
SECONDS = 0.5


def call_at_once(act: Callable[[], R], times: int = TIMES) -> list[R]:
    """What each call returned. A test of it needs a database file and real transactions."""
    return call_all_at_once([act] * times)


def call_all_at_once(acts: Sequence[Callable[[], R]]) -> list[R]:
    """What each act returned; see `call_at_once`."""

    def call(act: Callable[[], R]) -> R:
        try:
            return act()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(acts)) as threads:
        return list(threads.map(call, acts))


def wait_for_all(function: Callable[P, R], times: int = TIMES) -> Callable[P, R]:
    """The function, which returns only when that many calls of it have come to their end.

    Calls that cannot run side by side, because of a lock, go on after a moment.
    """
    barrier = Barrier(times, timeout=SECONDS)

    def waiting(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        finally:
            with suppress(BrokenBarrierError):
                barrier.wait()

    return waiting


def locked_tables(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> list[str]:
    """The tables whose rows the act locks, in turn, on a database that can lock rows."""
    with monkeypatch.context() as patch, CaptureQueriesContext(connection) as queries:
        for feature in ("has_select_for_update", "has_select_for_no_key_update"):
            patch.setattr(connection.features, feature, True)
        patch.setattr(connection.ops, "for_update_sql", lambda *_, **__: "/* locked */")
        act()
    texts = [query["sql"] for query in queries if "/* locked */" in query["sql"]]
    return [found[1] for text in texts if (found := re.search(r'FROM "(\w+)"', text))]
