"""How far a queue is, and how fast its reviewers are."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from scoring.engine.review.queue_progress import (
    QueueCounts,
    QueueProgress,
    measure_pace,
    own_progress,
)
from scoring.engine.review.queues import QueuePlan, create_queue
from scoring.models import ReviewQueue, Run, User

START = datetime(2026, 11, 2, 9, tzinfo=UTC)


def times(*seconds: float) -> list[datetime]:
    return [START + timedelta(seconds=each) for each in seconds]


def test_the_pace_is_the_median_without_breaks_and_without_what_an_import_did() -> None:
    assert measure_pace(times(0, 10, 30, 60)) == timedelta(seconds=20)
    assert measure_pace(times(0, 10, 4_000, 4_030, 4_050)) == timedelta(seconds=20)
    assert measure_pace(times(0, 0, 0, 0, 0)) is None
    assert measure_pace(times(0, 10, 30)) is None
    assert measure_pace([]) is None


def test_a_queue_is_complete_when_every_case_has_all_its_reviews() -> None:
    counts = QueueCounts(waiting=0, reserved=0, reviewed=[1, 5])
    assert (counts.cases, counts.complete, counts.partly) == (6, 5, [(1, 1)])
    assert not counts.is_complete
    assert QueueCounts(0, 0, [0, 6]).is_complete


@pytest.fixture
def queue(run: Run, rita: User, sam: User) -> ReviewQueue:
    return create_queue(run, QueuePlan("w46", [rita, sam], 6, reviewers_per_case=2), by=rita)


@pytest.mark.django_db
def test_each_reviewer_has_a_pace_and_what_is_left_at_it(
    queue: ReviewQueue, rita: User, sam: User
) -> None:
    for task, when in zip(queue.tasks.filter(reviewer=rita), times(0, 10, 30, 60), strict=False):
        queue.tasks.filter(pk=task.pk).update(done_at=when)
    first, second = QueueProgress(queue).reviewers
    assert (first.reviewer, first.done, first.total, first.open) == (rita, 4, 6, 2)
    assert (first.pace, first.remaining) == (timedelta(seconds=20), timedelta(seconds=40))
    assert first.figures.last_done == START + timedelta(seconds=60)
    assert (second.reviewer, second.done, second.pace, second.remaining) == (sam, 0, None, None)
    assert own_progress(queue, rita).done == 4
    assert QueueProgress(queue).of(User()) is None
    assert QueueProgress(queue).counts == QueueCounts(2, 0, [4, 0])
