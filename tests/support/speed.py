"""A bound on processor time for what, if it went wrong, would take minutes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import process_time

#: What `bare_loop` takes, in seconds, on a processor on which limits are meant as they are.
REFERENCE_SECONDS = 0.008


@contextmanager
def quick_enough(limit: float) -> Iterator[None]:
    """What is done here takes at most `limit` seconds of processor time.

    On a machine on which the bare loop is slower than `REFERENCE_SECONDS`, as much more. Choose a
    limit of at least ten times what it takes.
    """
    began = process_time()
    yield
    taken = process_time() - began
    loop = min(_seconds_of_loop() for _ in range(5))
    assert taken <= limit * max(1.0, loop / REFERENCE_SECONDS)


def bare_loop() -> dict[int, int]:
    """What hardly changes from one version of Python to the next: a loop over a dict."""
    counts = dict.fromkeys(range(997), 0)
    for number in range(100_000):
        counts[number % 997] += number
    return counts


def _seconds_of_loop() -> float:
    began = process_time()
    bare_loop()
    return process_time() - began
