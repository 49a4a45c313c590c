"""Measuring of drift as a job: pages measure a series of small runs, the worker any other."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final

from scoring.engine.drift.line import WHOLE, Line, Part, lines_of
from scoring.engine.drift.measurement import measure
from scoring.engine.jobs import job_queue
from scoring.engine.jobs.progress import Progress
from scoring.models import Dataset, Job, JobKind, JobState, Run, RunState, User

AT_ONCE: Final = 1_000  # outputs of a run that is measured while somebody waits
RUNS_AT_ONCE: Final = 60
MEASURING: Final = "figures measured"


def lines_for(
    dataset: Dataset,
    by: User | None,
    *,
    scorers: Collection[str] = (),
    series: Collection[str] = (),
    part: Part = WHOLE,
    is_again: bool = False,
) -> list[Line]:
    """The dataset's lines. Series of large runs that are not measured are enqueued for the worker,
    after a failure only with `is_again`, and their lines are not `is_measured`.
    """
    lines = lines_of(dataset, scorers=scorers, series=series, part=part)
    missing = {line.series: line for line in lines if not line.is_measured}
    small = [name for name, line in missing.items() if is_small(line)]
    for name in small:
        measure(dataset, name)
    for name in missing.keys() - small:
        if is_again or failed_job(dataset, name) is None:
            enqueue_measuring(dataset, name, by)
    return lines_of(dataset, scorers=scorers, series=series, part=part) if small else lines


def failed_job(dataset: Dataset, series: str) -> Job | None:
    """The latest job that measures the series, if it has failed."""
    request = _request(dataset, series)
    jobs = Job.objects.filter(team=dataset.team_id, kind=JobKind.MEASURE_DRIFT, request=request)
    latest = jobs.order_by("pk").last()
    return latest if latest and latest.state == JobState.FAILED else None


def progress_of(dataset: Dataset, names: Collection[str]) -> Progress | None:
    """The progress of measuring these series together; None before the first figure."""
    jobs = Job.objects.filter(
        team=dataset.team_id, kind=JobKind.MEASURE_DRIFT, state=JobState.WORKING
    )
    requests = [_request(dataset, name) for name in names]
    each = [progress for job in jobs if job.request in requests and (progress := Progress.of(job))]
    if not each:
        return None
    done, total = sum(progress.done for progress in each), sum(progress.total for progress in each)
    left = [progress.seconds_left for progress in each if progress.seconds_left is not None]
    return Progress(MEASURING, done, total, done / total, max(left, default=None))


def is_small(line: Line) -> bool:
    """Whether the line is measured while a person waits for a page."""
    counts: Iterable[int] = (point.n + point.unscored for point in line.points)
    return len(line.runs) <= RUNS_AT_ONCE and max(counts) <= AT_ONCE


def follow_runs(series: Sequence[Run]) -> None:
    """Enqueue the measuring of a series after runs of it have ended, if any of them finished."""
    finished = [run for run in series if run.state == RunState.FINISHED]
    if finished:
        outputs = finished[-1].output_set
        dataset = outputs.version.dataset
        request = _request(dataset, outputs.series)
        job_queue.enqueue(JobKind.MEASURE_DRIFT, dataset.team, request)


def run_measuring(job: Job) -> dict[str, Any]:
    """Measure the series of a job: {written}, how many rows; none if the dataset is gone.

    While it runs, the job's answer has the fields of `Progress`.
    """
    started = time.monotonic()

    def report(done: int, total: int) -> None:
        left = (time.monotonic() - started) / done * (total - done)
        job.tell(Progress(MEASURING, done, total, round(done / total, 4), left)._asdict())

    dataset = Dataset.objects.filter(team=job.team, uuid=job.request["dataset"]).first()
    return {"written": measure(dataset, job.request["series"], report) if dataset else 0}


def enqueue_measuring(dataset: Dataset, series: str, by: User | None) -> None:
    job_queue.enqueue_for(JobKind.MEASURE_DRIFT, dataset.team, by, _request(dataset, series))


def _request(dataset: Dataset, series: str) -> dict[str, str]:
    return {"dataset": str(dataset.uuid), "series": series}
