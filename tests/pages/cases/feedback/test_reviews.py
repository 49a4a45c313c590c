"""A person's verdict on the page of a case: given, changed, taken back, and blind before that."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from scoring.engine.runs import lifecycle
from scoring.models import AuditEntry, Member, Output, Review, ReviewVerdict, Role, Run, Team, User
from tests.pages.conftest import MakeSet
from tests.support.run_states import CLOSE, EXACT, finished_run
from tests.support.undone import undone

BrowserOf = Callable[[User], Client]

SECRET = "The tone is wrong here"
HX = {"HX-Request": "true", "HX-Target": "reviews"}


@pytest.fixture
def sam(team: Team) -> User:
    """Another reviewer."""
    return member(team, "sam@example.org", Role.REVIEWER)


def member(team: Team, email: str, role: Role) -> User:
    user = User.objects.create_user(email)
    Member.objects.create(team=team, user=user, role=role)
    return user


def case_url(run: Run, position: int = 1, query: str = "") -> str:
    return reverse("run_case", args=[run.uuid, position]) + query


def say(
    browser: Client, run: Run, verdict: str, note: str = "", query: str = "", **headers: Any
) -> Any:
    address = reverse("review_case", args=[run.uuid, 1]) + query
    return browser.post(address, {"verdict": verdict, "note": note}, headers=headers)


def output_of(run: Run, position: int = 1) -> Output:
    return Output.objects.get(output_set=run.output_set, case__position=position)


def pressed(answer: Any) -> list[str]:
    """The verdicts whose buttons are pressed in."""
    found = re.findall(r'value="(\w+)"\s+aria-pressed="(\w+)"', answer.text)
    assert [value for value, _ in found] == ["pass", "fail", "unsure", "bad_case"]
    return [value for value, is_pressed in found if is_pressed == "true"]


@pytest.mark.parametrize("verdict", list(ReviewVerdict), ids=lambda verdict: verdict.code)
def test_a_verdict_is_given_and_shown_as_ones_own(
    ritas: Client, rita: User, run: Run, verdict: ReviewVerdict
) -> None:
    answer = say(ritas, run, verdict.code, "two\r\nlines", "?verdict=fail&n=2")
    assert answer.status_code == 302
    assert answer["Location"] == case_url(run, 1, "?verdict=fail&n=2#reviews")
    review = Review.objects.get(reviewer=rita)
    assert (review.output, review.verdict, review.note) == (output_of(run), verdict, "two\nlines")
    page = ritas.get(case_url(run))
    assert pressed(page) == [verdict.code]
    assert f"Your verdict: {verdict.label}, with a note." in page.text
    assert "two\nlines</textarea>" in page.text


def test_without_a_verdict_none_is_pressed_in(ritas: Client, run: Run) -> None:
    page = ritas.get(case_url(run))
    assert pressed(page) == []
    for label in ("Save the note", "Clear verdict"):
        assert page.text.count(f"disabled>{label}") == 1


def test_a_swap_holds_the_own_verdict_what_others_said_and_the_way_back(
    ritas: Client, rita: User, sam: User, run: Run
) -> None:
    Review.objects.record(run, output_of(run), ReviewVerdict.FAIL, by=sam, note=SECRET)
    answer = say(ritas, run, "pass", **HX)
    assert answer.status_code == 200
    assert "<html" not in answer.text
    assert pressed(answer) == ["pass"]
    assert SECRET in answer.text
    assert 'id="all-reviews" aria-labelledby="all-reviews-title" hx-swap-oob="true"' in answer.text
    assert "Your verdict: pass." in answer.text
    undo = re.search(r'name="verdict" value="(\w*)">\s*<input[^>]+name="note"', answer.text)
    assert undo is not None
    assert undo[1] == ""


def test_undo_brings_back_what_was_said_before(ritas: Client, rita: User, run: Run) -> None:
    say(ritas, run, "pass", 'a "quoted"\nnote')
    answer = say(ritas, run, "fail", **HX)
    verdict, note = re.findall(
        r'type="hidden" name="(?:verdict|note)" value="([^"]*)"', answer.text
    )
    say(ritas, run, verdict, unescape(note), **HX)
    assert Review.objects.get().audit_values == {"verdict": "pass", "note": 'a "quoted"\nnote'}


def test_a_verdict_is_taken_back(ritas: Client, rita: User, run: Run) -> None:
    say(ritas, run, "pass", "good")
    answer = say(ritas, run, "", "good", **HX)
    assert not Review.objects.exists()
    assert pressed(answer) == []
    assert "Your verdict is cleared." in answer.text
    assert 'name="verdict" value="pass"' in answer.text.partition('id="messages"')[2]
    again = say(ritas, run, "", **HX)
    assert "You have given no verdict here." in again.text
    assert "undo-review" not in again.text
    actions = AuditEntry.objects.by(rita).values_list("action", flat=True)
    assert list(actions) == ["review.taken_back", "review.said"]


def test_the_same_verdict_again_offers_no_way_back(ritas: Client, run: Run) -> None:
    say(ritas, run, "pass")
    assert "undo-review" not in say(ritas, run, "pass", **HX).text


def test_what_is_no_review_is_refused(ritas: Client, run: Run, subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, str]] = [
        ("perfect", ""),
        ("pass", "x" * 10_001),
        ("0", ""),
        ("pass", "\0"),
    ]
    for verdict, note in cases:
        with subtests.test(verdict=verdict, note=note), undone():
            answer = say(ritas, run, verdict, note, **HX)
            assert answer.status_code == 422
            assert "Your verdict is not kept" in answer.text
            assert say(ritas, run, verdict, note).status_code == 302
            assert "Your verdict is not kept" in ritas.get(case_url(run)).text
            assert not Review.objects.exists()


def test_no_verdict_at_all_takes_nothing_back(ritas: Client, run: Run) -> None:
    say(ritas, run, "pass")
    address = reverse("review_case", args=[run.uuid, 1])
    assert ritas.post(address, {"note": "lost"}, headers=HX).status_code == 422
    assert Review.objects.get().audit_values == {"verdict": "pass", "note": ""}


# Blind until one's own verdict.


def test_nothing_of_anothers_verdict_is_in_the_page_before_ones_own(
    browser_of: BrowserOf, team: Team, sam: User, run: Run, subtests: pytest.Subtests
) -> None:
    cases: list[Role] = [Role.REVIEWER, Role.EDITOR, Role.ADMIN]
    for role in cases:
        with subtests.test(role=role), undone():
            browser = browser_of(member(team, "rosa@example.org", role))
            before = masked(browser.get(case_url(run)))
            Review.objects.record(run, output_of(run), ReviewVerdict.BAD_CASE, by=sam, note=SECRET)
            page = browser.get(case_url(run))
            assert masked(page) == before  # not even that there is one
            assert "What others said is shown once you have given your own verdict." in page.text
            say(browser, run, "pass")
            after = browser.get(case_url(run)).text
            assert SECRET in after
            assert "sam@example.org" in after
            say(browser, run, "")
            last = browser.get(case_url(run)).text
            assert SECRET not in last
            assert "sam@example.org" not in last


def masked(answer: Any) -> str:
    """The page without what differs from answer to answer."""
    return re.sub(r"\b[A-Za-z0-9]{64}\b", "TOKEN", answer.text)


def test_blindness_is_by_output(ritas: Client, rita: User, sam: User, run: Run) -> None:
    for position in (1, 2):
        output = output_of(run, position)
        Review.objects.record(run, output, ReviewVerdict.FAIL, by=sam, note=SECRET)
    Review.objects.record(run, output_of(run, 2), ReviewVerdict.PASS, by=rita)
    assert SECRET not in ritas.get(case_url(run, 1)).text
    assert SECRET in ritas.get(case_url(run, 2)).text


def test_a_viewer_reads_what_was_said_and_says_nothing(
    browser_of: BrowserOf, bob: User, sam: User, run: Run
) -> None:
    Review.objects.record(run, output_of(run), ReviewVerdict.FAIL, by=sam, note=SECRET)
    browser = browser_of(bob)
    page = browser.get(case_url(run)).text
    assert SECRET in page
    assert "review-form" not in page
    assert say(browser, run, "pass").status_code == 403
    assert Review.objects.count() == 1


def test_a_stranger_finds_no_case_to_review(browser_of: BrowserOf, charlie: User, run: Run) -> None:
    assert say(browser_of(charlie), run, "pass").status_code == 404


# Lists and runs around it.


def test_the_runs_list_follows(ritas: Client, rita: User, run: Run) -> None:
    def listed(reviewed: str) -> list[int]:
        page = ritas.get(reverse("run", args=[run.uuid]), {"reviewed": reviewed})
        return [row.place.position for row, *_ in page.context["cases"].rows()]

    assert (listed("yes"), listed("no")) == ([], [1, 2, 3, 4])
    say(ritas, run, "pass")
    assert (listed("yes"), listed("no")) == ([1], [2, 3, 4])
    say(ritas, run, "")
    assert (listed("yes"), listed("no")) == ([], [1, 2, 3, 4])


def test_a_list_of_cases_to_review_counts_down(ritas: Client, run: Run) -> None:
    query = "?reviewed=no&n=1"
    page = ritas.get(case_url(run, 1, query))
    assert page.context["cases"].standing == "1 of 4"
    answer = say(ritas, run, "pass", query=query, **HX)
    around = answer.context["cases"]
    assert around.standing == "3 left"
    assert around.next_url == case_url(run, 2, query)
    assert 'id="sequence" aria-label="Cases" hx-swap-oob="true"' in answer.text
    assert ritas.get(around.next_url).context["cases"].standing == "1 of 3"
    undone = say(ritas, run, "", query=query, **HX)
    assert undone.context["cases"].standing == "1 of 4"
    assert undone.context["cases"].next_url == case_url(run, 2, "?reviewed=no&n=2")


def test_the_next_case_is_shown_as_this_one_is_now(ritas: Client, run: Run) -> None:
    """Texts are swapped without the form, whose address then lags behind the browser's."""
    now = f"https://testserver{case_url(run, 1, '?reviewed=no&n=1&diff=char&layout=inline')}"
    answer = say(ritas, run, "pass", query="?reviewed=no&n=1", **HX, **{"HX-Current-URL": now})
    following = answer.context["cases"].next_url
    assert "diff=char" in following
    assert "layout=inline" in following


def test_runs_of_the_same_outputs_share_a_verdict(ritas: Client, run: Run) -> None:
    say(ritas, run, "pass")
    again = finished_run(run.output_set, EXACT, name="again")
    assert pressed(ritas.get(case_url(again))) == ["pass"]


def test_an_archived_run_is_reviewed_and_a_deleted_one_not(
    ritas: Client, alice: User, run: Run
) -> None:
    lifecycle.archive_run(run, alice)
    assert say(ritas, run, "pass").status_code == 302
    Run.objects.filter(pk=run.pk).update(deleted_at=timezone.now())
    assert say(ritas, run, "fail").status_code == 404
    assert Review.objects.get().verdict == ReviewVerdict.PASS


def test_a_trial_has_its_own_verdict(ritas: Client, make_set: MakeSet) -> None:
    outputs = make_set(["yes"])
    first = Output.objects.get(output_set=outputs)
    second = Output.objects.create(output_set=outputs, case=first.case, trial=1, text="no")
    run = finished_run(outputs, CLOSE)
    answer = say(ritas, run, "fail", query="?trial=1")
    assert answer["Location"] == case_url(run, 1, "?trial=1#reviews")
    assert Review.objects.get().output == second
    assert pressed(ritas.get(case_url(run))) == []
    assert say(ritas, run, "fail", query="?trial=7").status_code == 404


# Hostile words and costs.


def test_what_people_write_is_text(ritas: Client, sam: User, run: Run) -> None:
    User.objects.filter(pk=sam.pk).update(name="<b>Sam</b>\N{RIGHT-TO-LEFT OVERRIDE}")
    note = "</textarea><script>alert(1)</script>\N{ZERO WIDTH SPACE}"
    Review.objects.record(run, output_of(run), ReviewVerdict.FAIL, by=sam, note=note)
    answer = say(ritas, run, "fail", note, **HX)
    for page in (answer.text, ritas.get(case_url(run)).text):
        assert "<script>alert" not in page
        assert "<b>Sam" not in page
        assert page.count("&lt;script&gt;alert(1)") >= 3
        assert "U+202E" in page
        assert "U+200B" in page


@pytest.mark.parametrize("query", ["", "?verdict=fail&sort=close"])
def test_reviews_and_comments_cost_no_query(
    ritas: Client, rita: User, run: Run, query: str
) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert ritas.get(case_url(run, 3, query)).status_code == 200
        return len(captured)

    queries()
    before = queries()
    for number in range(5):
        person = User.objects.create_user(f"{number}@example.org")
        Review.objects.record(run, output_of(run, 3), ReviewVerdict.FAIL, by=person)
    Review.objects.record(run, output_of(run, 3), ReviewVerdict.PASS, by=rita)
    assert queries() == before + 1  # the final verdict, where reviewers disagree
