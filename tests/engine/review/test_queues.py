"""Queues: who gets which case, what is done, and what a random sample is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest

from scoring.engine.review.informative_outputs import Candidate
from scoring.engine.review.queue_progress import QueueProgress
from scoring.engine.review.queues import (
    QueueError,
    QueuePlan,
    close_queue,
    create_queue,
    next_task,
    reassign,
    reopen_queue,
    skip,
    store_queue,
)
from scoring.models import (
    AuditEntry,
    Output,
    QueueOrder,
    Review,
    ReviewQueue,
    ReviewTask,
    ReviewVerdict,
    Run,
    TaskReason,
    Team,
    User,
    Verdict,
)
from scoring.models.case_list.filters import CaseFilters
from scoring.models.reviews.queue import sampled_outputs
from tests.conftest import MakeDataset, MakeOutputs
from tests.engine.review.conftest import TEXTS, member
from tests.support.run_states import queued_run

pytestmark = pytest.mark.django_db


def positions(queue: ReviewQueue, reviewer: User) -> list[int]:
    """The cases of one reviewer by their position in the dataset, in the order of the queue."""
    tasks = queue.tasks.filter(reviewer=reviewer).order_by("position")
    return list(tasks.values_list("output__case__position", flat=True))


def test_every_case_goes_to_so_many_people_and_all_get_as_many(
    run: Run, team: Team, rita: User, sam: User
) -> None:
    people = [rita, sam, member(team, "tom@example.org")]
    queue = create_queue(run, QueuePlan("w46", people, 6, reviewers_per_case=2), by=rita)
    tasks = ReviewTask.objects.filter(queue=queue)
    assert Counter(tasks.values_list("reviewer__email", flat=True)) == dict.fromkeys(
        ["rita@example.org", "sam@example.org", "tom@example.org"], 4
    )
    assert set(Counter(tasks.values_list("output", flat=True)).values()) == {2}
    assert (queue.case_count, queue.is_random_sample, queue.filters) == (6, False, "")
    entry = AuditEntry.objects.get(action="review_queue.created")
    assert entry.new["reviewers"] == [each.email for each in people]


def test_few_cases_are_spread_over_all_people(run: Run, team: Team, rita: User, sam: User) -> None:
    people = [rita, sam, member(team, "tom@example.org"), member(team, "uma@example.org")]
    queue = create_queue(run, QueuePlan("few", people, 2, reviewers_per_case=2), by=rita)
    assert [each.total for each in QueueProgress(queue).reviewers] == [1, 1, 1, 1]


def test_a_random_sample_is_drawn_by_its_seed_and_speaks_for_the_run(run: Run, rita: User) -> None:
    plan = QueuePlan("sample", [rita], 3, QueueOrder.RANDOM, seed=7)
    first, again = create_queue(run, plan, by=rita), create_queue(run, plan, by=rita)
    assert positions(first, rita) == positions(again, rita)
    assert first.seed == 7
    assert first.is_random_sample
    assert set(first.tasks.values_list("reason", flat=True)) == {TaskReason.SAMPLED}
    assert sampled_outputs(run) == set(first.tasks.values_list("output", flat=True))
    orders = {
        tuple(positions(create_queue(run, plan_of(rita, seed), by=rita), rita)) for seed in range(9)
    }
    assert len(orders) > 1


def plan_of(reviewer: User, seed: int) -> QueuePlan:
    return QueuePlan("sample", [reviewer], 6, QueueOrder.RANDOM, seed=seed)


@pytest.mark.parametrize("order", list(QueueOrder))
def test_a_sample_of_filtered_cases_or_of_the_best_is_no_random_sample(
    run: Run, rita: User, order: QueueOrder
) -> None:
    failed = CaseFilters(verdict=Verdict.FAIL)
    plan = QueuePlan("f", [rita], 3, order, filters=failed, query="verdict=fail")
    queue = create_queue(run, plan, by=rita)
    assert (queue.filters, queue.is_random_sample) == ("verdict=fail", False)
    assert set(positions(queue, rita)) <= {2, 3, 4, 5}
    create_queue(run, QueuePlan("v", [rita], 3), by=rita)
    assert sampled_outputs(run) == set()


def test_a_verdict_anywhere_does_the_task_and_clearing_it_opens_it_again(
    run: Run, rita: User, sam: User
) -> None:
    queue = create_queue(run, QueuePlan("w46", [rita, sam], 6, reviewers_per_case=2), by=rita)
    task = next_task(queue, rita)
    assert task is not None
    Review.objects.record(run, task.output, ReviewVerdict.FAIL, by=rita)
    assert [(each.reviewer, each.done, each.total) for each in QueueProgress(queue).reviewers] == [
        (rita, 1, 6),
        (sam, 0, 6),
    ]
    following = next_task(queue, rita)
    assert following is not None
    assert following.position == task.position + 1
    Review.objects.withdraw(run, task.output, by=rita)
    assert next_task(queue, rita) == task


def test_what_somebody_reviewed_before_is_done_at_once(run: Run, rita: User) -> None:
    for output in Output.objects.all():
        Review.objects.record(run, output, ReviewVerdict.PASS, by=rita)
    queue = create_queue(run, QueuePlan("w46", [rita], 6), by=rita)
    assert next_task(queue, rita) is None
    assert QueueProgress(queue).reviewers[0].is_done


def test_a_skipped_case_comes_again_at_the_end(run: Run, rita: User) -> None:
    queue = create_queue(run, QueuePlan("w46", [rita], 3), by=rita)
    order = []
    for _ in range(4):
        task = next_task(queue, rita)
        assert task is not None
        order.append(task.position)
        skip(task)
    assert order == [1, 2, 3, 1]
    assert QueueProgress(queue).reviewers[0].figures.skipped == 3


def test_open_tasks_go_to_somebody_else_but_none_twice(run: Run, rita: User, sam: User) -> None:
    queue = create_queue(run, QueuePlan("w46", [rita, sam], 4), by=rita)
    task = next_task(queue, rita)
    assert task is not None
    Review.objects.record(run, task.output, ReviewVerdict.PASS, by=rita)
    assert reassign(queue, rita, sam, by=rita) == 1
    assert {(each.reviewer.email, each.total) for each in QueueProgress(queue).reviewers} == {
        ("rita@example.org", 1),
        ("sam@example.org", 3),
    }
    both = create_queue(run, QueuePlan("both", [rita, sam], 4, reviewers_per_case=2), by=rita)
    assert reassign(both, rita, sam, by=rita) == 0


def reasons(queue: ReviewQueue) -> list[int]:
    return list(queue.tasks.order_by("position").values_list("reason", flat=True))


def drawn(run: Run, by: User, reviewers: Sequence[User], seed: int = 1) -> ReviewQueue:
    """Of three cases near the threshold, which come first, and three unseen ones."""
    near, unseen = TaskReason.NEAR_THRESHOLD, TaskReason.UNSEEN
    outputs = run.output_set.outputs.order_by("pk").values_list("pk", flat=True)
    both = zip(outputs, [near] * 3 + [unseen] * 3, strict=True)
    candidates = [Candidate(output, reason) for output, reason in both]
    return store_queue(run, QueuePlan("q", reviewers, 6, seed=seed), candidates, by)


def test_who_draws_a_queue_for_themselves_gets_the_most_informative_first(
    run: Run, rita: User
) -> None:
    queue = drawn(run, rita, [rita])
    assert positions(queue, rita) == [1, 2, 3, 4, 5, 6]
    assert reasons(queue) == [TaskReason.NEAR_THRESHOLD] * 3 + [TaskReason.UNSEEN] * 3


@pytest.mark.parametrize("is_among_them", [True, False])
def test_the_order_tells_others_nothing_of_the_reason(
    run: Run, rita: User, sam: User, is_among_them: bool
) -> None:
    """Over many seeds either reason stands at each place as often as the other."""
    people = [sam, rita] if is_among_them else [sam]
    queues = [drawn(run, rita, people, seed) for seed in range(200)]
    rows = [[reason == TaskReason.NEAR_THRESHOLD for reason in reasons(queue)] for queue in queues]
    assert all(sum(row) == 3 for row in rows)
    for place in zip(*rows, strict=True):
        assert 0.4 <= sum(place) / len(queues) <= 0.6
    again = drawn(run, rita, people, 7)
    assert positions(again, sam) == positions(queues[7], sam)


def test_reassigned_tasks_lose_the_order_of_their_reasons(run: Run, rita: User, sam: User) -> None:
    orders = set()
    for seed in range(5):
        queue = drawn(run, rita, [rita], seed)
        assert reassign(queue, rita, sam, by=rita) == 6
        orders.add(tuple(positions(queue, sam)))
        taken = queue.tasks.order_by("position").values_list("position", flat=True)
        assert list(taken) == [1, 2, 3, 4, 5, 6]
        before = positions(queue, sam)
        reassign(queue, sam, rita, by=rita)
        assert positions(queue, rita) == before
    assert (1, 2, 3, 4, 5, 6) not in orders
    assert len(orders) > 1
    shared = drawn(run, rita, [rita, sam])
    before = positions(shared, sam)
    reassign(shared, rita, sam, by=rita)
    assert set(before) < set(positions(shared, sam))
    sample = create_queue(run, plan_of(rita, 3), by=rita)
    before = positions(sample, rita)
    reassign(sample, rita, sam, by=rita)
    assert positions(sample, sam) == before


def test_a_closed_queue_has_no_open_tasks_until_it_is_reopened(run: Run, rita: User) -> None:
    queue = create_queue(run, QueuePlan("w46", [rita], 4), by=rita)
    close_queue(queue, rita)
    close_queue(queue, rita)
    assert not ReviewTask.objects.open().of(rita).exists()
    reopen_queue(queue, rita)
    assert ReviewTask.objects.open().of(rita).count() == 4
    actions = list(AuditEntry.objects.order_by("pk").values_list("action", flat=True))[-2:]
    assert actions == ["review_queue.closed", "review_queue.reopened"]


@pytest.mark.parametrize(
    ("count", "each", "text"),
    [
        (0, 1, "A queue has from 1 to 20,000 cases."),
        (20_001, 1, "A queue has from 1 to 20,000 cases."),
        (1, 2, "1 reviewer can give each case from 1 to 1 independent reviews."),
    ],
)
def test_a_plan_that_cannot_be(run: Run, rita: User, count: int, each: int, text: str) -> None:
    with pytest.raises(QueueError, match=text):
        create_queue(run, QueuePlan("x", [rita], count, reviewers_per_case=each), by=rita)
    with pytest.raises(QueueError, match="at least one reviewer"):
        create_queue(run, QueuePlan("x", [], 1), by=rita)
    nothing = CaseFilters(text="no such text")
    with pytest.raises(QueueError, match="No case of the run passes these filters"):
        create_queue(run, QueuePlan("x", [rita], 1, filters=nothing, query="q=no"), by=rita)
    assert not ReviewQueue.objects.exists()
    assert len(TEXTS) == 6


def test_a_run_without_scores_has_nothing_to_review(
    rita: User, make_dataset: MakeDataset, make_outputs: MakeOutputs
) -> None:
    run = queued_run(make_outputs(make_dataset([{"input": "q"}]), ["a"]))
    for order in QueueOrder:
        with pytest.raises(QueueError, match="has no scored outputs yet"):
            create_queue(run, QueuePlan("early", [rita], 5, order), rita)
    assert not ReviewQueue.objects.exists()
