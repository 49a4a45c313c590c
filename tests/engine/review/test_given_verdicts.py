"""What people said before they were asked does their tasks, where it is all that is asked for."""

from __future__ import annotations

import pytest

from scoring.core.questions import Questions
from scoring.engine.review.given_verdicts import is_given, mark_given
from scoring.engine.review.queues import QueuePlan, create_queue
from scoring.models import QuestionSet, Review, ReviewQueue, ReviewVerdict, Run, User

pytestmark = pytest.mark.django_db

ASKED = Questions.parse([{"text": "Why?", "kind": "text"}])


def test_a_verdict_is_enough_for_a_queue_that_asks_nothing_else(
    run: Run, rita: User, sam: User, alice: User
) -> None:
    tone = QuestionSet.objects.publish(run.team, "Tone", ASKED, by=alice)
    queue = create_queue(run, QueuePlan("w46", [rita, sam], 6), by=alice)
    asking = create_queue(run, QueuePlan("why", [rita, sam], 6, question_set=tone), by=alice)
    plain, answered = (each.output for each in queue.tasks.order_by("pk")[:2])
    answers = {tone.label: {"Why?": "Clear."}}
    Review.objects.record(run, plain, ReviewVerdict.PASS, by=rita)
    Review.objects.record(run, answered, ReviewVerdict.PASS, by=rita, answers=answers)

    def given(found: ReviewQueue, person: User) -> set[int]:
        tasks = found.tasks.filter(is_given(found, person))
        return set(tasks.values_list("output", flat=True))

    assert given(queue, rita) == {plain.pk, answered.pk}
    assert given(asking, rita) == {answered.pk}
    assert given(queue, sam) == given(asking, sam) == set()


def test_only_the_own_tasks_are_done(run: Run, rita: User, sam: User, alice: User) -> None:
    queue = create_queue(run, QueuePlan("w46", [rita, sam], 6, reviewers_per_case=2), by=alice)
    output = queue.tasks.all()[0].output
    Review.objects.record(run, output, ReviewVerdict.PASS, by=rita)
    queue.tasks.update(done_at=None)
    mark_given(queue)
    done = queue.tasks.exclude(done_at=None)
    assert [(each.output, each.reviewer) for each in done] == [(output, rita)]
