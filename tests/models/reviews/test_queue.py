"""Queues and tasks as rows: progress, what is overdue, and what was drawn at random."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from evalsite.middleware.signed_in import Backend
from scoring.models import (
    Output,
    QueueOrder,
    ReviewQueue,
    ReviewTask,
    Run,
    TaskReason,
    User,
)
from scoring.models.reviews.queue import may_have_tasks, sampled_outputs
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.run_states import finished_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> Run:
    cases = [{"input": f"q{n}", "expected": "a"} for n in range(3)]
    return finished_run(make_outputs(make_dataset(cases), ["a", "b", "c"]))


def make_queue(run: Run, reviewer: User, **fields: object) -> ReviewQueue:
    queue = ReviewQueue.objects.create(team=run.team, run=run, name="w46", case_count=3, **fields)
    outputs = Output.objects.order_by("pk")
    ReviewTask.objects.bulk_create(
        ReviewTask(
            queue=queue, output=output, reviewer=reviewer, position=n, reason=TaskReason.UNSEEN
        )
        for n, output in enumerate(outputs, start=1)
    )
    return queue


def test_progress_counts_what_is_done_and_what_is_open_for_the_person(
    run: Run, alice: User, bob: User
) -> None:
    queue = make_queue(run, alice)
    ReviewTask.objects.mark_done(queue.tasks.get(position=2).output, alice)
    listed = ReviewQueue.objects.with_progress(alice).get()
    assert (listed.total, listed.done, listed.own_open) == (3, 1, 2)
    assert ReviewQueue.objects.with_progress(bob).get().own_open == 0
    ReviewTask.objects.mark_open(queue.tasks.get(position=2).output, alice)
    assert ReviewTask.objects.open().of(alice).count() == 3


def test_a_review_does_no_pairwise_task(run: Run, alice: User) -> None:
    pairwise = make_queue(run, alice, baseline=run)
    assert pairwise.is_pairwise
    ReviewTask.objects.mark_done(pairwise.tasks.get(position=1).output, alice)
    assert not pairwise.tasks.exclude(done_at=None).exists()


def test_an_open_queue_is_overdue_the_day_after(run: Run) -> None:
    today = timezone.localdate()
    queue = ReviewQueue(team=run.team, run=run, due_on=today)
    assert not queue.is_overdue
    queue.due_on = today - timedelta(days=1)
    assert queue.is_overdue
    queue.closed_at = timezone.now()
    assert not queue.is_overdue
    assert not queue.is_open


def test_only_whole_random_samples_were_drawn_at_random(run: Run, alice: User) -> None:
    make_queue(run, alice, order=QueueOrder.VALUE)
    make_queue(run, alice, order=QueueOrder.RANDOM, filters="verdict=fail")
    make_queue(run, alice, order=QueueOrder.RANDOM, baseline=run)
    assert sampled_outputs(run) == set()
    sample = make_queue(run, alice, order=QueueOrder.RANDOM)
    assert sample.is_random_sample
    assert sampled_outputs(run) == set(Output.objects.values_list("pk", flat=True))


def test_skipped_tasks_come_last(run: Run, alice: User) -> None:
    queue = make_queue(run, alice)
    queue.tasks.filter(position=1).update(skipped_at=timezone.now())
    assert [task.position for task in queue.tasks.in_turn()] == [2, 3, 1]


def test_a_queue_belongs_to_its_team(run: Run, alice: User, charlie: User) -> None:
    make_queue(run, alice)
    assert ReviewQueue.objects.visible_to(alice).count() == 1
    assert not ReviewQueue.objects.visible_to(charlie).exists()


def test_the_order_is_named_as_what_it_says_to_all(run: Run, alice: User) -> None:
    """The most informative cases do not come first to everybody."""
    labels = [make_queue(run, alice, order=order).order_label for order in QueueOrder]
    assert labels == ["most informative cases", "random sample"]
    assert make_queue(run, alice, baseline=run).order_label == "pairwise, at random"


def test_who_may_have_tasks_is_known_of_the_signed_in_user_alone(run: Run, alice: User) -> None:
    def signed_in() -> User:
        user = Backend().get_user(alice.pk)
        assert user
        return user

    assert may_have_tasks(alice)  # who came another way is looked up
    assert not may_have_tasks(signed_in())
    queue = make_queue(run, alice)
    assert may_have_tasks(signed_in())
    queue.tasks.update(done_at=timezone.now())
    assert not may_have_tasks(signed_in())
    queue.pool.add(alice)
    assert may_have_tasks(signed_in())
    ReviewQueue.objects.update(closed_at=timezone.now())
    assert not may_have_tasks(signed_in())
