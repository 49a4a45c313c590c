"""What a comparison's page says while the worker has yet to compare some of its runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from evalsite.pages.underway import STANDSTILL, said_of
from scoring.engine.compare_asks import progress_of
from scoring.engine.progress import NO_WORKER, worker_is_alive
from scoring.models import Run

if TYPE_CHECKING:
    from evalsite.pages.compare import Candidate


@dataclass(frozen=True)
class Waiting:
    """`cause` is why nothing moves, "" while something does."""

    beside: Sequence[Candidate]
    cause: str

    @property
    def done(self) -> int:
        """How many runs need no more waiting."""
        return sum(not each.is_waiting for each in self.beside)

    @property
    def share(self) -> float | None:
        """How much is done, in runs; None before the worker has begun any."""
        begun = [each.progress.share for each in self._awaited if each.progress]
        return self.done + sum(begun) if begun or self.done else None

    @property
    def seconds_left(self) -> int | None:
        """Until all are done; None while that is not known of each."""
        left = [each.progress.seconds_left if each.progress else None for each in self._awaited]
        known = [seconds for seconds in left if seconds is not None]
        return max(1, ceil(max(known))) if len(known) == len(left) else None

    @property
    def said(self) -> str:
        """How far it is, in a few words that seldom change."""
        if self.cause:
            return STANDSTILL
        return said_of(None if self.share is None else self.share / len(self.beside))

    @property
    def _awaited(self) -> list[Candidate]:
        return [each for each in self.beside if each.is_waiting]


def waiting_for(baseline: Run, beside: Sequence[Candidate]) -> Waiting:
    """The candidates that wait take on their progress."""
    cause = "" if worker_is_alive() else NO_WORKER
    found = {} if cause else progress_of(baseline, [each.run for each in beside])
    for each in beside:
        each.progress = found.get(each.run.pk)
    return Waiting(beside, cause)
