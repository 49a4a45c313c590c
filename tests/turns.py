"""Where processes share the tests: who may run beside whom."""

from __future__ import annotations

from collections.abc import Generator
from fcntl import LOCK_EX, LOCK_SH, LOCK_UN, flock
from pathlib import Path

import pytest


class Turns:
    """A process's plugin: all others hold still during a test of it that is marked `alone`.

    Every test holds the room, shared with those of other processes or, marked, for itself;
    it waits for the room at the door, so that no stream of others keeps a marked one waiting.
    A process that dies leaves both.
    """

    def __init__(self, folder: Path) -> None:
        self._door, self._room = ((folder / f"{name}.lock").open("w") for name in ("door", "room"))
        self._is_alone = False

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(
        self, item: pytest.Item, nextitem: pytest.Item | None
    ) -> Generator[None, object, object]:
        self.enter(is_marked=_is_marked(item))
        try:
            return (yield)
        finally:
            self.leave(is_next_marked=nextitem is not None and _is_marked(nextitem))

    def enter(self, is_marked: bool) -> None:
        if self._is_alone:
            return
        flock(self._door, LOCK_EX)
        try:
            flock(self._room, LOCK_EX if is_marked else LOCK_SH)
        finally:
            flock(self._door, LOCK_UN)
        self._is_alone = is_marked

    def leave(self, is_next_marked: bool) -> None:
        """Not between two marked tests: the others wait once for both."""
        if self._is_alone and is_next_marked:
            return
        flock(self._room, LOCK_UN)
        self._is_alone = False

    def pytest_unconfigure(self) -> None:
        self._door.close()
        self._room.close()


def _is_marked(item: pytest.Item) -> bool:
    return item.get_closest_marker("alone") is not None
