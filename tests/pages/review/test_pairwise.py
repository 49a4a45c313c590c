"""Two outputs side by side on their page: without names, by one choice each, with results."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from scoring.engine.compare.comparison import compare_runs
from scoring.engine.review.pairwise import OutputPair, task_pair
from scoring.engine.review.queues import QueuePlan, close_queue, create_queue
from scoring.models import Output, Preference, PreferenceVerdict, QueueOrder, ReviewQueue, Run, User
from tests.pages.conftest import MakeSet
from tests.support.run_states import CLOSE, finished_run

BrowserOf = Callable[[User], Client]


@pytest.fixture
def other(make_set: MakeSet) -> Run:
    """The candidate: all four outputs differ from the run's, three of which are texts."""
    return finished_run(make_set(["Yes!", "Yet!", "No!", "Never"]), CLOSE, name="candidate")


@pytest.fixture
def pairs(other: Run, run: Run, rita: User) -> ReviewQueue:
    plan = QueuePlan("pairs", [rita], 4, QueueOrder.RANDOM, baseline=run)
    return create_queue(other, plan, rita)


def url_of(queue: ReviewQueue, number: int = 1) -> str:
    return reverse("review_task", args=[queue.uuid, number])


def pair_at(queue: ReviewQueue, number: int = 1) -> OutputPair:
    pair = task_pair(queue, queue.tasks.get(position=number))
    assert pair is not None
    return pair


def choose(browser: Client, queue: ReviewQueue, number: int, choice: str, **sent: str) -> str:
    form = {"choice": choice, "note": "", "seen": "", **sent}
    answer = browser.post(url_of(queue, number), form, follow=True)
    assert answer.status_code == 200
    return str(answer.redirect_chain[-1][0])


def test_a_queue_is_created_from_the_comparison(
    ritas: Client, run: Run, other: Run, browser_of: BrowserOf, bob: User
) -> None:
    compare_runs(run, other)
    compare = reverse("compare", args=[run.team.slug])
    page = ritas.get(f"{compare}?baseline={run.uuid}&candidate={other.uuid}").text
    new = reverse("new_pairwise_queue", args=[other.uuid])
    assert f"{new}?baseline={run.uuid}" in page
    answer = ritas.post(f"{new}?baseline={run.uuid}", {"name": "pairs", "case_count": "100"})
    queue = ReviewQueue.objects.get()
    assert answer["Location"] == reverse("review_queue", args=[queue.uuid])
    assert (queue.baseline, queue.case_count, queue.order) == (run, 3, QueueOrder.RANDOM)
    assert ritas.get(f"{new}?baseline=nonsense").status_code == 404
    assert ritas.get(f"{new}?baseline={other.uuid}").status_code == 404
    assert browser_of(bob).get(f"{new}?baseline={run.uuid}").status_code == 403


def test_names_are_hidden_until_the_own_choice(ritas: Client, pairs: ReviewQueue) -> None:
    page = ritas.get(url_of(pairs)).text
    assert "candidate" not in page.partition("<main")[2]
    assert choose(ritas, pairs, 1, "left", note="shorter") == url_of(pairs, 2)
    pair, given = pair_at(pairs), Preference.objects.get()
    expected = PreferenceVerdict.WORSE if pair.is_swapped else PreferenceVerdict.BETTER
    assert (given.verdict, given.note, given.is_swapped) == (expected, "shorter", pair.is_swapped)
    assert "candidate" in ritas.get(url_of(pairs)).text


def test_the_last_choice_leads_to_the_results(ritas: Client, pairs: ReviewQueue) -> None:
    for number in (1, 2):
        choose(ritas, pairs, number, "right" if pair_at(pairs, number).is_swapped else "left")
    queue = reverse("review_queue", args=[pairs.uuid])
    assert "Hidden until you have compared all pairs" in ritas.get(queue).text
    assert choose(ritas, pairs, 3, "same") == queue
    page = " ".join(ritas.get(queue).text.split())
    assert "100.0 %" in page or "100 %" in page
    assert "candidate vs. w46" in page


def test_undo_clears_the_choice_and_brings_the_note_back(ritas: Client, pairs: ReviewQueue) -> None:
    choose(ritas, pairs, 1, "same", note="a long thought")
    undo = reverse("undo_review_task", args=[pairs.uuid, 1])
    answer = ritas.post(undo, follow=True)
    assert answer.redirect_chain[-1][0] == url_of(pairs)
    assert "a long thought</textarea>" in answer.text
    assert not Preference.objects.exists()


def test_a_choice_made_in_another_window_is_shown_beside_the_new_one(
    ritas: Client, pairs: ReviewQueue
) -> None:
    choose(ritas, pairs, 1, "left")
    answer = ritas.post(url_of(pairs), {"choice": "right", "note": "from here", "seen": ""})
    assert answer.status_code == 409
    assert "<strong>left is better</strong>" in answer.text
    assert "<strong>right is better</strong>" in answer.text
    assert "from here</textarea>" in answer.text
    seen = Preference.objects.get().code
    choose(ritas, pairs, 1, "right", seen=seen)
    assert pair_at(pairs).choice_of(Preference.objects.get().verdict) == "right"


def test_a_wrong_form_a_whole_text_and_somebody_else(
    ritas: Client, browser: Client, pairs: ReviewQueue
) -> None:
    answer = ritas.post(url_of(pairs), {"choice": "best", "note": "typed", "seen": ""})
    assert answer.status_code == 422
    assert "typed</textarea>" in answer.text
    assert ritas.get(url_of(pairs) + "?whole=left").text == pair_at(pairs).left.text
    assert ritas.get(url_of(pairs) + "?whole=nothing").status_code == 404
    assert browser.get(url_of(pairs)).status_code == 404


def main_of(page: str) -> str:
    return page.partition("<main")[2].partition("</main>")[0]


def test_the_page_of_the_queue_speaks_of_pairs(ritas: Client, pairs: ReviewQueue) -> None:
    queue = reverse("review_queue", args=[pairs.uuid])
    page = " ".join(main_of(ritas.get(queue).text).split())
    for text in ("3 pairs of", "pairwise, at random", "Start comparing", ">Compared</th>"):
        assert text in page
    assert "Export" not in page
    for text in ("Export reviews", "reviewing", ">Reviewed</th>", "random sample", " cases"):
        assert text not in page
    for number in (1, 2, 3):
        choose(ritas, pairs, number, "same")
    page = " ".join(ritas.get(queue).text.split())
    assert "You have compared all 3 of your pairs." in page
    assert 'Export<span class="visually-hidden"> preferences</span>' in page


def test_the_list_of_queues_names_pairs(ritas: Client, pairs: ReviewQueue) -> None:
    page = " ".join(ritas.get(reverse("review", args=[pairs.team.slug])).text.split())
    assert "pairwise, at random" in page
    assert '0 of 3 <span class="muted">compared</span>' in page
    assert "3 to compare" in " ".join(
        ritas.get(reverse("team_home", args=[pairs.team.slug])).text.split()
    )


def test_the_form_asks_for_pairs(browser: Client, rita: User, run: Run, other: Run) -> None:
    page = browser.get(reverse("new_pairwise_queue", args=[other.uuid]), {"baseline": run.uuid})
    assert {field.label for field in page.context["form"]} >= {"Pairs", "Judgements per pair"}


def exported(client: Client, queue: ReviewQueue) -> list[dict[str, Any]]:
    url = reverse("export_review_queue", args=[queue.uuid])
    answer = client.get(url, {"format": "json"})
    rows = json.loads(b"".join(answer.streaming_content))  # type: ignore[attr-defined]
    return list(rows)


def test_preferences_are_exported(
    ritas: Client, browser: Client, browser_of: BrowserOf, bob: User, pairs: ReviewQueue
) -> None:
    choose(ritas, pairs, 1, "left", note="shorter")
    for client in (ritas, browser, browser_of(bob)):
        (row,) = exported(client, pairs)
        pair, given = pair_at(pairs), Preference.objects.get()
        assert row == {
            "key": pair.candidate.case.key,
            "trial": 0,
            "candidate": "candidate",
            "baseline": "w46",
            "reviewer": "rita@example.org",
            "verdict": given.code,
            "candidate_side": "right" if pair.is_swapped else "left",
            "note": "shorter",
            "date": given.changed_at.isoformat(),
        }


def test_whoever_is_yet_to_compare_a_pair_does_not_export_it(
    ritas: Client, browser: Client, pairs: ReviewQueue, other: Run, run: Run
) -> None:
    erin = User.objects.get(email="erin@example.org")
    plan = QueuePlan("mine", [erin], 4, QueueOrder.RANDOM, baseline=run)
    own = create_queue(other, plan, erin)
    for number in (1, 2):
        choose(ritas, pairs, number, "left")
    assert exported(browser, pairs) == []
    first = pairs.tasks.get(position=1).output_id
    number = own.tasks.get(output=first).position
    choose(browser, own, number, "same")
    assert [row["reviewer"] for row in exported(browser, pairs)] == [
        "rita@example.org",
        "erin@example.org",
    ]


def test_reviewers_export_pairs_that_they_have_compared(
    ritas: Client, alice: User, pairs: ReviewQueue
) -> None:
    pair = pair_at(pairs, 2)
    outputs = (pair.candidate, pair.baseline)
    Preference.objects.prefer(pairs.run, outputs, PreferenceVerdict.SAME, by=alice)
    assert exported(ritas, pairs) == []
    choose(ritas, pairs, 2, "left")
    assert len(exported(ritas, pairs)) == 2


def test_a_queue_of_cases_exports_reviews(browser: Client, queue: ReviewQueue) -> None:
    answer = browser.get(reverse("export_review_queue", args=[queue.uuid]))
    assert "reviews" in answer.headers["Content-Disposition"]
    assert answer.headers["X-Row-Count"] == "0"


def test_a_pair_that_lost_its_other_output_leaves_the_queue(
    ritas: Client, run: Run, pairs: ReviewQueue
) -> None:
    Output.objects.filter(output_set=run.output_set).delete()
    answer = ritas.get(url_of(pairs))
    assert answer.status_code == 410
    assert "The output of w46 for this case no longer exists" in answer.text
    skip = reverse("skip_review_task", args=[pairs.uuid, 1])
    assert skip in answer.text
    assert "Remove from your queue" in answer.text
    answer = ritas.post(skip, follow=True)
    assert "is removed from your queue." in answer.text
    assert pairs.tasks.get(position=1).done_at
    assert not pairs.tasks.get(position=1).skipped_at
    form = {"choice": "left", "note": "", "seen": ""}
    assert ritas.post(url_of(pairs, 2), form).status_code == 410
    assert not Preference.objects.exists()


def test_a_closed_queue_says_so_beside_the_pair(
    ritas: Client, pairs: ReviewQueue, alice: User
) -> None:
    assert "This queue was closed" not in ritas.get(url_of(pairs)).text
    close_queue(pairs, alice)
    assert "This queue was closed" in ritas.get(url_of(pairs)).text


def test_undo_of_a_changed_choice_brings_the_earlier_one_back(
    ritas: Client, pairs: ReviewQueue
) -> None:
    choose(ritas, pairs, 1, "left", note="first")
    first = Preference.objects.get()
    form = {"choice": "same", "note": "second", "seen": first.code}
    changed = ritas.post(url_of(pairs), form, follow=True)
    path, fields = json.loads(next(iter(changed.context["messages"])).extra_tags)
    assert path == url_of(pairs)
    ritas.post(path, fields)
    again = Preference.objects.get()
    assert (again.verdict, again.note) == (first.verdict, "first")
