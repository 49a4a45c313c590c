"""The order of tasks: by reason for whoever drew them alone, else drawn from the seed."""

from __future__ import annotations

import pytest

from scoring.engine.review.queues import QueuePlan, create_queue
from scoring.engine.review.task_order import hide_reasons, shuffle, tells_reasons
from scoring.models import QueueOrder, ReviewQueue, Run, User


def test_an_order_is_drawn_from_its_seed() -> None:
    assert shuffle(range(9), 3) == shuffle(range(9), 3)
    assert sorted(shuffle(range(9), 3)) == list(range(9))
    assert len({tuple(shuffle(range(9), seed)) for seed in range(9)}) > 1


def test_only_the_most_informative_cases_tell_their_reasons_and_only_to_others() -> None:
    one, other = User(pk=1), User(pk=2)
    assert not tells_reasons(QueueOrder.VALUE, [one], one)
    assert tells_reasons(QueueOrder.VALUE, [one, other], one)
    assert tells_reasons(QueueOrder.VALUE, [one], None)
    assert not tells_reasons(QueueOrder.RANDOM, [one, other], one)


def order_of(queue: ReviewQueue) -> list[int]:
    return list(queue.tasks.order_by("position").values_list("output", flat=True))


@pytest.mark.django_db
def test_tasks_change_places_once_before_somebody_else_gets_them(
    run: Run, rita: User, sam: User
) -> None:
    queue = create_queue(run, QueuePlan("w46", [rita], 6), by=rita)
    before = order_of(queue)
    hide_reasons(queue, queue.tasks.all(), [rita])
    assert order_of(queue) == before
    hide_reasons(queue, queue.tasks.filter(position__gt=1), [sam])
    assert order_of(queue)[0] == before[0]
    assert order_of(queue) != before
    hidden = order_of(queue)
    queue.tasks.filter(position=6).update(reviewer=sam)
    hide_reasons(queue, queue.tasks.all(), [sam])
    assert order_of(queue) == hidden
