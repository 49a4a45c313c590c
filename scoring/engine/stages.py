"""How far the worker is with an errand of several stages, and how long the rest takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple, Self

from scoring.engine import hold
from scoring.models import Errand, ErrandState

TELL_SECONDS: Final = 0.5
SURE_SECONDS: Final = 1.0  # what began less than that ago tells little of the rest,
SURE_SHARE: Final = 0.05  # and so does a smaller part of it

Reach = Callable[[float], None]  # called with the share that is done


def unheard(_share: float) -> None:
    """Where nobody waits."""


def part_of(reach: Reach, start: float, size: float) -> Reach:
    """For what is only a part of the way."""
    return lambda share: reach(start + size * share)


class Progress(NamedTuple):
    """What is being done, with how many of how many things, 0 where they are not counted, and the
    share of the whole errand that is done; `seconds_left` is None at first.
    """

    doing: str
    done: int
    total: int
    share: float
    seconds_left: float | None

    @classmethod
    def of(cls, errand: Errand | None) -> Self | None:
        """As the worker has told it; None while none is at it."""
        if errand is None or errand.state != ErrandState.WORKING or not hold.is_held(errand):
            return None
        told = errand.answer
        return cls(*(told[name] for name in cls._fields)) if told else None


Tell = Callable[[Progress], object]


def untold(_progress: Progress) -> None:
    """Where nobody looks."""


class Stage(NamedTuple):
    doing: str
    cost: float


class Stages:
    """Tells how far one is, at each stage's beginning and else at most every TELL_SECONDS."""

    def __init__(
        self,
        stages: Iterator[Stage],
        tell: Tell,
        clock: Callable[[], float] = time.monotonic,
        *,
        are_seconds: bool = False,
    ) -> None:
        """`stages` in the order in which they will be begun.

        Where costs `are_seconds` they say how long the rest takes, until one is sure.
        """
        every = list(stages)
        self._ahead, self._whole = iter(every), sum(stage.cost for stage in every)
        self._before = 0.0  # the cost of the stages that are done
        self._tell, self._clock = tell, clock
        self._begun, self._told_at = clock(), float("-inf")
        self._foreseen = self._whole if are_seconds else None

    def begin(self, total: int = 0) -> Reach:
        """The next stage, with so many things; what is given back takes the share of it done."""
        stage, before = next(self._ahead), self._before
        self._before += stage.cost

        def reach(share: float) -> None:
            if not share or self._clock() - self._told_at >= TELL_SECONDS:
                self._told(stage, total, float(share), (before + stage.cost * share) / self._whole)

        reach(0.0)
        return reach

    def _told(self, stage: Stage, total: int, share: float, whole: float) -> None:
        self._told_at = self._clock()
        done = round(share * total)
        left = self._seconds_left(whole)
        self._tell(Progress(stage.doing, done, total, round(float(whole), 4), left))

    def _seconds_left(self, whole: float) -> float | None:
        seconds = self._told_at - self._begun
        if seconds >= SURE_SECONDS and whole >= SURE_SHARE:
            return seconds / whole * (1 - whole)
        if self._foreseen is None or seconds > self._foreseen:
            return None
        return self._foreseen - seconds
