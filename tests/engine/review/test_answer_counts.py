"""Answers to the questions of a queue: kept with the review, required for its task, summed up."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any

import pytest

from scoring.core.questions import Questions
from scoring.engine.imports.json_body import BodyError
from scoring.engine.review.answer_counts import summarize_answers
from scoring.engine.review.feedback import give_review
from scoring.engine.review.queue_progress import QueueProgress
from scoring.engine.review.queues import QueuePlan, create_queue
from scoring.engine.review.review_import import (
    ReviewsRefusedError,
    import_review_file,
    import_reviews,
)
from scoring.models import AuditEntry, QuestionSet, Review, ReviewQueue, ReviewVerdict, Run, User

pytestmark = pytest.mark.django_db

ASKED = Questions.parse(
    [
        {"text": "Polite?", "kind": "choice", "choices": ["yes", "no"]},
        {"text": "What?", "kind": "choices", "choices": ["a", "b"]},
        {"text": "Points", "kind": "number", "minimum": 0, "maximum": 10},
        {"text": "More", "kind": "text"},
    ]
)


@pytest.fixture
def tone(run: Run, alice: User) -> QuestionSet:
    return QuestionSet.objects.publish(run.team, "Tone", ASKED, by=alice)


@pytest.fixture
def queue(run: Run, rita: User, sam: User, tone: QuestionSet) -> ReviewQueue:
    plan = QueuePlan("w46", [rita, sam], 3, reviewers_per_case=2, question_set=tone)
    return create_queue(run, plan, by=rita)


def say(queue: ReviewQueue, person: User, number: int, answers: dict[str, Any] | None) -> Review:
    output = queue.tasks.get(reviewer=person, position=number).output
    given = None if answers is None else {"Tone v1": answers}
    return give_review(queue.run, output, ReviewVerdict.PASS, by=person, answers=given)


def test_a_verdict_without_answers_does_no_task_of_a_queue_that_asks(
    queue: ReviewQueue, rita: User, run: Run
) -> None:
    say(queue, rita, 1, None)
    assert QueueProgress(queue).done == 0
    plain = create_queue(run, QueuePlan("plain", [rita], 6), by=rita)
    assert QueueProgress(plain).done == 1
    say(queue, rita, 1, {})
    assert QueueProgress(queue).done == 1


def test_answers_stay_with_what_was_asked(
    queue: ReviewQueue, rita: User, tone: QuestionSet, alice: User
) -> None:
    """A later version is asked by other queues; answers to both are kept."""
    say(queue, rita, 1, {"Polite?": "yes"})
    other = Questions.parse([{"text": "Polite?", "kind": "text"}])
    newer = QuestionSet.objects.publish(tone.team, "Tone", other, by=alice)
    again = create_queue(queue.run, QueuePlan("again", [rita], 6, question_set=newer), by=rita)
    assert QueueProgress(again).done == 0
    review = Review.objects.get()
    answers = {newer.label: {"Polite?": "rather"}}
    give_review(queue.run, review.output, ReviewVerdict.FAIL, by=rita, answers=answers)
    review.refresh_from_db()
    assert review.answers == {"Tone v1": {"Polite?": "yes"}, "Tone v2": {"Polite?": "rather"}}
    assert (QueueProgress(again).done, QueueProgress(queue).done) == (1, 1)
    said = AuditEntry.objects.filter(action="review.said").order_by("pk").last()
    assert said is not None
    assert said.new["answers"] == review.answers


def test_the_answers_of_a_queue_are_summed_up(queue: ReviewQueue, rita: User, sam: User) -> None:
    say(queue, rita, 1, {"Polite?": "yes", "What?": ["a", "b"], "Points": 4})
    say(queue, sam, 1, {"Polite?": "no", "What?": ["b"], "Points": 7, "More": "well"})
    say(queue, rita, 2, {"Polite?": "yes"})
    polite, what, points, more = summarize_answers(queue)
    assert (polite.n, polite.choices) == (3, [("yes", 2), ("no", 1)])
    assert (what.n, what.choices) == (2, [("a", 1), ("b", 2)])
    assert (points.n, points.mean, points.least, points.most) == (2, 5.5, 4, 7)
    assert (more.n, more.mean, more.choices) == (1, None, [])


def test_a_queue_without_questions_has_no_answers(run: Run, rita: User) -> None:
    assert summarize_answers(create_queue(run, QueuePlan("plain", [rita], 6), by=rita)) == []


def test_imported_answers_do_the_task(queue: ReviewQueue, run: Run, rita: User) -> None:
    key = queue.tasks.get(reviewer=rita, position=1).output.case.key
    row = {"key": key, "reviewer": rita.email, "verdict": "pass"}
    import_reviews(run, [row], by=None)
    assert QueueProgress(queue).done == 0
    import_reviews(run, [row | {"answers": {"Tone v1": {"Polite?": "no"}}}], by=None)
    assert QueueProgress(queue).done == 1
    assert summarize_answers(queue)[0].choices == [("yes", 0), ("no", 1)]


@pytest.mark.parametrize(
    "answers",
    [{"Polite?": "rather"}, {"What?": ["c"]}, {"Points": "many"}, {"Points": 11}, {"Who?": "me"}],
)
def test_a_wrong_answer_refuses_the_import(
    queue: ReviewQueue, run: Run, rita: User, answers: dict[str, Any]
) -> None:
    key = queue.tasks.get(reviewer=rita, position=1).output.case.key
    row = {"key": key, "reviewer": rita.email, "verdict": "pass"}
    with pytest.raises(BodyError) as refused:
        import_reviews(run, [row | {"answers": {"Tone v1": answers}}], by=None)
    (problem,) = refused.value.problems
    assert (problem.path, problem.code) == ("reviews[0].answers", "invalid_answer")
    assert next(iter(answers)) in problem.message
    file = json.dumps(row | {"answers": {"Tone v1": answers}}).encode()
    with pytest.raises(ReviewsRefusedError) as whole:
        import_review_file(run, BytesIO(file), "reviews.jsonl", by=None)
    assert [each.code for each in whole.value.report.problems] == ["invalid_answer"]
    assert not Review.objects.exists()


def test_answers_from_before_the_questions_are_kept_and_count_where_they_fit(
    run: Run, rita: User, alice: User
) -> None:
    """Whatever a file called so before the team asked it."""
    said = {"Polite?": ["yes", 1], "What?": ["a"], "Points": "many", "More": 5, "Who?": "me"}
    row = {"key": "case-1", "reviewer": rita.email, "verdict": "pass"}
    with pytest.raises(BodyError):
        import_reviews(run, [row | {"answers": {"Tone v1": said}}], by=None)
    said["Polite?"] = ["yes"]
    import_reviews(run, [row | {"answers": {"Tone v1": said}}], by=None)
    tone = QuestionSet.objects.publish(run.team, "Tone", ASKED, by=alice)
    queue = create_queue(run, QueuePlan("w46", [rita], 6, question_set=tone), by=rita)
    assert [each.n for each in summarize_answers(queue)] == [0, 1, 0, 0]
    assert summarize_answers(queue)[2].mean is None
    assert Review.objects.get().answers == {"Tone v1": said}
