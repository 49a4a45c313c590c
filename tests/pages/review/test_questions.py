"""Question sets on their page, asked on the page of a task, and answered there."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from scoring.core.questions import Questions
from scoring.engine.review.queues import QueuePlan, create_queue
from scoring.models import (
    FailureTag,
    QuestionSet,
    Review,
    ReviewQueue,
    ReviewVerdict,
    Run,
    Team,
    User,
)

FORM = {
    "name": "Tone",
    "text_1": "Polite?",
    "kind_1": "choice",
    "choices_1": "yes\r\nno\r\n",
    "is_required_1": "on",
    "text_3": "Why not?",
    "kind_3": "text",
    "after_3": "1",
    "answer_3": "no",
}
ASKED = [
    {"text": "Polite?", "kind": "choice", "choices": ["yes", "no"], "is_required": True},
    {
        "text": "Why not?",
        "kind": "text",
        "condition": {"question": "Polite?", "answer": "no"},
    },
]


@pytest.fixture
def tone(team: Team, alice: User) -> QuestionSet:
    return QuestionSet.objects.publish(team, "Tone", Questions.parse(ASKED), by=alice)


@pytest.fixture
def asking(run: Run, rita: User, tone: QuestionSet) -> ReviewQueue:
    return create_queue(run, QueuePlan("w46", [rita], 4, question_set=tone), by=rita)


def task_url(queue: ReviewQueue, number: int = 1) -> str:
    return reverse("review_task", args=[queue.uuid, number])


def send(browser: Client, queue: ReviewQueue, number: int = 1, **sent: Any) -> Any:
    form = {"verdict": "fail", "note": "", "seen": "0", **sent}
    return browser.post(task_url(queue, number), form)


def test_an_editor_writes_questions_and_their_next_version(
    browser: Client, ritas: Client, team: Team
) -> None:
    """A question left out between two others does not count."""
    url = reverse("question_sets", args=[team.slug])
    assert "An editor writes them." in ritas.get(url).text
    edit = reverse("edit_question_set", args=[team.slug])
    assert browser.post(edit, FORM)["Location"] == url
    assert QuestionSet.objects.get().content == ASKED
    page = " ".join(browser.get(url).text.split())
    for said in ("Why not?", "yes · no", "required", "if “Polite?” is no", "version 1"):
        assert said in page
    again = browser.get(f"{edit}?name=Tone")
    assert again.context["form"].initial["choices_1"] == "yes\nno"
    assert again.context["form"].initial["after_2"] == "1"
    changed = FORM | {"text_1": "Polite to all?", "name": "another name"}
    browser.post(f"{edit}?name=Tone", changed)
    assert [each.label for each in QuestionSet.objects.order_by("pk")] == ["Tone v1", "Tone v2"]
    assert browser.get(f"{edit}?name=Facts").status_code == 404
    browser.post(reverse("remove_question_set", args=[team.slug]), {"name": "Tone"})
    assert "Write questions" in browser.get(url).text


def test_a_queue_asks_a_set_of_choice(browser: Client, run: Run, tone: QuestionSet) -> None:
    url = reverse("new_review_queue", args=[run.uuid])
    assert "None, the verdict alone" in browser.get(url).text
    form = {"name": "w46", "order": "random", "case_count": "4", "reviewers_per_case": "1"}
    me = browser.get(url).context["form"].person
    browser.post(url, form | {"reviewers": str(me.pk), "question_set": str(tone.pk)})
    queue = ReviewQueue.objects.get()
    assert queue.question_set == tone
    page = browser.get(reverse("review_queue", args=[queue.uuid])).text
    assert "asks Tone v1" in page
    assert "Shown once you have reviewed all of your cases." in page


def test_answers_go_with_the_verdict(ritas: Client, rita: User, asking: ReviewQueue) -> None:
    page = ritas.get(task_url(asking)).text
    assert 'data-shown-if="answer_1" data-shown-is="no"' in page
    assert send(ritas, asking, answer_1="no", answer_2="Curt.").status_code == 302
    review = Review.objects.get()
    assert review.answers == {"Tone v1": {"Polite?": "no", "Why not?": "Curt."}}
    again = ritas.get(task_url(asking))
    assert again.context["form"].initial == {"answer_1": "no", "answer_2": "Curt."}
    case = reverse("run_case", args=[asking.run.uuid, review.output.case.position])
    assert "Why not?" in ritas.get(case).text
    for number in (2, 3, 4):
        send(ritas, asking, number, answer_1="yes")
    page = " ".join(ritas.get(reverse("review_queue", args=[asking.uuid])).text.split())
    assert 'yes <span class="number">3</span> · no <span class="number">1</span>' in page


def test_a_missing_answer_keeps_everything_that_was_sent(
    ritas: Client, asking: ReviewQueue
) -> None:
    answer = send(ritas, asking, note="typed", answer_2="also typed")
    assert answer.status_code == 422
    assert "Your verdict is not saved: Polite?: Answer this question." in answer.text
    assert "also typed</textarea>" in answer.text
    assert not Review.objects.exists()


def test_an_answer_to_a_question_that_is_not_asked_is_left_out(
    ritas: Client, asking: ReviewQueue
) -> None:
    send(ritas, asking, answer_1="yes", answer_2="hidden since")
    assert Review.objects.get().answers == {"Tone v1": {"Polite?": "yes"}}


def test_undo_brings_answers_back(ritas: Client, asking: ReviewQueue) -> None:
    send(ritas, asking, answer_1="no", answer_2="Curt.")
    ritas.post(reverse("undo_review_task", args=[asking.uuid, 1]))
    assert not Review.objects.exists()
    shown = ritas.get(task_url(asking)).context["form"].initial
    assert shown == {"answer_1": "no", "answer_2": "Curt."}


def test_undo_of_a_changed_verdict_brings_the_earlier_one_back(
    ritas: Client, rita: User, asking: ReviewQueue, run: Run
) -> None:
    output = asking.tasks.get(position=1).output
    first = {"Tone v1": {"Polite?": "yes"}}
    Review.objects.record(run, output, ReviewVerdict.PASS, by=rita, note="first", answers=first)
    undo = reverse("undo_review_task", args=[asking.uuid, 1])
    page = ritas.post(task_url(asking), _changed(), follow=True)
    assert undo in page.text
    assert Review.objects.get().verdict == ReviewVerdict.FAIL
    back = ritas.post(undo, follow=True)
    assert "is pass again." in back.text
    review = Review.objects.get()
    assert (review.verdict, review.note, review.answers) == (ReviewVerdict.PASS, "first", first)
    assert "second</textarea>" in back.text
    ritas.post(undo)
    assert not Review.objects.exists()


def _changed() -> dict[str, str]:
    return {"verdict": "fail", "note": "second", "seen": "1", "answer_1": "no"}


def test_a_failure_tag_is_added_while_reviewing(
    ritas: Client, asking: ReviewQueue, team: Team
) -> None:
    FailureTag.objects.create(team=team, name="Facts")
    send(ritas, asking, answer_1="yes", new_tag="tone")
    send(ritas, asking, 2, answer_1="yes", new_tag="facts", failure_tags=["tone"])
    tags = Review.objects.order_by("pk").values_list("failure_tags", flat=True)
    assert list(tags) == [["tone"], ["tone", "Facts"]]
    assert set(FailureTag.objects.values_list("name", flat=True)) == {"Facts", "tone"}
