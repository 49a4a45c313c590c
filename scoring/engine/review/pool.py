"""Pools: reviewers take the cases of a queue one at a time, each reserved for a while."""

from __future__ import annotations

from collections.abc import Collection

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from scoring.engine.review.given_verdicts import is_given, mark_given
from scoring.engine.review.task_order import hide_reasons
from scoring.models import AuditEntry, ReviewQueue, ReviewTask, User


def take_task(queue: ReviewQueue, person: User) -> ReviewTask | None:
    """The case that the person holds, else the next free one; None where none is free for them.

    Nobody outside the pool gets any. Ones that the person skipped come last, and ones that they
    reviewed elsewhere not at all.
    """
    if not queue.pool.contains(person):
        return None
    own = queue.tasks.filter(done_at=None).of(person)
    for held in own.filter(skipped_at=None).order_by("position"):
        if own.filter(pk=held.pk, skipped_at=None).reserve(person):  # nobody took it meanwhile
            held.refresh_from_db()
            return held
    others = ReviewTask.objects.of(person).exclude(pk=OuterRef("pk"))
    is_theirs = Exists(others.filter(queue=OuterRef("queue"), output=OuterRef("output")))
    offered = queue.tasks.filter(~is_theirs & ~is_given(queue, person))
    unseen = offered.exclude(reviewer=person).order_by("position", "pk")
    skipped = offered.of(person).order_by("skipped_at")
    return unseen.take(person) or skipped.take(person)


def find_task(queue: ReviewQueue, person: User, number: int) -> ReviewTask | None:
    """The person's task of this number; one of a pool is reserved for them.

    Their reservation may have ended meanwhile, and somebody else may have taken it since. Where no
    reviewer of it is lacking any more, the case is theirs all the same, lest what they wrote is
    lost: it counts as one more review.
    """
    tasks = queue.tasks.filter(position=number).select_related("output__case").order_by("pk")
    if own := tasks.of(person).first():
        if queue.is_pooled:
            tasks.filter(pk=own.pk, done_at=None).of(person).reserve(person)
        return own
    if not queue.pool.contains(person):
        return None
    return tasks.take(person) or _extra_task(tasks.first(), person)


def release_task(task: ReviewTask) -> None:
    """Give a case back to the pool; it comes last for whoever skipped it."""
    now = timezone.now()
    own = ReviewTask.objects.filter(pk=task.pk, done_at=None, reviewer=task.reviewer_id)
    own.update(skipped_at=now, reserved_until=now)


def join_pool(queue: ReviewQueue, person: User) -> None:
    """See `change_pool`."""
    with transaction.atomic():
        _lock(queue)
        change_pool(queue, {*queue.pool.all(), person}, person)


def leave_pool(queue: ReviewQueue, person: User) -> None:
    """See `change_pool`."""
    with transaction.atomic():
        _lock(queue)
        change_pool(queue, set(queue.pool.all()) - {person}, person)


def change_pool(queue: ReviewQueue, people: Collection[User], by: User | None) -> None:
    """These people take cases of the queue from now on; what others hold is free again.

    An output that one of them reviewed before counts as theirs.
    """
    with transaction.atomic():
        _lock(queue)
        before = {person.email for person in queue.pool.all()}
        hide_reasons(queue, queue.tasks.filter(done_at=None), people)
        queue.pool.set(people)
        left = queue.tasks.filter(done_at=None, reviewer__isnull=False)
        left.exclude(reviewer__in=people).update(
            reviewer=None, reserved_until=None, skipped_at=None
        )
        mark_given(queue)
        old, new = sorted(before), sorted(person.email for person in people)
        if old != new:
            AuditEntry.objects.record(
                queue.team,
                by,
                "review_queue.pool_changed",
                queue,
                old={"reviewers": old},
                new={"reviewers": new},
            )


def _lock(queue: ReviewQueue) -> None:
    """Until the transaction ends, so that two changes of the pool follow each other."""
    ReviewQueue.objects.select_for_update().get(pk=queue.pk)


def _extra_task(task: ReviewTask | None, person: User) -> ReviewTask | None:
    """A task like this one for the person, not stored."""
    if task is None:
        return None
    columns = ("queue", "output", "position", "reason", "detail")
    return ReviewTask(reviewer=person, **{name: getattr(task, name) for name in columns})
