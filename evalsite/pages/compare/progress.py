"""The progress of a comparison that the worker has yet to compute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from evalsite.pages.compare.candidates import Candidate
from evalsite.pages.web.job_status import STALLED, progress_label
from scoring.engine.compare.jobs import comparison_progress
from scoring.engine.runs.progress import find_worker_problem
from scoring.models import Run, WorkQueue


@dataclass(frozen=True)
class ComparisonProgress:
    """`cause` is why there is no progress, "" while there is."""

    candidates: Sequence[Candidate]
    cause: str

    @property
    def done(self) -> int:
        """How many runs are compared, or failed to be."""
        return len(self.candidates) - len(self._waiting)

    @property
    def share(self) -> float | None:
        """How much is done, in runs; None before the worker has begun any."""
        begun = [candidate.progress.share for candidate in self._waiting if candidate.progress]
        return self.done + sum(begun) if begun or self.done else None

    @property
    def seconds_left(self) -> int | None:
        """Until all are done; None unless it is known of each."""
        begun = [candidate.progress for candidate in self._waiting if candidate.progress]
        seconds = [progress.seconds_left for progress in begun if progress.seconds_left is not None]
        return max(1, ceil(max(seconds))) if len(seconds) == len(self._waiting) else None

    @property
    def progress_label(self) -> str:
        """The progress in a few words that seldom change."""
        if self.cause:
            return STALLED
        return progress_label(None if self.share is None else self.share / len(self.candidates))

    @property
    def _waiting(self) -> list[Candidate]:
        return [candidate for candidate in self.candidates if candidate.is_waiting]


def get_comparison_progress(baseline: Run, candidates: Sequence[Candidate]) -> ComparisonProgress:
    """The progress of all candidates, which also sets that of each."""
    cause = find_worker_problem(WorkQueue.JOBS)
    runs = [candidate.run for candidate in candidates]
    by_run = {} if cause else comparison_progress(baseline, runs)
    for candidate in candidates:
        candidate.progress = by_run.get(candidate.run.pk)
    return ComparisonProgress(candidates, cause)
