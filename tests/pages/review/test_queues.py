"""Queues on their pages: created from a run, listed, watched, closed and shared out anew."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from html import unescape
from typing import Any

from django.test import Client
from django.urls import reverse
from django.utils import timezone

from scoring.engine.compare.comparison import compare_runs
from scoring.engine.review.queues import QueuePlan, create_queue
from scoring.models import Member, Review, ReviewQueue, Role, Run, Team, User
from tests.pages.conftest import MakeSet
from tests.support.run_states import CLOSE, EXACT, finished_run

BrowserOf = Callable[[User], Client]


def test_an_editor_creates_a_queue_for_others_with_the_filters_of_the_table(
    browser: Client, run: Run, rita: User
) -> None:
    run_page = browser.get(reverse("run", args=[run.uuid]) + "?verdict=fail").text
    url = reverse("new_review_queue", args=[run.uuid])
    assert f"{url}?verdict=fail" in run_page
    page = browser.get(f"{url}?verdict=fail&sort=close&n=3").text
    assert '<span class="tag">fail</span>' in page
    assert "rita@example.org" in page
    answer = browser.post(
        f"{url}?verdict=fail&sort=close&n=3",
        {
            "name": "failed ones",
            "order": "value",
            "case_count": "100",
            "reviewers": [str(rita.pk)],
            "reviewers_per_case": "1",
            "due_on": str(timezone.localdate()),
        },
    )
    queue = ReviewQueue.objects.get()
    assert answer["Location"] == reverse("review_queue", args=[queue.uuid])
    assert (queue.filters, queue.case_count) == ("verdict=fail", run.fail_count)
    page = browser.get(answer["Location"]).text
    assert "filtered" in page
    assert f"0 of {run.fail_count}" in page
    assert "Start" not in page  # not for whom nothing is asked


def test_a_reviewer_creates_one_alone_and_a_viewer_none(
    ritas: Client, rita: User, run: Run, browser_of: BrowserOf, bob: User
) -> None:
    url = reverse("new_review_queue", args=[run.uuid])
    assert "Reviews per case" not in ritas.get(url).text
    sent = {"name": "mine", "order": "random", "case_count": "2"}
    assert ritas.post(url, sent).status_code == 302
    assert set(ReviewQueue.objects.get().tasks.values_list("reviewer", flat=True)) == {rita.pk}
    assert browser_of(bob).get(url).status_code == 403
    assert ritas.post(url, sent | {"case_count": "0"}).status_code == 422


def test_the_list_puts_my_open_queues_first_and_marks_late_ones(
    ritas: Client, browser: Client, queue: ReviewQueue, team: Team
) -> None:
    ReviewQueue.objects.update(due_on=timezone.localdate() - timedelta(days=1))
    url = reverse("review", args=[team.slug])
    page = ritas.get(url).text
    assert "Your queues" in page
    assert "overdue" in page
    assert "0 of 4" in page
    assert "Open queues" in browser.get(url).text
    browser.post(reverse("close_review_queue", args=[queue.uuid]))
    page = ritas.get(url).text
    assert "No open queues" in page
    assert "Closed queues" in page
    assert "overdue" not in page


def test_a_closed_queue_is_reviewed_by_nobody_until_it_is_reopened(
    ritas: Client, browser: Client, queue: ReviewQueue
) -> None:
    url = reverse("review_queue", args=[queue.uuid])
    following = reverse("next_review", args=[queue.uuid])
    assert following in ritas.get(url).text
    browser.post(reverse("close_review_queue", args=[queue.uuid]))
    assert following not in ritas.get(url).text
    assert ritas.get(following)["Location"] == url
    browser.post(reverse("reopen_review_queue", args=[queue.uuid]))
    assert ritas.get(following)["Location"] == reverse("review_task", args=[queue.uuid, 1])


def test_open_cases_are_reassigned(
    browser: Client, queue: ReviewQueue, rita: User, team: Team
) -> None:
    sam = User.objects.create_user("sam@example.org")
    Member.objects.create(team=team, user=sam, role=Role.REVIEWER)
    url = reverse("reassign_reviews", args=[queue.uuid])
    same = browser.post(url, {"old": str(rita.pk), "new": str(rita.pk)})
    assert same.status_code == 422
    assert "This is the same person." in same.text
    answer = browser.post(url, {"old": str(rita.pk), "new": str(sam.pk)}, follow=True)
    assert "4 open tasks reassigned to sam@example.org." in answer.text
    assert set(queue.tasks.values_list("reviewer", flat=True)) == {sam.pk}


def test_cases_of_a_pool_are_taken_by_whoever_comes(
    run: Run, rita: User, ritas: Client, browser: Client
) -> None:
    """The form asks for it; the page counts; joining and leaving are a button."""
    form = {"name": "pool", "order": "random", "case_count": "4", "reviewers_per_case": "1"}
    form |= {"assignment": "pool", "reviewers": str(rita.pk)}
    browser.post(reverse("new_review_queue", args=[run.uuid]), form)
    queue = ReviewQueue.objects.get()
    page = reverse("review_queue", args=[queue.uuid])
    text = words(ritas.get(page))
    for said in ("taken from a pool", "waiting 4 reserved 0 done 0", "Leave queue"):
        assert said in text
    ritas.get(reverse("next_review", args=[queue.uuid]))
    assert "waiting 3 reserved 1 done 0" in words(ritas.get(page))
    assert "Join queue" in words(browser.get(page))
    browser.post(reverse("join_review_queue", args=[queue.uuid]))
    following = browser.get(reverse("next_review", args=[queue.uuid]))
    assert following["Location"] == reverse("review_task", args=[queue.uuid, 2])
    ritas.post(reverse("leave_review_queue", args=[queue.uuid]))
    assert "waiting 3 reserved 1 done 0" in words(ritas.get(page))
    assert ritas.get(reverse("next_review", args=[queue.uuid]))["Location"] == page


def test_an_editor_says_who_takes_cases_of_a_pool(
    run: Run, rita: User, alice: User, browser: Client
) -> None:
    plan = QueuePlan("pool", [rita, alice], 4, reviewers_per_case=2, is_pooled=True)
    queue = create_queue(run, plan, by=alice)
    path = reverse("reassign_reviews", args=[queue.uuid])
    few = browser.post(path, {"reviewers": [str(rita.pk)]})
    assert few.status_code == 422
    assert "Each case is to have 2 independent reviews." in few.text
    browser.post(path, {"reviewers": [str(rita.pk), str(alice.pk)]})
    assert set(queue.pool.all()) == {rita, alice}


def test_whoever_finds_all_cases_reserved_is_told_so(
    run: Run, rita: User, ritas: Client, erin: User, browser: Client
) -> None:
    queue = create_queue(run, QueuePlan("pool", [rita, erin], 1, is_pooled=True), by=erin)
    ritas.get(reverse("next_review", args=[queue.uuid]))
    answer = browser.get(reverse("next_review", args=[queue.uuid]), follow=True)
    assert "No case is free now: others are reviewing 1 that you have not reviewed." in answer.text
    assert "All done" not in answer.text
    task = reverse("review_task", args=[queue.uuid, 1])
    late = browser.get(task)
    assert "Your reservation of this case ended" in words(late)
    sent = {"verdict": "fail", "note": "late", "seen": "0"}
    assert browser.post(task, sent).status_code == 302
    ritas.post(task, {"verdict": "pass", "note": "", "seen": "0"})
    assert set(Review.objects.values_list("note", flat=True)) == {"late", ""}
    assert "All done: every case is reviewed once." in words(
        ritas.get(task.replace("cases/1/", ""))
    )


def words(answer: Any) -> str:
    """The text of the main part, without tags."""
    main = answer.text.partition("<main")[2].partition("</main>")[0]
    return " ".join(re.sub("<[^>]+>", " ", main).split())


def test_the_broken_cases_of_a_comparison_are_reviewed(
    browser: Client, run: Run, make_set: MakeSet
) -> None:
    worse = finished_run(make_set(["no", "yet", "no", None]), CLOSE, EXACT, name="worse")
    compare_runs(run, worse)
    pair = {"baseline": str(run.uuid), "candidate": str(worse.uuid)}
    compared = reverse("compare", args=[run.team.slug], query={**pair, "kind": "broke"})
    url = browser.get(compared).context["pair"].cases.review_url
    assert url in unescape(browser.get(compared).text)
    form = {"name": "broken", "order": "random", "case_count": "9", "reviewers_per_case": "1"}
    me = browser.get(url).context["form"].person
    browser.post(url, form | {"reviewers": str(me.pk)})
    queue = ReviewQueue.objects.get()
    assert (queue.run, queue.case_count, queue.is_random_sample) == (worse, 1, False)
    assert queue.tasks.get().output.case.position == 1
    narrowed = browser.get(f"{compared}&scorer={EXACT[0]}").context["pair"].cases
    assert narrowed.review_url == ""
