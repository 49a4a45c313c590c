"""The page on which people review: one verdict leads to the next case, blind and without loss."""

from __future__ import annotations

from django.test import Client
from django.urls import reverse

from scoring.engine.review.queues import close_queue
from scoring.models import (
    FailureTag,
    Output,
    Review,
    ReviewQueue,
    ReviewVerdict,
    Run,
    Team,
    User,
)


def task_url(queue: ReviewQueue, number: int = 1) -> str:
    return reverse("review_task", args=[queue.uuid, number])


def send(browser: Client, queue: ReviewQueue, number: int, **sent: str) -> str:
    """Post a verdict; where it leads."""
    form = {"verdict": "pass", "note": "", "seen": "0", **sent}
    answer = browser.post(task_url(queue, number), form, follow=True)
    assert answer.status_code == 200
    return str(answer.redirect_chain[-1][0])


def test_each_verdict_leads_to_the_next_case_and_the_last_to_the_queue(
    ritas: Client, rita: User, queue: ReviewQueue
) -> None:
    assert ritas.get(reverse("next_review", args=[queue.uuid]))["Location"] == task_url(queue)
    led = [send(ritas, queue, number, verdict="fail", note="n") for number in (1, 2, 3, 4)]
    end = reverse("review_queue", args=[queue.uuid])
    assert led == [task_url(queue, 2), task_url(queue, 3), task_url(queue, 4), end]
    assert Review.objects.filter(reviewer=rita, verdict=ReviewVerdict.FAIL, note="n").count() == 4
    page = " ".join(ritas.get(end).text.split())
    assert "You have reviewed all 4 of your cases. All done: every case is reviewed once." in page


def test_nothing_that_scorers_or_others_said_is_shown_before_the_own_verdict(
    ritas: Client, queue: ReviewQueue, run: Run, alice: User
) -> None:
    task = queue.tasks.get(position=1)
    assert task.detail.startswith("close 0.67, threshold 0.7")
    Review.objects.record(run, task.output, ReviewVerdict.FAIL, by=alice, note="a secret opinion")
    page = ritas.get(task_url(queue)).text.partition("<main")[2].partition("</main>")[0]
    for secret in ("near the threshold", "0.67", "a secret opinion", "alice", "broke"):
        assert secret not in page
    assert page.count("verdict-fail") == 1  # the button alone
    send(ritas, queue, 1)
    assert "near the threshold: close 0.67, threshold 0.7" in ritas.get(task_url(queue)).text


def test_a_skipped_case_comes_last(ritas: Client, queue: ReviewQueue) -> None:
    answer = ritas.post(reverse("skip_review_task", args=[queue.uuid, 1]), follow=True)
    assert answer.redirect_chain[-1][0] == task_url(queue, 2)
    led = [send(ritas, queue, number) for number in (2, 3, 4)]
    assert led[-1] == task_url(queue, 1)


def test_undo_clears_the_verdict_and_brings_the_note_back(
    ritas: Client, queue: ReviewQueue, rita: User
) -> None:
    sent = {"verdict": "pass", "note": "a long thought", "seen": "0"}
    undo = reverse("undo_review_task", args=[queue.uuid, 1])
    assert undo in ritas.post(task_url(queue), sent, follow=True).text
    answer = ritas.post(undo, follow=True)
    assert answer.redirect_chain[-1][0] == task_url(queue, 1)
    assert "a long thought</textarea>" in answer.text
    assert not Review.objects.filter(reviewer=rita).exists()
    assert "a long thought" not in ritas.get(task_url(queue, 2)).text
    assert ritas.post(undo, follow=True).status_code == 200


def test_a_verdict_given_in_another_window_meanwhile_is_shown_beside_the_new_one(
    ritas: Client, rita: User, queue: ReviewQueue, run: Run
) -> None:
    output = queue.tasks.get(position=1).output
    Review.objects.record(run, output, ReviewVerdict.PASS, by=rita, note="from the other window")
    answer = ritas.post(task_url(queue), {"verdict": "fail", "note": "from here", "seen": "0"})
    assert answer.status_code == 409
    assert "You reviewed this case in another window in the meantime" in answer.text
    assert "from the other window" in answer.text
    assert "fail</span></span>.\n    Choose again to replace it." in answer.text
    assert "from here</textarea>" in answer.text
    assert Review.objects.get(reviewer=rita).verdict == ReviewVerdict.PASS
    assert 'name="seen" value="1"' in answer.text
    send(ritas, queue, 1, verdict="fail", note="from here", seen="1")
    assert Review.objects.get(reviewer=rita).verdict == ReviewVerdict.FAIL


def test_a_wrong_form_keeps_what_was_typed(ritas: Client, queue: ReviewQueue) -> None:
    answer = ritas.post(task_url(queue), {"verdict": "great", "note": "typed", "seen": "0"})
    assert answer.status_code == 422
    assert "Your verdict is not saved" in answer.text
    assert "typed</textarea>" in answer.text


def test_a_removed_or_imported_failure_tag_stays_on_its_review(
    ritas: Client, rita: User, queue: ReviewQueue, run: Run, team: Team
) -> None:
    """Also when the verdict is undone and given again; no other unknown tag is taken."""
    FailureTag.objects.create(team=team, name="tone")
    output = queue.tasks.get(position=1).output
    Review.objects.record(run, output, ReviewVerdict.FAIL, by=rita, failure_tags=["tone", "gone"])
    page = ritas.get(task_url(queue)).text
    assert page.count('name="failure_tags"') == 2
    tags = {"failure_tags": ["tone", "gone"], "note": "typed", "seen": "1"}
    ritas.post(task_url(queue), {"verdict": "fail", **tags})
    assert Review.objects.get().failure_tags == ["tone", "gone"]
    ritas.post(reverse("undo_review_task", args=[queue.uuid, 1]))
    ritas.post(task_url(queue), {"verdict": "fail", **tags, "seen": "0"})
    assert Review.objects.get().failure_tags == ["tone", "gone"]
    other = {"verdict": "fail", **tags, "seen": "1", "failure_tags": ["never seen"]}
    assert ritas.post(task_url(queue), other).status_code == 422


def test_only_the_person_who_was_asked_gets_at_a_case(
    ritas: Client, browser: Client, queue: ReviewQueue
) -> None:
    assert browser.get(task_url(queue)).status_code == 404
    assert browser.post(task_url(queue), {"verdict": "pass", "seen": "0"}).status_code == 404
    assert ritas.get(task_url(queue, 9)).status_code == 404


def test_a_whole_text_is_opened(ritas: Client, queue: ReviewQueue) -> None:
    output = queue.tasks.get(position=1).output
    answer = ritas.get(task_url(queue) + "?whole=output")
    assert answer.text == Output.objects.get(pk=output.pk).text
    assert ritas.get(task_url(queue) + "?whole=nothing").status_code == 404


def test_queries_do_not_grow_with_the_queue(
    ritas: Client, queue: ReviewQueue, django_assert_max_num_queries: object
) -> None:
    with django_assert_max_num_queries(30):  # type: ignore[operator]
        ritas.get(task_url(queue))


def test_a_queue_that_was_closed_meanwhile_says_so_and_the_verdict_counts(
    ritas: Client, rita: User, queue: ReviewQueue, alice: User
) -> None:
    close_queue(queue, alice)
    assert "This queue was closed" in ritas.get(task_url(queue)).text
    end = reverse("review_queue", args=[queue.uuid])
    assert send(ritas, queue, 1) == end
    assert Review.objects.filter(reviewer=rita).count() == 1
    answer = ritas.get(reverse("next_review", args=[queue.uuid]), follow=True)
    assert answer.redirect_chain[-1][0] == end
    assert "This queue is closed. Reviews stay." in answer.text
    assert "Continue" not in answer.text.partition("<main")[2].partition("</main>")[0]
