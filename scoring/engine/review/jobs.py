"""Approved corrections and carried-over outputs as jobs: a page does small ones itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from scoring.engine.drafts.edits import DraftError
from scoring.engine.imports.cleanup import remove_version
from scoring.engine.jobs import job_queue
from scoring.engine.jobs.job_queue import JobError
from scoring.engine.jobs.progress import ReportShare, Stage, StageProgress
from scoring.engine.review import corrections
from scoring.engine.review.carry_over import (
    CarryOverError,
    carry_over,
    find_carried,
    remove_unfinished,
)
from scoring.engine.review.corrections import CorrectionError
from scoring.models import (
    Correction,
    CorrectionState,
    Dataset,
    DatasetVersion,
    Job,
    JobKind,
    OutputSet,
    Run,
    User,
    VersionState,
)
from scoring.models.reviews.correction import DecidedError

CASES_AT_ONCE: Final = 5_000  # of the version that is made while somebody waits
OUTPUTS_AT_ONCE: Final = 10_000  # that are copied while somebody waits
_KINDS: Final = (JobKind.APPROVE_CORRECTIONS, JobKind.CARRY_OVER)


def approve_or_enqueue(
    dataset: Dataset, chosen: Sequence[Correction], *, by: User
) -> DatasetVersion | None:
    """See `corrections.approve`; None where the version is large and the worker makes it.

    What forbids an approval is raised at once either way.
    """
    if dataset.latest is None or dataset.latest.case_count <= CASES_AT_ONCE:
        return corrections.approve(dataset, chosen, by=by)
    corrections.plan_approval(dataset, chosen, by)
    request = {"dataset": str(dataset.uuid), "corrections": sorted(str(c.uuid) for c in chosen)}
    job_queue.enqueue_once(JobKind.APPROVE_CORRECTIONS, dataset.team, by, request)
    return None


def carry_over_or_enqueue(run: Run, version: DatasetVersion, by: User) -> OutputSet | None:
    """See `carry_over`; None where the run has many outputs and the worker copies them."""
    outputs = run.output_set
    made = find_carried(outputs, version)
    if made or outputs.output_count <= OUTPUTS_AT_ONCE:
        return made or carry_over(outputs, version, by)
    request = {
        "dataset": str(version.dataset.uuid),
        "run": str(run.uuid),
        "version": version.number,
    }
    job_queue.enqueue_once(JobKind.CARRY_OVER, run.team, by, request)
    return None


def latest_jobs(dataset: Dataset) -> list[Job]:
    """The latest approval and the latest carry-over of the dataset within a day."""
    jobs = Job.objects.filter(team=dataset.team_id, request__dataset=str(dataset.uuid))
    found = (jobs.filter(kind=kind).order_by("pk").last() for kind in _KINDS)
    return [job for job in found if job]


def run_approval(job: Job) -> Mapping[str, Any]:
    """Approve the corrections of a job, {dataset, corrections}; its answer is {version}.

    While it runs, the job's answer has the fields of `JobProgress`.
    """
    datasets = Dataset.objects.filter(team=job.team, uuid=UUID(job.request["dataset"]))
    dataset = datasets.select_related("team", "latest").first()
    if dataset is None or job.requested_by is None:
        raise JobError("the dataset or the person who approved is no longer there")
    wanted = [UUID(text) for text in job.request["corrections"]]
    chosen = list(Correction.objects.for_list().filter(dataset=dataset, uuid__in=wanted))
    if chosen and all(each.state == CorrectionState.APPROVED for each in chosen):
        return {"version": chosen[0].version.number if chosen[0].version else None}
    if job.try_count:  # before this one
        _remove_unfinished_version(dataset)
    report = _progress(job, dataset.latest.case_count if dataset.latest else 0, "cases stored")
    try:
        version = corrections.approve(dataset, chosen, by=job.requested_by, report=report)
    except (CorrectionError, DecidedError, DraftError) as refused:
        raise JobError(_without_stop(str(refused))) from None
    return {"version": version.number}


def run_carry_over(job: Job) -> Mapping[str, Any]:
    """Carry the outputs of a run over, {dataset, run, version}; its answer is {outputs}, a UUID.

    While it runs, the job's answer has the fields of `JobProgress`.
    """
    runs = Run.objects.filter(team=job.team, uuid=UUID(job.request["run"]))
    run = runs.select_related("output_set__version__dataset__team").first()
    versions = DatasetVersion.objects.select_related("dataset__team")
    version = versions.filter(
        dataset__team=job.team,
        dataset__uuid=UUID(job.request["dataset"]),
        number=job.request["version"],
    ).first()
    if run is None or version is None or job.requested_by is None:
        raise JobError("the run, the version or the person who asked is no longer there")
    if job.try_count:  # before this one
        remove_unfinished(run.output_set, version)
    report = _progress(job, run.output_set.output_count, "outputs copied")
    try:
        made = carry_over(run.output_set, version, job.requested_by, report)
    except CarryOverError as refused:
        raise JobError(_without_stop(str(refused))) from None
    return {"outputs": str(made.uuid)}


def _progress(job: Job, total: int, doing: str) -> ReportShare:
    stages = iter([Stage(doing, max(1, total))])
    return StageProgress(stages, lambda progress: job.store_progress(progress._asdict())).begin(
        total
    )


def _remove_unfinished_version(dataset: Dataset) -> None:
    """What a worker that was killed left of the version that this job makes."""
    assert dataset.latest is not None  # noqa: S101  corrections need a version
    source = corrections.source_name(dataset.latest)
    left = DatasetVersion.with_loading.filter(dataset=dataset, source_name=source)
    for version in left.filter(state=VersionState.LOADING):
        remove_version(version)


def _without_stop(text: str) -> str:
    """The sentence as the problem of a job, which is part of a longer one."""
    return text[:1].lower() + text[1:].removesuffix(".")
