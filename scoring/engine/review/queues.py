"""Draws the tasks of a review queue, and shares them out among its reviewers."""

from __future__ import annotations

import random
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import islice
from typing import Final, TypeVar

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from scoring.engine.review.given_verdicts import mark_given
from scoring.engine.review.informative_outputs import Candidate, most_informative, selected_outputs
from scoring.engine.review.pairwise import differing_outputs, task_pair
from scoring.engine.review.pool import release_task, take_task
from scoring.engine.review.task_order import hide_reasons, shuffle, tells_reasons
from scoring.models import (
    AuditEntry,
    QuestionSet,
    QueueOrder,
    ReviewQueue,
    ReviewTask,
    Run,
    TaskReason,
    User,
)
from scoring.models.case_list.filters import NO_FILTERS, CaseFilters
from scoring.models.reviews.queue import MAX_CASES, MAX_REVIEWERS_PER_CASE

_BATCH: Final = 1_000
_IS_OPEN: Final = Q(done_at=None)
_MAX_SEEDS: Final = 2**32
_Row = TypeVar("_Row")


NOTHING_SCORED: Final = "The run has no scored outputs yet."
NOTHING_PASSES: Final = "No case of the run passes these filters."
NOTHING_DIFFERS: Final = "The two runs have no different outputs for the same input."


class QueueError(Exception):
    """The queue cannot be created or changed; the text says why."""


@dataclass(frozen=True)
class QueuePlan:
    """What somebody asks for: how many cases of the run, in which order, reviewed by whom.

    `filters` restrict the cases, and `query` is their text in the address of the run's page.
    `blind` are outputs of which whoever asks may learn no verdict, and so not by the drawing.
    """

    name: str
    reviewers: Sequence[User]
    case_count: int
    order: QueueOrder = QueueOrder.VALUE
    reviewers_per_case: int = 1
    is_pooled: bool = False  # whether the reviewers take the cases one at a time
    question_set: QuestionSet | None = None  # asked beside the verdict
    due_on: date | None = None
    filters: CaseFilters = NO_FILTERS
    query: str = ""
    blind: frozenset[int] = frozenset()
    baseline: Run | None = None  # whose outputs people compare with the run's
    seed: int = field(default_factory=lambda: secrets.randbelow(_MAX_SEEDS))


def create_queue(run: Run, plan: QueuePlan, by: User | None) -> ReviewQueue:
    """Store the queue with its tasks. Raises QueueError where it would have none."""
    _check(plan)
    candidates = _draw(run, plan)
    if not candidates:
        raise QueueError(_find_cause(plan))
    return store_queue(run, plan, candidates, by)


def store_queue(
    run: Run, plan: QueuePlan, candidates: Sequence[Candidate], by: User | None
) -> ReviewQueue:
    """Store a queue of these outputs, however they were drawn.

    The most informative ones stand in that order for nobody but whoever drew them: it would tell
    others the reasons. They get them in an order drawn from the queue's seed.
    """
    if tells_reasons(plan.order, plan.reviewers, by):
        candidates = shuffle(candidates, plan.seed)
    with transaction.atomic():
        queue = ReviewQueue.objects.create(
            team=run.team,
            run=run,
            baseline=plan.baseline,
            name=plan.name,
            order=plan.order,
            filters=plan.query if plan.filters.parts else "",
            seed=plan.seed,
            case_count=len(candidates),
            reviewers_per_case=plan.reviewers_per_case,
            is_pooled=plan.is_pooled,
            question_set=plan.question_set,
            due_on=plan.due_on,
            created_by=by,
        )
        if plan.is_pooled:
            queue.pool.set(plan.reviewers)
        ReviewTask.objects.bulk_create(_share_out(queue, candidates, plan), batch_size=_BATCH)
        mark_given(queue)
        new = {
            "run": str(run.uuid),
            "order": plan.order.value,
            **({"baseline": str(plan.baseline.uuid)} if plan.baseline else {}),
            "cases": len(candidates),
            **({"is_pooled": True} if plan.is_pooled else {}),
            **({"questions": plan.question_set.label} if plan.question_set else {}),
            "reviewers": [reviewer.email for reviewer in plan.reviewers],
        }
        AuditEntry.objects.record(run.team, by, "review_queue.created", queue, new=new)
    return queue


def close_queue(queue: ReviewQueue, by: User | None) -> None:
    """Take its open tasks off everybody's list; what was reviewed stays."""
    _set_closed(queue, "review_queue.closed", by, is_closed=True)


def reopen_queue(queue: ReviewQueue, by: User | None) -> None:
    _set_closed(queue, "review_queue.reopened", by, is_closed=False)


def reassign(queue: ReviewQueue, old: User, new: User, by: User | None) -> int:
    """Give the open tasks of one person to another; returns how many.

    An output that the other person has in this queue already stays with the first one. Tasks that
    are in the order of their reasons, see `store_queue`, are put in another one.
    """
    own = queue.tasks.filter(reviewer=new).values("output")
    with transaction.atomic():
        tasks = queue.tasks.filter(reviewer=old, done_at=None).exclude(output__in=own)
        hide_reasons(queue, tasks, [new])
        count = tasks.update(reviewer=new, skipped_at=None)
        mark_given(queue)
        AuditEntry.objects.record(
            queue.team,
            by,
            "review_queue.reassigned",
            queue,
            old={"reviewer": old.email},
            new={"reviewer": new.email, "tasks": count},
        )
    return count


def next_task(queue: ReviewQueue, reviewer: User) -> ReviewTask | None:
    """The person's next open task; skipped ones come last. None without any.

    Of a pool it is taken, unless all others are done or reserved.
    """
    if queue.is_pooled:
        return take_task(queue, reviewer)
    tasks = queue.tasks.filter(reviewer=reviewer, done_at=None)
    return tasks.in_turn().first()


def skip(task: ReviewTask) -> bool:
    """Put the task behind the person's other open ones; returns whether it comes up again.

    One from a pool is free for others until then. A pair whose other output no longer exists is
    done instead: it can never be compared.
    """
    is_lost = task.queue.is_pairwise and task_pair(task.queue, task) is None
    if task.queue.is_pooled and not is_lost:
        release_task(task)
        return True
    changed = "done_at" if is_lost else "skipped_at"
    setattr(task, changed, timezone.now())
    task.save(update_fields=[changed])
    return not is_lost


def _check(plan: QueuePlan) -> None:
    if not plan.reviewers:
        raise QueueError("A queue needs at least one reviewer.")
    if not 1 <= plan.case_count <= MAX_CASES:
        raise QueueError(f"A queue has from 1 to {MAX_CASES:,} cases.")
    most = min(MAX_REVIEWERS_PER_CASE, len(plan.reviewers))
    if not 1 <= plan.reviewers_per_case <= most:
        people = f"{len(plan.reviewers)} reviewer{'s' if len(plan.reviewers) > 1 else ''}"
        raise QueueError(f"{people} can give each case from 1 to {most} independent reviews.")


def _find_cause(plan: QueuePlan) -> str:
    """Why a queue would have no cases."""
    if plan.baseline is not None:
        return NOTHING_DIFFERS
    return NOTHING_PASSES if plan.filters.parts else NOTHING_SCORED


def _draw(run: Run, plan: QueuePlan) -> list[Candidate]:
    if plan.order == QueueOrder.VALUE:
        return most_informative(run, plan.filters, plan.case_count, plan.blind)
    outputs = list(selected_outputs(run, plan.filters, plan.blind))
    count = min(plan.case_count, len(outputs))
    if plan.baseline is None:
        drawn = random.Random(plan.seed).sample(outputs, count)  # noqa: S311
    else:
        random.Random(plan.seed).shuffle(outputs)  # noqa: S311
        drawn = list(islice(differing_outputs(plan.baseline, outputs), count))
    return [Candidate(output, TaskReason.SAMPLED) for output in drawn]


def _share_out(
    queue: ReviewQueue, candidates: Sequence[Candidate], plan: QueuePlan
) -> list[ReviewTask]:
    """Each case goes to the reviewers whose turn it is, so that everybody gets as many.

    In a pool nobody has any yet.
    """
    people, each = plan.reviewers, plan.reviewers_per_case
    return [
        ReviewTask(
            queue=queue,
            output_id=candidate.output,
            reviewer=None if plan.is_pooled else people[(place * each + turn) % len(people)],
            position=place + 1,
            reason=candidate.reason,
            detail=candidate.detail,
        )
        for place, candidate in enumerate(candidates)
        for turn in range(each)
    ]


def _set_closed(queue: ReviewQueue, action: str, by: User | None, *, is_closed: bool) -> None:
    rows = ReviewQueue.objects.filter(pk=queue.pk, closed_at__isnull=is_closed)
    closed_at = timezone.now() if is_closed else None
    with transaction.atomic():
        if rows.update(closed_at=closed_at):
            AuditEntry.objects.record(queue.team, by, action, queue)
    queue.closed_at = closed_at
