"""How far the worker is with a comparison: at which stage, with how many pairs, how long yet."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from scoring.models.pairs import Pairs

#: Processor seconds that each stage takes for a million pairs, within one dataset version and
#: between two; only their ratios count.
MATCHING: Final = (1.8, 3.1)
COUNTING: Final = (0.8, 2.3)
SCORING: Final = (1.7, 1.7)
KEEPING: Final = (0.2, 1.4)

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
    """What is being done, with how many of how many pairs, 0 where they are not counted, and the
    share of the whole comparison that is done; `seconds_left` is None at first.
    """

    doing: str
    done: int
    total: int
    share: float
    seconds_left: float | None


Tell = Callable[[Progress], None]


def untold(_progress: Progress) -> None:
    """Where nobody looks."""


class Stage(NamedTuple):
    doing: str
    cost: float


def stages_of(pairs: Pairs, scorers: Sequence[str]) -> Iterator[Stage]:
    """In the order in which they are gone through; of the scorers that both runs have, by name."""
    version = 0 if pairs.is_same_version else 1
    yield Stage("matching cases", MATCHING[version])
    yield Stage("counting what changed", COUNTING[version])
    for number, name in enumerate(scorers, 1):
        yield Stage(f"scores of {name}, scorer {number} of {len(scorers)}", SCORING[version])
    yield Stage("noting where changes stand", KEEPING[version])


class Stages:
    """Tells how far one is, at each stage's beginning and else at most every TELL_SECONDS."""

    def __init__(
        self, stages: Iterator[Stage], tell: Tell, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`stages` in the order in which they will be begun."""
        every = list(stages)
        self._ahead, self._whole = iter(every), sum(stage.cost for stage in every)
        self._before = 0.0  # the cost of the stages that are done
        self._tell, self._clock = tell, clock
        self._begun, self._told_at = clock(), float("-inf")

    def begin(self, total: int = 0) -> Reach:
        """The next stage, with so many pairs; what is given back takes the share of it done."""
        stage, before = next(self._ahead), self._before
        self._before += stage.cost

        def reach(share: float) -> None:
            if not share or self._clock() - self._told_at >= TELL_SECONDS:
                self._told(stage, total, float(share), (before + stage.cost * share) / self._whole)

        reach(0.0)
        return reach

    def _told(self, stage: Stage, total: int, share: float, whole: float) -> None:
        self._told_at = self._clock()
        seconds = self._told_at - self._begun
        is_sure = seconds >= SURE_SECONDS and whole >= SURE_SHARE
        left = seconds / whole * (1 - whole) if is_sure else None
        done = round(share * total)
        self._tell(Progress(stage.doing, done, total, round(float(whole), 4), left))
