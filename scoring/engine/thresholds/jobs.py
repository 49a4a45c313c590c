"""Re-labelling the last runs of a suite as a job, for runs of many cases take seconds each."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from scoring.engine.jobs import job_queue
from scoring.engine.jobs.job_queue import JobError
from scoring.engine.jobs.progress import Stage, StageProgress
from scoring.engine.thresholds.relabelling import find_runs_to_relabel, relabel_runs
from scoring.models import Job, JobKind, Suite, User


def enqueue_relabelling(suite: Suite, by: User | None) -> Job:
    """Enqueue it, or return the job that is open already."""
    return job_queue.enqueue_once(JobKind.RELABEL_RUNS, suite.team, by, _request(suite))


def latest_job(suite: Suite) -> Job | None:
    """The latest job of the suite within a day."""
    jobs = Job.objects.filter(team=suite.team_id, kind=JobKind.RELABEL_RUNS)
    return jobs.filter(request=_request(suite)).order_by("pk").last()


def run_relabelling(job: Job) -> dict[str, Any]:
    """Label the last runs of a job's suite by its thresholds; its request is {suite}, a UUID.

    While it runs, the job's answer has the fields of `JobProgress`, in the end those of
    `RelabelledRuns`.
    """
    suite = Suite.objects.filter(team=job.team, uuid=UUID(job.request["suite"])).first()
    if suite is None:
        raise JobError("the suite is no longer there")
    runs = find_runs_to_relabel(suite)
    stages = iter([Stage("runs", max(1, len(runs)))])
    report = StageProgress(stages, lambda progress: job.store_progress(progress._asdict())).begin(
        len(runs)
    )
    done = relabel_runs(runs, by=job.requested_by, report=lambda n: report(n / len(runs)))
    return done._asdict()


def _request(suite: Suite) -> dict[str, str]:
    return {"suite": str(suite.uuid)}
