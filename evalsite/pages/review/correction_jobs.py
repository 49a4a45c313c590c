"""What the worker does for the corrections of a dataset, as their page shows it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from evalsite.pages.web.job_status import JobStatus
from scoring.engine.review.jobs import latest_jobs
from scoring.models import Dataset, Job, JobKind, JobState, OutputSet

TEXTS = {
    JobKind.APPROVE_CORRECTIONS: "Creating the next version with the approved values.",
    JobKind.CARRY_OVER: "Carrying outputs over to the latest version.",
}
FAILURES = {
    JobKind.APPROVE_CORRECTIONS: "Nothing was approved",
    JobKind.CARRY_OVER: "No outputs were carried over",
}


@dataclass(frozen=True)
class ShownJob:
    """A job that is open, or that has failed."""

    job: Job

    @property
    def status(self) -> JobStatus:
        return JobStatus(self.job)

    @property
    def text(self) -> str:
        return TEXTS[JobKind(self.job.kind)]

    @property
    def failure(self) -> str:
        return f"{FAILURES[JobKind(self.job.kind)]}: {self.job.problem}."


class CarriedOutputs(NamedTuple):
    """The name of carried-over outputs, and the id of the run that they were scored in."""

    name: str
    run: str


@dataclass(frozen=True)
class CorrectionJobs:
    """The latest approval and the latest carry-over of a dataset."""

    dataset: Dataset

    @cached_property
    def _latest(self) -> list[Job]:
        return latest_jobs(self.dataset)

    @cached_property
    def open(self) -> list[ShownJob]:
        return [ShownJob(job) for job in self._latest if job.is_open]

    @property
    def failed(self) -> list[ShownJob]:
        return [ShownJob(job) for job in self._latest if job.state == JobState.FAILED]

    @property
    def is_approving(self) -> bool:
        """Whether corrections are being approved: nothing else is decided meanwhile."""
        return any(each.job.kind == JobKind.APPROVE_CORRECTIONS for each in self.open)

    @cached_property
    def carried(self) -> CarriedOutputs | None:
        """What was carried over last, until a run scores it."""
        for job in self._latest:
            if job.kind == JobKind.CARRY_OVER and job.state == JobState.DONE:
                sets = OutputSet.objects.ready().filter(version__dataset=self.dataset, runs=None)
                outputs = sets.filter(uuid=job.answer["outputs"]).first()
                return CarriedOutputs(outputs.name, job.request["run"]) if outputs else None
        return None
