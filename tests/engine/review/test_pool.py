"""Pools: who gets which case, reservations that end, and nothing that is lost by it."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from evalsite.blind_review import blind_outputs
from scoring.engine.calibration.sample import tasks_in_turn
from scoring.engine.review.pool import change_pool, find_task, join_pool, leave_pool
from scoring.engine.review.queue_progress import QueueProgress
from scoring.engine.review.queues import QueuePlan, create_queue, next_task, skip
from scoring.models import (
    AuditEntry,
    QueueOrder,
    Review,
    ReviewQueue,
    ReviewTask,
    ReviewVerdict,
    Run,
    Team,
    User,
)
from scoring.models.reviews.queue import RESERVATION
from tests.engine.review.conftest import member

pytestmark = pytest.mark.django_db


@pytest.fixture
def queue(run: Run, rita: User, sam: User, alice: User) -> ReviewQueue:
    return pooled(run, [rita, sam], by=alice)


def pooled(
    run: Run, people: list[User], each: int = 1, cases: int = 6, *, by: User | None = None
) -> ReviewQueue:
    plan = QueuePlan("pool", people, cases, reviewers_per_case=each, is_pooled=True)
    return create_queue(run, plan, by=by)


def take(queue: ReviewQueue, person: User) -> ReviewTask:
    task = next_task(queue, person)
    assert task is not None
    return task


def say(queue: ReviewQueue, task: ReviewTask, person: User, verdict: str = "PASS") -> None:
    Review.objects.record(queue.run, task.output, ReviewVerdict[verdict], by=person)


def let_time_pass(queue: ReviewQueue) -> None:
    """So much that every reservation has ended."""
    queue.tasks.exclude(reserved_until=None).update(
        reserved_until=timezone.now() - timedelta(seconds=1)
    )


def counts(queue: ReviewQueue) -> tuple[int, int, list[int]]:
    found = QueueProgress(queue).counts
    return found.waiting, found.reserved, list(found.reviewed)


def test_nobody_has_a_case_before_taking_it(queue: ReviewQueue, rita: User, sam: User) -> None:
    assert set(queue.tasks.values_list("reviewer", flat=True)) == {None}
    first, second = take(queue, rita), take(queue, sam)
    assert (first.position, second.position) == (1, 2)
    assert take(queue, rita) == first
    assert counts(queue) == (4, 2, [0])
    assert first.reserved_until is not None
    assert first.reserved_until > timezone.now() + RESERVATION - timedelta(minutes=1)


def test_every_case_gets_as_many_reviews_by_different_people(
    run: Run, team: Team, rita: User, sam: User
) -> None:
    people = [rita, sam, member(team, "tom@example.org")]
    queue, said = pooled(run, people, each=2), 0
    for turn in range(40):
        person = people[turn % 3 if turn % 5 else 0]
        if task := next_task(queue, person):
            say(queue, task, person)
            said += 1
            assert QueueProgress(queue).done == said
    assert Review.objects.count() == said == 12
    assert set(Counter(Review.objects.values_list("output", flat=True)).values()) == {2}
    assert counts(queue) == (0, 0, [0, 6])
    assert QueueProgress(queue).counts.is_complete
    assert all(next_task(queue, person) is None for person in people)


def test_counts_are_true_after_each_step(run: Run, rita: User, sam: User) -> None:
    queue = pooled(run, [rita, sam], each=2, cases=3)
    assert counts(queue) == (3, 0, [0, 0])
    own, other = take(queue, rita), take(queue, sam)
    assert own.output == other.output
    assert counts(queue) == (2, 1, [0, 0])
    say(queue, own, rita)
    assert counts(queue) == (2, 0, [1, 0])
    say(queue, other, sam, "FAIL")
    assert counts(queue) == (2, 0, [0, 1])
    Review.objects.withdraw(run, other.output, by=sam)
    assert counts(queue) == (2, 0, [1, 0])
    assert QueueProgress(queue).open_for(sam) == 3
    assert QueueProgress(queue).open_for(rita) == 2


def test_a_reservation_ends_by_itself(queue: ReviewQueue, rita: User, sam: User) -> None:
    held = take(queue, rita)
    let_time_pass(queue)
    assert counts(queue) == (6, 0, [0])
    taken = take(queue, sam)
    assert (taken.pk, taken.reviewer) == (held.pk, sam)
    assert take(queue, rita).position == 2


def test_whoever_comes_back_first_keeps_the_case(queue: ReviewQueue, rita: User) -> None:
    held = take(queue, rita)
    let_time_pass(queue)
    assert take(queue, rita) == held
    assert counts(queue) == (5, 1, [0])


def test_a_case_that_others_have_by_now_is_reviewed_once_more(
    queue: ReviewQueue, rita: User, sam: User
) -> None:
    """What somebody wrote for longer than they had is not lost."""
    held = take(queue, rita)
    let_time_pass(queue)
    say(queue, take(queue, sam), sam)
    late = find_task(queue, rita, held.position)
    assert late is not None
    assert (late.pk, late.output, late.reviewer) == (None, held.output, rita)
    say(queue, late, rita)
    assert Review.objects.filter(output=held.output).count() == 2
    assert counts(queue) == (5, 0, [1])
    skip(late)
    assert counts(queue) == (5, 0, [1])


def test_a_free_place_of_the_same_case_is_taken_instead(run: Run, rita: User, sam: User) -> None:
    queue = pooled(run, [rita, sam], each=2, cases=2)
    held = take(queue, rita)
    let_time_pass(queue)
    taken = queue.tasks.filter(pk=held.pk)
    taken.update(reviewer=sam, reserved_until=timezone.now() + RESERVATION)
    again = find_task(queue, rita, held.position)
    assert again is not None
    assert again.pk not in {None, held.pk}


def test_only_the_people_of_the_pool_get_cases(queue: ReviewQueue, team: Team, rita: User) -> None:
    tom = member(team, "tom@example.org")
    assert find_task(queue, tom, 1) is None
    assert QueueProgress(queue).open_for(tom) == 0
    join_pool(queue, tom)
    assert QueueProgress(queue).open_for(tom) == 6
    held = take(queue, tom)
    leave_pool(queue, tom)
    assert QueueProgress(queue).open_for(tom) == 0
    assert take(queue, rita) == held
    entries = AuditEntry.objects.filter(action="review_queue.pool_changed").order_by("pk")
    assert [len(entry.new["reviewers"]) for entry in entries] == [3, 2]


def test_a_skipped_case_is_free_for_others_and_comes_last_for_whoever_skipped_it(
    queue: ReviewQueue, rita: User, sam: User
) -> None:
    skipped = take(queue, rita)
    assert skip(skipped)
    assert take(queue, rita).position == 2
    assert take(queue, sam) == skipped
    say(queue, skipped, sam)
    only = take(queue, rita)
    skip(only)
    for position in (3, 4, 5, 6):
        following = take(queue, rita)
        assert following.position == position
        say(queue, following, rita)
    assert take(queue, rita) == only


def test_a_verdict_elsewhere_counts_for_the_pool(
    queue: ReviewQueue, run: Run, rita: User, sam: User
) -> None:
    output = queue.tasks.get(position=3).output
    Review.objects.record(run, output, ReviewVerdict.FAIL, by=rita)
    assert queue.tasks.get(position=3).reviewer == rita
    assert counts(queue) == (5, 0, [1])
    assert [take(queue, sam).position, QueueProgress(queue).open_for(sam)] == [1, 5]


def test_a_case_reviewed_elsewhere_while_it_was_reserved_is_not_offered_again(
    queue: ReviewQueue, run: Run, rita: User, sam: User
) -> None:
    held = take(queue, sam)
    Review.objects.record(run, held.output, ReviewVerdict.FAIL, by=rita)
    assert counts(queue) == (5, 1, [0])
    let_time_pass(queue)
    assert [take(queue, rita).position, take(queue, sam).position] == [2, 1]


def test_the_next_case_is_found_at_once_however_many_are_skipped(
    run: Run, rita: User, sam: User, django_assert_max_num_queries: Any
) -> None:
    queue = pooled(run, [rita, sam], each=2)
    for _ in range(5):
        skip(take(queue, rita))
    with django_assert_max_num_queries(7):
        assert take(queue, rita).position == 6


def test_what_somebody_reviewed_before_the_queue_or_before_joining_counts(
    run: Run, team: Team, rita: User, sam: User
) -> None:
    tom = member(team, "tom@example.org")
    first, second = (each.output for each in pooled(run, [rita, sam]).tasks.all()[:2])
    Review.objects.record(run, first, ReviewVerdict.PASS, by=rita)
    Review.objects.record(run, second, ReviewVerdict.PASS, by=tom)
    queue = pooled(run, [rita, sam], each=2)
    assert counts(queue) == (5, 0, [1, 0])
    change_pool(queue, [rita, tom], None)
    assert counts(queue) == (4, 0, [2, 0])
    assert [each.reviewer for each in QueueProgress(queue).reviewers] == [rita, tom]


def test_whoever_may_be_given_a_case_is_blind_to_it(
    queue: ReviewQueue, run: Run, rita: User, sam: User, alice: User
) -> None:
    """Also to what somebody else has reserved: the reservation ends by itself."""
    outputs = set(queue.tasks.values_list("output", flat=True))
    task = take(queue, rita)
    assert blind_outputs(sam, run) == blind_outputs(rita, run) == outputs
    say(queue, task, rita)
    assert blind_outputs(sam, run) == blind_outputs(rita, run) == outputs - {task.output_id}
    assert blind_outputs(alice, run) == frozenset()


def test_the_order_tells_no_reason_to_whoever_joins(run: Run, rita: User, sam: User) -> None:
    queue = pooled(run, [rita], by=rita)
    before = list(queue.tasks.order_by("position").values_list("output", flat=True))
    taken = take(queue, rita)
    say(queue, taken, rita)
    join_pool(queue, sam)
    after = list(queue.tasks.order_by("position").values_list("output", flat=True))
    assert after != before
    assert sorted(after) == sorted(before)
    assert after[0] == taken.output_id
    join_pool(queue, sam)
    assert list(queue.tasks.order_by("position").values_list("output", flat=True)) == after


def test_the_places_of_a_case_stay_together_after_everybody_has_left(
    run: Run, rita: User, sam: User, alice: User
) -> None:
    queue = pooled(run, [rita, sam], each=2, by=alice)
    cases = set(queue.tasks.values_list("position", "output"))
    for person in (rita, sam):
        leave_pool(queue, person)
    join_pool(queue, rita)
    assert set(queue.tasks.values_list("position", "output")) == cases
    assert counts(queue) == (6, 0, [0, 0])


def test_a_random_sample_from_a_pool_counts_up_to_the_first_open_case(
    run: Run, rita: User, sam: User
) -> None:
    plan = QueuePlan("pool", [rita, sam], 6, QueueOrder.RANDOM, is_pooled=True)
    queue = create_queue(run, plan, by=rita)
    first, second = take(queue, rita), take(queue, sam)
    say(queue, second, sam)
    assert not tasks_in_turn([queue.pk]).exists()
    say(queue, first, rita)
    assert set(tasks_in_turn([queue.pk])) == {first, second}
