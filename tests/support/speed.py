"""Limits on processor time that hold on slow and busy machines alike.

Tests that use them are marked `timing` and run on their own: `pytest -m timing`. Only those of
`quick_enough` run among all others: what they guard against takes minutes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf
from time import process_time

#: What `_bare_loop` takes, in seconds, on a processor on which limits are meant as they are.
REFERENCE_SECONDS = 0.008
ROUNDS = 25


def seconds_of(work: Callable[[], object]) -> float:
    """Processor time of one call, in seconds; that of other programs does not count."""
    began = process_time()
    work()
    return process_time() - began


def assert_within(limit: float, work: Callable[[], object], rounds: int = ROUNDS) -> None:
    """The quickest of up to `rounds` calls takes at most `limit` seconds of processor time.

    On a machine on which a bare loop is slower than `REFERENCE_SECONDS`, as much more.
    """
    quickest = loop = inf
    for _ in range(rounds):
        quickest, loop = min(quickest, seconds_of(work)), min(loop, seconds_of(_bare_loop))
        allowed = limit * max(1.0, loop / REFERENCE_SECONDS)
        if quickest <= allowed:
            return
    raise AssertionError(f"{quickest:.4f} s, {allowed:.4f} s allowed on this machine")


@contextmanager
def quick_enough(limit: float) -> Iterator[None]:
    """What is done here takes at most `limit` seconds of processor time, as `assert_within`."""
    began = process_time()
    yield
    taken = process_time() - began
    loop = min(seconds_of(_bare_loop) for _ in range(5))
    assert taken <= limit * max(1.0, loop / REFERENCE_SECONDS)


def assert_at_most(
    times: float,
    reference: Callable[[], object],
    work: Callable[[], object],
    *,
    more: float = 0.0,
    rounds: int = ROUNDS,
) -> None:
    """`work` takes at most `times` as long as `reference`, and `more` seconds.

    Both are called in turn, up to `rounds` times, and their quickest rounds count.
    """
    quickest = least = loop = inf
    for _ in range(rounds):
        least, quickest = min(least, seconds_of(reference)), min(quickest, seconds_of(work))
        loop = min(loop, seconds_of(_bare_loop))
        allowed = times * least + more * max(1.0, loop / REFERENCE_SECONDS)
        if quickest <= allowed:
            return
    raise AssertionError(f"{quickest:.4f} s, {allowed:.4f} s allowed beside {least:.4f} s")


def _bare_loop() -> dict[int, int]:
    counts = dict.fromkeys(range(997), 0)
    for number in range(100_000):
        counts[number % 997] += number
    return counts
