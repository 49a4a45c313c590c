"""The progress of a job of several stages, and how long the rest takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from math import ceil
from typing import Final, NamedTuple, Self

from scoring.engine.jobs import lease
from scoring.models import Job, JobState

REPORT_SECONDS: Final = 0.5
MIN_ESTIMATE_SECONDS: Final = 1.0  # less elapsed time says little about the rest,
MIN_ESTIMATE_SHARE: Final = 0.05  # and so does a smaller share

ReportShare = Callable[[float], None]  # called with the share that is done


def ignore_share(_share: float) -> None:
    """Report nothing."""


def scale_share(report: ReportShare, start: float, size: float) -> ReportShare:
    """Report the share of a part that begins at `start` and is `size` of the whole."""
    return lambda share: report(start + size * share)


class JobProgress(NamedTuple):
    """What is being done, how many of how many things are done, 0 where they are not counted, and
    the share of the whole job; `seconds_left` is None at first.
    """

    doing: str
    done: int
    total: int
    share: float
    seconds_left: float | None

    @property
    def whole_seconds_left(self) -> int | None:
        """At least 1, rounded up; None while it is unknown."""
        return None if self.seconds_left is None else max(1, ceil(self.seconds_left))

    @classmethod
    def of(cls, job: Job | None) -> Self | None:
        """As the worker has reported it; None while no worker runs the job."""
        if job is None or job.state != JobState.WORKING or not lease.is_leased(job):
            return None
        return cls(*(job.answer[name] for name in cls._fields)) if job.answer else None


ReportProgress = Callable[[JobProgress], object]


def ignore_progress(_progress: JobProgress) -> None:
    """Report nothing."""


class Stage(NamedTuple):
    doing: str
    cost: float


class StageProgress:
    """Reports progress at each stage's beginning, and else at most every REPORT_SECONDS."""

    def __init__(
        self,
        stages: Iterator[Stage],
        tell: ReportProgress,
        clock: Callable[[], float] = time.monotonic,
        *,
        are_seconds: bool = False,
    ) -> None:
        """`stages` in the order in which they will be begun.

        Where costs `are_seconds` they say how long the rest takes, until that can be measured.
        """
        self._stages = list(stages)
        self._cost = sum(stage.cost for stage in self._stages)
        self._cost_before = 0.0  # of the stages that are done
        self._tell, self._clock = tell, clock
        self._started_at, self._reported_at = clock(), float("-inf")
        self._expected_seconds = self._cost if are_seconds else None

    def begin(self, total: int = 0) -> ReportShare:
        """Begin the next stage, with so many things; the returned function takes its share done."""
        stage, before = self._stages.pop(0), self._cost_before
        self._cost_before += stage.cost

        def report(share: float) -> None:
            now = self._clock()
            if share and now - self._reported_at < REPORT_SECONDS:
                return
            self._reported_at = now
            whole = float((before + stage.cost * share) / self._cost)
            done, left = round(float(share) * total), self._seconds_left(whole)
            self._tell(JobProgress(stage.doing, done, total, round(whole, 4), left))

        report(0.0)
        return report

    def _seconds_left(self, whole: float) -> float | None:
        seconds = self._reported_at - self._started_at
        if seconds >= MIN_ESTIMATE_SECONDS and whole >= MIN_ESTIMATE_SHARE:
            return seconds / whole * (1 - whole)
        if self._expected_seconds is None or seconds > self._expected_seconds:
            return None
        return self._expected_seconds - seconds
