"""The order of a queue's tasks, which must not tell a reviewer why a case is in it."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Sequence
from typing import Final, TypeVar

from scoring.models import QueueOrder, ReviewQueue, ReviewTask, User

_BATCH: Final = 500
_Row = TypeVar("_Row")


def shuffle(rows: Sequence[_Row], seed: int) -> list[_Row]:
    """The rows in an order drawn from the seed."""
    return random.Random(seed).sample(rows, len(rows))  # noqa: S311


def tells_reasons(order: QueueOrder | str, people: Iterable[User], by: User | None) -> bool:
    """Whether the most informative cases, in that order, would tell their reasons to these people.

    Only whoever draws a queue for themselves alone gets them in that order.
    """
    return order == QueueOrder.VALUE and any(person != by for person in people)


def hide_reasons(queue: ReviewQueue, tasks: Iterable[ReviewTask], people: Collection[User]) -> None:
    """Put these tasks in another order, drawn from the seed, before others get any of them."""
    if _is_by_reason(queue) and tells_reasons(queue.order, people, queue.created_by):
        _shuffle_positions(sorted(tasks, key=lambda task: task.position), queue.seed)


def _is_by_reason(queue: ReviewQueue) -> bool:
    """Whether whoever drew the queue has all of its tasks, the most informative first."""
    if queue.is_pooled:  # nobody alone can give a case several reviews
        others = queue.pool.exclude(pk=queue.created_by_id)
        return queue.reviewers_per_case == 1 and not others.exists()
    return not queue.tasks.exclude(reviewer=queue.created_by_id).exists()


def _shuffle_positions(tasks: Sequence[ReviewTask], seed: int) -> None:
    """Give the tasks each other's positions."""
    positions = shuffle([task.position for task in tasks], seed)
    for task, position in zip(tasks, positions, strict=True):
        task.position = position
    ReviewTask.objects.bulk_update(tasks, ["position"], batch_size=_BATCH)
