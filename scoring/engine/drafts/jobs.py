"""Publishing as a job: a page publishes a small draft itself, the worker a large one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from django.db import transaction
from django.utils import timezone

from scoring.engine.drafts.edits import DraftError
from scoring.engine.drafts.publishing import (
    check_publishable,
    lock_draft,
    publish_draft,
    source_name,
)
from scoring.engine.jobs import job_queue
from scoring.engine.jobs.job_queue import JobError
from scoring.engine.jobs.progress import JobProgress
from scoring.models import Case, DatasetVersion, Draft, EditKind, Job, JobKind, User

MAX_INLINE_CASES: Final = 5_000  # cases a version may have to be made while somebody waits


def publish_or_enqueue(
    draft: Draft, message: str, by: User | None, score_again: Sequence[str] = ()
) -> DatasetVersion | None:
    """Publish the draft now, or leave it to the worker where the version is large: None then.

    The worker scores the runs of these ids again over the version. Raises DraftError.
    """
    with transaction.atomic():
        now = lock_draft(draft)
        if now.is_publishing:
            return None
        check_publishable(now, message)
        Draft.objects.filter(pk=draft.pk).update(is_publishing=True, message=message.strip())
        if now.based_on.case_count <= MAX_INLINE_CASES:
            version = publish_draft(draft, by)
            _enqueue_score_again(version, score_again, by)
            return version
        request: dict[str, Any] = {"draft": str(draft.uuid)}
        request |= {"score_again": sorted(score_again)} if score_again else {}
        job_queue.enqueue_once(JobKind.PUBLISH_DRAFT, now.dataset.team, by, request)
    return None


def run_publishing(job: Job) -> Mapping[str, Any]:
    """Publish the draft of a job: its answer is {version}, the number. Raises JobError."""
    draft = Draft.objects.filter(uuid=job.request["draft"]).first()
    if draft is None:
        raise JobError("the draft is gone")
    try:
        version = draft.published or publish_draft(draft, job.requested_by)
    except DraftError as fault:
        raise JobError(str(fault)) from fault
    _enqueue_score_again(version, job.request.get("score_again", ()), job.requested_by)
    return {"version": version.number}


def _enqueue_score_again(version: DatasetVersion, runs: Sequence[str], by: User | None) -> None:
    dataset = version.dataset
    request = {"dataset": str(dataset.uuid), "version": version.number, "runs": sorted(runs)}
    if runs:
        job_queue.enqueue_once(JobKind.SCORE_AGAIN, dataset.team, by, request)


def publish_progress(draft: Draft) -> JobProgress:
    """How far the worker is with a draft that it publishes: cases of the next version stored."""
    kinds = draft.counts()
    total = draft.based_on.case_count + kinds[EditKind.ADD] - kinds[EditKind.DELETE]
    versions = DatasetVersion.with_loading.filter(
        dataset=draft.dataset_id, published_at=None, source_name=source_name(draft)
    )
    version = versions.order_by("-pk").first()
    positions = Case.objects.filter(version=version).order_by("-position")
    done = (positions.values_list("position", flat=True).first() or 0) if version else 0
    seconds = (timezone.now() - version.created_at).total_seconds() if version else 0.0
    left = max(total - done, 0) * seconds / done if done else None
    return JobProgress("cases stored", done, total, done / max(total, 1), left)


def reopen_abandoned_drafts() -> None:
    """Reopen the drafts that no job publishes any more."""
    jobs = Job.objects.unfinished().filter(kind=JobKind.PUBLISH_DRAFT)
    publishing = [job.request["draft"] for job in jobs]
    abandoned = Draft.objects.filter(is_publishing=True).exclude(uuid__in=publishing)
    abandoned.update(is_publishing=False)
