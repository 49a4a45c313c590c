"""The progress of an open job, as pages show it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

from django.utils import timezone

from scoring.engine.jobs.progress import JobProgress
from scoring.engine.runs.progress import job_stall_reason
from scoring.models import Job, JobState

NOT_STARTED: Final = "not begun"
STALLED: Final = "standing still"
QUARTERS: Final = ("begun", "a quarter done", "half done", "three quarters done")


def progress_label(share: float | None) -> str:
    """The progress in words that change at most once a quarter, for screen readers."""
    return NOT_STARTED if share is None else QUARTERS[min(int(share * 4), 3)]


@dataclass(frozen=True)
class JobStatus:
    """The status of a job that is open."""

    job: Job

    @cached_property
    def cause(self) -> str:
        """Why the job does not progress; "" while it does."""
        return job_stall_reason(self.job)

    @cached_property
    def progress(self) -> JobProgress | None:
        """None before the worker reports any, and for jobs that report none."""
        return None if self.cause else JobProgress.of(self.job)

    @property
    def seconds(self) -> int:
        """The time since the job was enqueued."""
        return max(0, int((timezone.now() - self.job.created_at).total_seconds()))

    @property
    def progress_label(self) -> str:
        if self.cause:
            return STALLED
        if self.progress is None:
            return NOT_STARTED if self.job.state == JobState.WAITING else QUARTERS[0]
        return progress_label(self.progress.share)


def open_job_status(job: Job | None) -> JobStatus | None:
    """The status of the job; None without an open job."""
    return JobStatus(job) if job and job.is_open else None
