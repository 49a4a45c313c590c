"""Re-labelling the last runs of a suite, as the page of a threshold offers it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from evalsite.pages.web.job_status import JobStatus, open_job_status
from scoring.engine.thresholds.jobs import latest_job
from scoring.engine.thresholds.relabelling import RUNS, find_runs_to_relabel
from scoring.models import Job, JobState, Run, Suite


@dataclass(frozen=True)
class RelabelPanel:
    """The runs that the suite's present thresholds label otherwise, and the job that does it."""

    suite: Suite
    most: int = RUNS

    @cached_property
    def job(self) -> Job | None:
        """The latest one within a day."""
        return latest_job(self.suite)

    @cached_property
    def job_status(self) -> JobStatus | None:
        """The progress of the job; None unless it is open."""
        return open_job_status(self.job)

    @property
    def has_failed(self) -> bool:
        return self.job is not None and self.job.state == JobState.FAILED

    @property
    def done_text(self) -> str:
        """What the job did; empty before it is done, and once there are runs to label again."""
        if self.job is None or self.job.state != JobState.DONE or self.runs:
            return ""
        relabelled, removed = (self.job.answer[name] for name in ("relabelled", "removed"))
        parts = [
            (relabelled, f"{_count_runs(relabelled)} re-labelled"),
            (removed, f"labels of {_count_runs(removed)} removed"),
        ]
        return ", ".join(text for number, text in parts if number)

    @cached_property
    def runs(self) -> list[Run]:
        """Of the last finished ones; none while the job is open."""
        return [] if self.job_status else find_runs_to_relabel(self.suite, self.most)


def _count_runs(number: int) -> str:
    return f"{number} run{'' if number == 1 else 's'}"
