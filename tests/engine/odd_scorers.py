"""Custom scorers that misbehave, for processes that are told of them by EVALSITE_SCORERS."""

from __future__ import annotations

import os
import time


def crash_on(output: str, *, text: str = "boom") -> float:
    """Takes its whole process down on one output."""
    if output == text:
        os._exit(9)
    return 1.0


def not_a_number(output: str) -> float:
    return float("nan") if output == "nan" else 1.0


def slow(output: str, *, seconds: float = 5.0) -> float:
    time.sleep(seconds)
    return 1.0


def endless(_: int) -> None:
    """In place of a shard that never ends."""
    while True:
        time.sleep(1)


_mended: list[bool] = [False]


def mend(*, is_mended: bool) -> None:
    """Whether `breaks` scores what it could not, from now on and in this process."""
    _mended[:] = [is_mended]


def breaks(output: str) -> float:
    if output == "broken" and not _mended[0]:
        raise ValueError("odd")
    return 1.0
