"""The progress of drift figures that the worker has yet to compute."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from evalsite.pages.compare.links import change_query
from evalsite.pages.web.responses import SignedInRequest
from scoring.engine.drift import DriftLine, jobs
from scoring.engine.jobs.progress import JobProgress
from scoring.engine.runs.progress import find_worker_problem
from scoring.models import WorkQueue

RETRY = "again"  # in the address: to measure again after a failure


class DriftProgress(NamedTuple):
    """`problem` is why it failed, `cause` why there is no progress; `here` is the page's address.

    `progress` is None before the worker has measured the first figure.
    """

    problem: str
    cause: str
    progress: JobProgress | None
    here: str
    again: str


def get_drift_progress(
    request: SignedInRequest, lines: Sequence[DriftLine]
) -> DriftProgress | None:
    """None where all lines are measured."""
    waiting = {line.series: line.dataset for line in lines if not line.is_measured}
    if not waiting:
        return None
    failed = (jobs.failed_job(dataset, series) for series, dataset in waiting.items())
    problem = next((job.problem for job in failed if job), "")
    return DriftProgress(
        problem,
        "" if problem else find_worker_problem(WorkQueue.JOBS),
        jobs.measurement_progress(lines[0].dataset, waiting),
        here=f"{request.path}{change_query(request.GET, RETRY)}".rstrip("?"),
        again=f"{request.path}{change_query(request.GET, **{RETRY: '1'})}",
    )
