"""Comparisons as jobs: a page compares small runs itself, the worker compares large ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID

from scoring.engine.compare import comparison
from scoring.engine.jobs import job_queue
from scoring.engine.jobs.job_queue import JobError
from scoring.engine.jobs.progress import JobProgress
from scoring.engine.runs.neighbours import next_run, run_baseline
from scoring.models import Comparison, Job, JobKind, JobState, Run, RunState, User
from scoring.models.job import UNFINISHED
from scoring.models.pairs.pair_index import PairIndex

MAX_INLINE_PAIRS: Final = 1_000  # pairs that are compared while somebody waits
REQUESTED_STATES: Final = (
    *UNFINISHED,
    JobState.FAILED,
)  # states of a job that is not enqueued once more


class ComparisonState(NamedTuple):
    """Whether the pairs of two runs are indexed, and whether that was asked for already."""

    is_compared: bool
    is_requested: bool


def compare_or_enqueue(baseline: Run, candidate: Run, by: User | None) -> Comparison | None:
    """The comparison; None where large runs are not compared yet, which is then enqueued.

    Raises NotComparableError.
    """
    if is_small(baseline, candidate):
        return comparison.compare_runs(baseline, candidate)
    comparison.check_comparable(baseline, candidate)
    stored = comparison.stored_comparison(baseline, candidate)
    if stored is None:
        enqueue_comparison(baseline, candidate, by)
    return stored


def run_comparison(job: Job) -> dict[str, Any]:
    """Compare the two runs of a job, whose request is {baseline, candidate}, two UUIDs.

    While it runs, the job's answer has the fields of `JobProgress`; in the end it is empty.
    """
    runs = Run.objects.filter(team=job.team).select_related("output_set__version__dataset")
    baseline = runs.filter(uuid=UUID(job.request["baseline"])).first()
    candidate = runs.filter(uuid=UUID(job.request["candidate"])).first()
    if baseline is None or candidate is None:
        raise JobError("one of the runs is no longer there")
    try:
        comparison.compare_runs(
            baseline, candidate, lambda progress: job.store_progress(progress._asdict())
        )
    except comparison.NotComparableError as fault:
        raise JobError(fault.text) from None
    return {}


def is_small(baseline: Run, candidate: Run) -> bool:
    """Whether there cannot be more pairs than are compared at once."""
    return min(baseline.output_count or 0, candidate.output_count or 0) <= MAX_INLINE_PAIRS


def failed_job(baseline: Run, candidate: Run) -> Job | None:
    """The latest job that compares the runs, if it has failed."""
    request = _request(baseline, candidate)
    jobs = Job.objects.filter(team=candidate.team_id, kind=JobKind.COMPARE, request=request)
    latest = jobs.order_by("pk").last()
    return latest if latest and latest.state == JobState.FAILED else None


def comparison_progress(baseline: Run, candidates: Sequence[Run]) -> dict[int, JobProgress]:
    """By the candidate's id; without those that no worker is comparing at the moment."""
    jobs = Job.objects.filter(
        team=candidates[0].team_id, kind=JobKind.COMPARE, state=JobState.WORKING
    )
    by_candidate = {str(run.uuid): run.pk for run in candidates}
    return {
        by_candidate[job.request["candidate"]]: progress
        for job in jobs
        if job.request["baseline"] == str(baseline.uuid)
        and job.request["candidate"] in by_candidate
        and (progress := JobProgress.of(job))
    }


def enqueue_comparisons(series: Sequence[Run]) -> None:
    """Enqueue comparisons after runs of one series, in the order of time, have ended.

    Of several runs that ended together only the newest and large ones are compared: small runs of
    the past are compared when somebody opens the page.
    """
    finished = [run for run in series if run.state == RunState.FINISHED]
    for run in finished:
        if run == finished[-1] or not is_small(run, run):
            enqueue_after(run)


def enqueue_after(run: Run) -> None:
    """Enqueue the comparison of a finished run with its baseline, if it has one.

    Runs may end in another order than that of their outputs, so the run after this one may still
    lack its comparison with it.
    """
    if run.state != RunState.FINISHED:
        return
    if baseline := run_baseline(run):
        job_queue.enqueue(JobKind.COMPARE, run.team, _request(baseline, run))
    following = next_run(run)
    if following and run_baseline(following) == run:
        job_queue.enqueue(JobKind.COMPARE, run.team, _request(run, following))


def read_comparison_state(baseline: Run, candidate: Run) -> ComparisonState:
    """Two queries."""
    index = PairIndex.objects.current().filter(
        comparison__baseline=baseline, comparison__candidate=candidate
    )
    jobs = Job.objects.filter(
        team=candidate.team_id,
        kind=JobKind.COMPARE,
        request__baseline=str(baseline.uuid),
        request__candidate=str(candidate.uuid),
    )
    latest = jobs.order_by("-pk").values_list("state", flat=True).first()
    return ComparisonState(index.exists(), latest in REQUESTED_STATES)


def enqueue_large(baseline: Run, candidate: Run) -> None:
    """Enqueue the comparison of two large runs that have ended, which indexes rare pairs."""
    is_unfinished = baseline.is_unfinished or candidate.is_unfinished
    if not (is_unfinished or is_small(baseline, candidate)):
        request = _request(baseline, candidate)
        Job.objects.create(team=candidate.team, kind=JobKind.COMPARE, request=request)


def enqueue_comparison(baseline: Run, candidate: Run, by: User | None) -> None:
    job_queue.enqueue_once(JobKind.COMPARE, candidate.team, by, _request(baseline, candidate))


def _request(baseline: Run, candidate: Run) -> dict[str, str]:
    return {"baseline": str(baseline.uuid), "candidate": str(candidate.uuid)}
