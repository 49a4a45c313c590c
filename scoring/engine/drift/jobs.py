"""Measuring of drift as a job: pages measure a series of small runs, the worker any other."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final

from scoring.engine.drift.line import WHOLE, DriftLine, LineWindow, drift_lines
from scoring.engine.drift.measurement import measure_series
from scoring.engine.jobs import job_queue
from scoring.engine.jobs.progress import JobProgress
from scoring.models import Dataset, Job, JobKind, JobState, Run, RunState, User

MAX_INLINE_OUTPUTS: Final = 1_000  # outputs of a run that is measured while somebody waits
MAX_INLINE_RUNS: Final = 60
MEASURING: Final = "figures measured"


def lines_or_enqueue(
    dataset: Dataset,
    by: User | None,
    *,
    scorers: Collection[str] = (),
    series: Collection[str] = (),
    part: LineWindow = WHOLE,
    is_again: bool = False,
) -> list[DriftLine]:
    """The dataset's lines. Series of large runs that are not measured are enqueued for the worker,
    after a failure only with `is_again`, and their lines are not `is_measured`.
    """
    lines = drift_lines(dataset, scorers=scorers, series=series, part=part)
    missing = {line.series: line for line in lines if not line.is_measured}
    small = [name for name, line in missing.items() if is_small(line)]
    for name in small:
        measure_series(dataset, name)
    for name in missing.keys() - small:
        if is_again or failed_job(dataset, name) is None:
            enqueue_measurement(dataset, name, by)
    return drift_lines(dataset, scorers=scorers, series=series, part=part) if small else lines


def failed_job(dataset: Dataset, series: str) -> Job | None:
    """The latest job that measures the series, if it has failed."""
    request = _request(dataset, series)
    jobs = Job.objects.filter(team=dataset.team_id, kind=JobKind.MEASURE_DRIFT, request=request)
    latest = jobs.order_by("pk").last()
    return latest if latest and latest.state == JobState.FAILED else None


def measurement_progress(dataset: Dataset, names: Collection[str]) -> JobProgress | None:
    """The progress of measuring these series together; None before the first figure."""
    jobs = Job.objects.filter(
        team=dataset.team_id, kind=JobKind.MEASURE_DRIFT, state=JobState.WORKING
    )
    requests = [_request(dataset, name) for name in names]
    each = [
        progress for job in jobs if job.request in requests and (progress := JobProgress.of(job))
    ]
    if not each:
        return None
    done, total = sum(progress.done for progress in each), sum(progress.total for progress in each)
    left = [progress.seconds_left for progress in each if progress.seconds_left is not None]
    return JobProgress(MEASURING, done, total, done / total, max(left, default=None))


def is_small(line: DriftLine) -> bool:
    """Whether the line is measured while a person waits for a page."""
    counts: Iterable[int] = (point.n + point.unscored for point in line.points)
    return len(line.runs) <= MAX_INLINE_RUNS and max(counts) <= MAX_INLINE_OUTPUTS


def enqueue_measuring(series: Sequence[Run]) -> None:
    """Enqueue the measuring of a series after runs of it have ended, if any of them finished."""
    finished = [run for run in series if run.state == RunState.FINISHED]
    if finished:
        outputs = finished[-1].output_set
        dataset = outputs.version.dataset
        request = _request(dataset, outputs.series)
        job_queue.enqueue(JobKind.MEASURE_DRIFT, dataset.team, request)


def run_measurement(job: Job) -> dict[str, Any]:
    """Measure the series of a job: {written}, how many rows; none if the dataset is gone.

    While it runs, the job's answer has the fields of `JobProgress`.
    """
    started = time.monotonic()

    def report(done: int, total: int) -> None:
        left = (time.monotonic() - started) / done * (total - done)
        job.store_progress(
            JobProgress(MEASURING, done, total, round(done / total, 4), left)._asdict()
        )

    dataset = Dataset.objects.filter(team=job.team, uuid=job.request["dataset"]).first()
    return {"written": measure_series(dataset, job.request["series"], report) if dataset else 0}


def enqueue_measurement(dataset: Dataset, series: str, by: User | None) -> None:
    job_queue.enqueue_once(JobKind.MEASURE_DRIFT, dataset.team, by, _request(dataset, series))


def _request(dataset: Dataset, series: str) -> dict[str, str]:
    return {"dataset": str(dataset.uuid), "series": series}
