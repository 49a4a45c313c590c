"""Disagreements of a run on their pages: listed with who said what, decided by a third person."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from scoring.models import Adjudication, Output, Review, ReviewQueue, ReviewVerdict, Run, User

BrowserOf = Callable[[User], Client]
PASS, FAIL = ReviewVerdict.PASS, ReviewVerdict.FAIL


@pytest.fixture
def disputed(run: Run, alice: User) -> Run:
    """Alice fails the first two cases, and somebody elsewhere passes them."""
    for output in Output.objects.filter(case__position__lte=2):
        Review.objects.record(run, output, FAIL, by=alice, note="too short")
        Review.objects.create(output=output, reviewer_name="Tom", verdict=PASS)
    return run


def page_url(run: Run, position: int = 1) -> str:
    return reverse("adjudicate_disagreement", args=[run.uuid, position])


def seen() -> int:
    """The revision of the only final verdict."""
    return Adjudication.objects.get().revision


def test_run_and_queue_lead_to_the_list_where_there_are_any(
    browser: Client, run: Run, queue: ReviewQueue, alice: User
) -> None:
    url = reverse("disagreements", args=[run.uuid])
    pages = [reverse("run", args=[run.uuid]), reverse("review_queue", args=[queue.uuid])]
    assert all(url not in browser.get(page).text for page in pages)
    output = Output.objects.get(case__position=1)
    Review.objects.record(run, output, FAIL, by=alice)
    Review.objects.create(output=output, reviewer_name="Tom", verdict=PASS)
    assert all(url in browser.get(page).text for page in pages)
    assert "Reviewers disagree on 1 output,\n" in browser.get(pages[0]).text


def test_the_list_says_who_said_what_and_what_was_decided(
    browser: Client, disputed: Run, rita: User
) -> None:
    url = reverse("disagreements", args=[disputed.uuid])
    page = browser.get(url).text
    assert page.count("alice@example.org") == 2
    assert page.count("Tom") == 2
    output = Output.objects.get(case__position=2)
    Adjudication.objects.decide(disputed, output, PASS, by=rita, note="", seen=0)
    page = browser.get(url).text
    assert "Decided" in page
    assert "rita@example.org" in page


def test_each_final_verdict_leads_to_the_next_disagreement_and_can_be_undone(
    ritas: Client, disputed: Run
) -> None:
    form = {"verdict": "pass", "note": "long enough", "seen": "0"}
    answer = ritas.post(page_url(disputed), form, follow=True)
    assert answer.redirect_chain[-1][0] == page_url(disputed, 2)
    undo = reverse("clear_disagreement", args=[disputed.uuid, 1])
    assert undo in answer.text
    final = Adjudication.objects.get()
    assert (final.code, final.note, final.decided_by) == ("pass", "long enough", _rita())
    answer = ritas.post(page_url(disputed, 2), form, follow=True)
    assert answer.redirect_chain[-1][0] == reverse("disagreements", args=[disputed.uuid])
    answer = ritas.post(undo, {"seen": final.revision}, follow=True)
    assert answer.redirect_chain[-1][0] == page_url(disputed)
    assert Adjudication.objects.count() == 1


def test_two_who_decide_at_once_see_both_verdicts(
    ritas: Client, browser: Client, disputed: Run
) -> None:
    browser.post(page_url(disputed), {"verdict": "fail", "note": "rude", "seen": "0"})
    answer = ritas.post(page_url(disputed), {"verdict": "pass", "note": "fine", "seen": "0"})
    assert answer.status_code == 409
    assert "erin@example.org decided in the meantime" in answer.text
    assert "rude" in answer.text
    assert "fine</textarea>" in answer.text
    assert f'name="seen" value="{seen()}"' in answer.text
    assert Adjudication.objects.get().verdict == FAIL
    ritas.post(page_url(disputed), {"verdict": "pass", "note": "fine", "seen": seen()})
    assert Adjudication.objects.get().verdict == PASS
    late = browser.post(
        reverse("clear_disagreement", args=[disputed.uuid, 1]), {"seen": "1"}, follow=True
    )
    assert "Someone else adjudicated this output in the meantime." in late.text
    assert Adjudication.objects.exists()


def test_a_reviewer_of_the_output_and_a_viewer_only_look(
    browser_of: BrowserOf, disputed: Run, alice: User, bob: User
) -> None:
    alices, bobs = browser_of(alice), browser_of(bob)
    assert "another reviewer gives the final verdict" in alices.get(page_url(disputed)).text
    form = {"verdict": "pass", "note": "", "seen": "0"}
    refused = alices.post(page_url(disputed), form)
    assert refused.status_code == 409
    assert "A person who reviewed the output may not adjudicate it." in refused.text
    page = bobs.get(page_url(disputed)).text
    assert "too short" in page
    assert 'id="review-task"' not in page
    assert bobs.post(page_url(disputed), form).status_code == 403
    assert not Adjudication.objects.exists()


def test_whoever_still_reviews_the_case_does_not_see_what_others_said(
    ritas: Client, disputed: Run, queue: ReviewQueue
) -> None:
    assert queue.tasks.count() == 4
    page = ritas.get(reverse("disagreements", args=[disputed.uuid])).text
    assert "2 more are shown once you have reviewed" in page
    assert "Tom" not in page
    assert ritas.get(page_url(disputed)).status_code == 404


def test_a_case_that_nobody_disputes_has_no_page(ritas: Client, disputed: Run) -> None:
    assert ritas.get(page_url(disputed, 3)).status_code == 404
    assert ritas.get(page_url(disputed) + "?trial=x").status_code == 404


def test_a_wrong_form_keeps_the_note_and_a_whole_text_is_opened(
    ritas: Client, disputed: Run
) -> None:
    answer = ritas.post(page_url(disputed), {"verdict": "", "note": "typed", "seen": "0"})
    assert answer.status_code == 422
    assert "typed</textarea>" in answer.text
    assert ritas.get(page_url(disputed) + "?whole=output").text == "yes"


def test_the_page_of_the_case_shows_the_final_verdict_with_the_reviews(
    browser_of: BrowserOf, disputed: Run, rita: User, alice: User
) -> None:
    output = Output.objects.get(case__position=1)
    Adjudication.objects.decide(disputed, output, PASS, by=rita, note="clear", seen=0)
    page = browser_of(alice).get(reverse("run_case", args=[disputed.uuid, 1])).text
    assert "final verdict" in page
    assert "clear" in page


def _rita() -> User:
    return User.objects.get(email="rita@example.org")


def test_whoever_decides_after_the_reviewers_agreed_is_told(
    ritas: Client, browser_of: BrowserOf, charlie: User, bob: User, disputed: Run
) -> None:
    Review.objects.filter(output__case__position=1).update(verdict=PASS)
    form = {"verdict": "pass", "note": "", "seen": "0"}
    answer = ritas.post(page_url(disputed), form, follow=True)
    assert answer.redirect_chain[-1][0] == reverse("disagreements", args=[disputed.uuid])
    assert "There is nothing to decide on this output any more." in answer.text
    assert not Adjudication.objects.exists()
    assert ritas.post(page_url(disputed, 99), form).status_code == 404
    assert browser_of(charlie).post(page_url(disputed), form).status_code == 404
    assert browser_of(bob).post(page_url(disputed), form).status_code == 403


def test_undo_of_a_changed_final_verdict_brings_the_earlier_one_back(
    ritas: Client, browser_of: BrowserOf, disputed: Run
) -> None:
    url = page_url(disputed)
    ritas.post(url, {"verdict": "pass", "note": "first", "seen": "0"})
    changed = ritas.post(url, {"verdict": "fail", "note": "second", "seen": seen()}, follow=True)
    assert Adjudication.objects.get().verdict == FAIL
    path, fields = json.loads(list(changed.context["messages"])[-1].extra_tags)
    assert path == url
    ritas.post(path, fields)
    again = Adjudication.objects.get()
    assert (again.verdict, again.note) == (PASS, "first")
