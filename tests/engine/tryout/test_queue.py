"""Scoring at once is shared: nobody waits without end, and nobody takes all of it."""

from __future__ import annotations

import threading

import pytest

from scoring.engine.tryout import queue as tryout_queue
from scoring.engine.tryout.queue import BusyError, TryoutQueue
from tests.support.waiting import DEADLINE_SECONDS, wait_until


class Caller(threading.Thread):
    """Takes a turn and keeps it until told to end."""

    def __init__(self, queue: TryoutQueue, person: int | None) -> None:
        super().__init__(daemon=True)
        self.has_turn, self.may_end = threading.Event(), threading.Event()
        self._queue, self._person = queue, person
        self.start()

    def run(self) -> None:
        with self._queue.turn(self._person):
            self.has_turn.set()
            self.may_end.wait(DEADLINE_SECONDS)

    def end(self) -> None:
        self.may_end.set()
        self.join(DEADLINE_SECONDS)


def is_waiting(queue: TryoutQueue) -> bool:
    """Whether a caller has given the lock back without a turn, to be told of a change."""
    with queue._changed:
        return bool(queue._changed._waiters)  # type: ignore[attr-defined]


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """No caller is sent away because the machine is slow."""
    monkeypatch.setattr(tryout_queue, "WAIT_SECONDS", DEADLINE_SECONDS)


def test_the_next_person_gets_the_turn_when_the_first_ends() -> None:
    queue = TryoutQueue()
    first = Caller(queue, 1)
    assert first.has_turn.wait(DEADLINE_SECONDS)
    second = Caller(queue, 2)
    wait_until(lambda: is_waiting(queue) or second.has_turn.is_set())
    assert not second.has_turn.is_set()
    first.end()
    assert second.has_turn.wait(DEADLINE_SECONDS)
    second.end()


def test_a_person_is_refused_a_second_turn_at_once() -> None:
    queue = TryoutQueue()
    first = Caller(queue, 1)
    assert first.has_turn.wait(DEADLINE_SECONDS)
    with pytest.raises(BusyError, match="still being scored"), queue.turn(1):
        pass
    first.end()
    with queue.turn(1):
        pass


def test_a_third_caller_is_refused_rather_than_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    queue = TryoutQueue()
    callers = [Caller(queue, 1)]
    assert callers[0].has_turn.wait(DEADLINE_SECONDS)
    callers.append(Caller(queue, 2))
    wait_until(lambda: len(queue._callers) == 2)
    monkeypatch.setattr(queue._changed, "wait_for", lambda *_: pytest.fail("it waits"))
    with pytest.raises(BusyError, match="Others are scoring"), queue.turn(3):
        pass
    for caller in callers:
        caller.end()


def test_a_caller_waits_no_longer_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tryout_queue, "WAIT_SECONDS", 0.05)
    queue = TryoutQueue()
    first = Caller(queue, 1)
    assert first.has_turn.wait(DEADLINE_SECONDS)
    with pytest.raises(BusyError), queue.turn(2):
        pass
    first.end()
    with queue.turn(2):
        pass
