"""The queue of background jobs: pages and the engine enqueue them, the worker runs them.

The web process never calls a model and never loads torch. It enqueues a job, a thread of the worker
runs it, and the page polls for the answer.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from typing import Any, Final

from django.db import transaction
from django.db.models import F
from django.utils.module_loading import import_string

from scoring.core.json_text import replace_unstorable
from scoring.core.log_context import log_context
from scoring.engine.jobs import lease
from scoring.engine.jobs.isolation import is_unwritable
from scoring.models import Job, JobKind, JobState, Team, User
from scoring.models.job import REPEATABLE, UNFINISHED
from scoring.models.locks import lock_name

log = logging.getLogger(__name__)

JobResult = Mapping[str, Any]

#: The function that runs each kind of job, by dotted name so that the queue imports none of them.
#: It takes the job and returns its answer; it may raise JobError.
HANDLERS: Final[Mapping[str, str]] = {
    JobKind.TEST_CONNECTION: "scoring.engine.tryout.connection_test.run_connection_test",
    JobKind.TRY_SCORER: "scoring.engine.tryout.model_tryout.run_scorer_tryout",
    JobKind.TRY_PROMPT: "scoring.engine.tryout.model_tryout.run_prompt_tryout",
    JobKind.PREVIEW_SCORER: "scoring.engine.tryout.preview.run_preview",
    JobKind.MEASURE_VARIANCE: "scoring.engine.judges.variance.run_variance_check",
    JobKind.MEASURE_DRIFT: "scoring.engine.drift.jobs.run_measurement",
    JobKind.COMPARE: "scoring.engine.compare.jobs.run_comparison",
    JobKind.PUBLISH_DRAFT: "scoring.engine.drafts.jobs.run_publishing",
    JobKind.FIND_DUPLICATES: "scoring.engine.imports.near_duplicates.run_search",
    JobKind.FOLLOW_UP: "scoring.engine.runs.follow_up.run_follow_up",
    JobKind.RELABEL_RUNS: "scoring.engine.thresholds.jobs.run_relabelling",
    JobKind.APPROVE_CORRECTIONS: "scoring.engine.review.jobs.run_approval",
    JobKind.CARRY_OVER: "scoring.engine.review.jobs.run_carry_over",
    JobKind.SCORE_AGAIN: "scoring.engine.review.score_again.run_score_again",
}


class JobError(Exception):
    """Why a job has no complete answer; `answer` is what there is of it."""

    def __init__(self, text: str, answer: JobResult | None = None) -> None:
        super().__init__(text)
        self.text, self.answer = text, answer or {}


def enqueue(kind: JobKind, team: Team, request: Mapping[str, Any]) -> None:
    """Enqueue a job that nobody waits for, unless one with the same request is waiting.

    A waiting job will see the latest rows; a running one may not, so it does not count.
    """
    same = {"team": team, "kind": kind, "request": request}
    with transaction.atomic():
        _lock_equal_jobs(kind, team, request)
        waiting = Job.objects.filter(**same, state=JobState.WAITING)
        if not waiting.select_for_update():  # none begins before these rows are there to be read
            Job.objects.create(**same)


def enqueue_once(kind: JobKind, team: Team, by: User | None, request: Mapping[str, Any]) -> Job:
    """Enqueue a job that somebody waits for, or return the open one with the same request."""
    stored = without_nul(request)
    if job := _join(kind, team, by, stored):
        return job
    with transaction.atomic():
        _lock_equal_jobs(kind, team, stored)
        created = {"team": team, "kind": kind, "request": stored, "requested_by": by}
        return _join(kind, team, by, stored) or Job.objects.create(**created)


def _join(kind: JobKind, team: Team, by: User | None, request: Mapping[str, Any]) -> Job | None:
    """The open job with this request, which the person waits for from now on."""
    for job in Job.objects.unfinished().filter(team=team, kind=kind).order_by("pk"):
        if job.request == request:
            if job.requested_by_id is None and by:
                Job.objects.filter(pk=job.pk).update(requested_by=by)
            return job
    return None


def _lock_equal_jobs(kind: JobKind, team: Team, request: Mapping[str, Any]) -> None:
    """Two who ask the same at once ask one after the other."""
    lock_name("job", json.dumps([kind, team.pk, request], sort_keys=True, default=str))


def latest_job(kind: JobKind, team: Team, by: User, request: Mapping[str, Any]) -> Job | None:
    """The person's latest job of the kind, if its request is this one."""
    job = Job.objects.filter(team=team, kind=kind, requested_by=by).order_by("pk").last()
    return job if job and job.request == without_nul(request) else None


def run_job(job: Job) -> None:
    """Run the job and store its answer, or in `problem` why there is none.

    Raises where the database cannot be used at present and the job can be repeated.
    """
    with log_context(job=job.uuid):
        _run_job(job)


def _run_job(job: Job) -> None:
    row = Job.objects.filter(pk=job.pk)
    row.update(state=JobState.WORKING, try_count=F("try_count") + 1, answer={})
    try:
        function: Callable[[Job], JobResult] = import_string(HANDLERS[job.kind])
        answer = without_nul(function(job))
        state, problem = JobState.DONE, ""
    except JobError as fault:
        answer, state, problem = without_nul(fault.answer), JobState.FAILED, fault.text
    except Exception as fault:
        if job.kind in REPEATABLE and is_unwritable(fault):
            raise
        log.exception("job %s (%s) failed", job.uuid, job.kind)
        answer, state, problem = {}, JobState.FAILED, f"it failed with {type(fault).__name__}"
    row.update(state=state, answer=answer, problem=problem, lease_owner="", lease_expires_at=None)


def run_waiting(team: Team, *kinds: JobKind) -> None:
    """Run all waiting jobs of these kinds in this process, kind by kind: there may be no worker."""
    for kind in kinds:
        waiting = Job.objects.unfinished().filter(team=team, kind=kind).select_related("team")
        while job := waiting.order_by("pk").first():
            if not lease.acquire(job):
                break
            run_job(job)


def give_back(job: Job) -> None:
    """End this worker's part in a job without an answer: another may run it, or it has failed."""
    if job.kind in REPEATABLE:
        requeue_job(job)
    else:
        fail_abandoned(job)


def requeue_job(job: Job) -> None:
    """Let another worker run it, or this one after a restart."""
    row = Job.objects.filter(pk=job.pk, state__in=UNFINISHED)
    row.update(state=JobState.WAITING, lease_owner="", lease_expires_at=None)


def fail_abandoned(job: Job) -> None:
    """Fail a job whose worker ended. It is not run again by itself: it may have cost money."""
    problem = "the worker ended meanwhile; ask again"
    row = Job.objects.filter(pk=job.pk)
    row.update(state=JobState.FAILED, problem=problem, lease_owner="", lease_expires_at=None)


def without_nul(value: Any) -> Any:
    """The value as JSON that every database stores; what is not JSON becomes its text."""
    text = json.dumps(value, default=str, ensure_ascii=False, allow_nan=False)
    return replace_unstorable(json.loads(text))
