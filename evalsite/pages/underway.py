"""What a page says of an errand while somebody waits for its end."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import Final

from django.utils import timezone

from scoring.engine.progress import cause_of_errand
from scoring.engine.stages import Progress
from scoring.models import Errand, ErrandState

NOT_BEGUN: Final = "not begun"
STANDSTILL: Final = "standing still"
QUARTERS: Final = ("begun", "a quarter done", "half done", "three quarters done")


def said_of(share: float | None) -> str:
    """How far something is, in a few words that seldom change."""
    return NOT_BEGUN if share is None else QUARTERS[min(int(share * 4), 3)]


@dataclass(frozen=True)
class Underway:
    """An errand that is open."""

    errand: Errand

    @cached_property
    def cause(self) -> str:
        """Why it does not move; "" while it does."""
        return cause_of_errand(self.errand)

    @cached_property
    def progress(self) -> Progress | None:
        """None before the worker has told any, and for errands of which none is told."""
        return None if self.cause else Progress.of(self.errand)

    @property
    def seconds_left(self) -> int | None:
        left = self.progress.seconds_left if self.progress else None
        return None if left is None else max(1, ceil(left))

    @property
    def seconds(self) -> int:
        """Since it was asked."""
        return max(0, int((timezone.now() - self.errand.created_at).total_seconds()))

    @property
    def said(self) -> str:
        if self.cause:
            return STANDSTILL
        if self.progress is None:
            return NOT_BEGUN if self.errand.state == ErrandState.WAITING else QUARTERS[0]
        return said_of(self.progress.share)


def underway_of(errand: Errand | None) -> Underway | None:
    """None where nothing is waited for."""
    return Underway(errand) if errand and errand.is_open else None
