"""The queue of callers of the tryout process."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import Final

WAIT_SECONDS: Final = 4.0
MAX_CALLERS: Final = 2  # one is scored, one waits; the other threads of the process serve pages


class BusyError(Exception):
    """Not scored: others come first. It can be sent again after `retry_seconds`."""

    retry_seconds: Final = 3

    def __init__(self, text: str) -> None:
        self.text = text
        super().__init__(text)


class TryoutQueue:
    """One caller at a time, first come first served, and each person once."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._callers: list[tuple[object, Hashable | None]] = []

    @contextmanager
    def turn(self, person: Hashable | None) -> Iterator[None]:
        """Wait for the turn and keep it inside the block. Raises BusyError.

        `person` is None where nobody in particular asks.
        """
        caller = object(), person
        with self._changed:
            self._check(person)
            self._callers.append(caller)
            is_next = self._changed.wait_for(lambda: self._callers[0] is caller, WAIT_SECONDS)
        try:
            if not is_next:
                raise BusyError("Others are scoring at the moment. Try again in a few seconds.")
            yield
        finally:
            with self._changed:
                self._callers.remove(caller)
                self._changed.notify_all()

    def _check(self, person: Hashable | None) -> None:
        if person is not None and any(person == other for _, other in self._callers):
            raise BusyError("Your last request is still being scored. Wait until it has ended.")
        if len(self._callers) >= MAX_CALLERS:
            raise BusyError("Others are scoring at the moment. Try again in a few seconds.")
