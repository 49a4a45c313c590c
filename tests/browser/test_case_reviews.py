"""Verdicts and comments in a real browser: by mouse, by keys alone, and by two people at once."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from playwright.sync_api import Browser, Locator, Page, Route, expect
from pytest_django.live_server_helper import LiveServer

from scoring.models import (
    AuditEntry,
    Comment,
    Member,
    Output,
    Review,
    ReviewVerdict,
    Role,
    Run,
    Team,
    User,
)
from tests.browser.compare_steps import Check, Keys, has_settled, in_both_schemes, stays
from tests.browser.walk import Walk
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.run_states import CLOSE, finished_run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SignIn = Callable[[User], None]


@pytest.fixture
def run(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> Run:
    cases = [{"key": f"q{n}", "input": "?", "expected": "yes"} for n in range(3)]
    return finished_run(make_outputs(make_dataset(cases), ["yes\n" * 60, "no", "yes"]), CLOSE)


def member(team: Team, email: str) -> User:
    user = User.objects.create_user(email)
    Member.objects.create(team=team, user=user, role=Role.REVIEWER)
    return user


@pytest.fixture
def case(page: Page, sign_in: SignIn, rita: User, run: Run) -> Page:
    sign_in(rita)
    page.goto(reverse("run_case", args=[run.uuid, 1]) + "?reviewed=no&n=1")
    return page


def verdict(page: Page, name: str) -> Locator:
    return page.get_by_role("group", name="Your verdict").get_by_role("button", name=name)


def is_given(page: Page, name: str) -> None:
    expect(verdict(page, name)).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#reviews [aria-pressed=true]")).to_have_count(1)
    has_settled(page)


def toast(page: Page) -> Locator:
    return page.locator("#messages")


def test_a_verdict_before_the_next_case_is_in_sight_goes_to_neither(case: Page, run: Run) -> None:
    held: list[Route] = []
    case.route("**/cases/2/**", lambda route: held.append(route))  # noqa: PLW0108  no builtin
    case.reload()  # a request right after `route` was once sent before the browser held any
    with case.expect_request("**/cases/2/**"):
        case.keyboard.press("j")
    case.keyboard.press("1")
    case.wait_for_function("document.querySelector('.sequence a.htmx-request')")
    held.pop().continue_()
    expect(case.get_by_role("heading", level=1)).to_contain_text("q1")
    has_settled(case)
    assert not Review.objects.exists()
    case.unroute_all()
    case.keyboard.press("1")
    is_given(case, "pass")
    assert [review.output.case.key for review in Review.objects.all()] == ["q1"]


def test_verdicts_by_mouse(case: Page, run: Run, is_accessible: Check) -> None:
    is_same_page = stays(case)
    in_both_schemes(case, is_accessible)
    for name, said in {"fail": "fail", "bad case": "bad case"}.items():
        verdict(case, name).click()
        is_given(case, name)
        expect(verdict(case, name)).to_be_focused()
        expect(toast(case)).to_contain_text(f"Your verdict: {said}.")
    in_both_schemes(case, is_accessible)
    toast(case).get_by_role("button", name="Undo").click()
    is_given(case, "fail")
    case.get_by_label("Note").fill("It is far off.")
    case.get_by_role("button", name="Save the note").click()
    expect(toast(case)).to_contain_text("Your verdict: fail, with a note.")
    expect(case.get_by_role("region", name="Reviews")).to_contain_text("It is far off.")
    case.get_by_role("button", name="Clear verdict").click()
    expect(case.locator("#reviews [aria-pressed=true]")).to_have_count(0)
    expect(case.get_by_label("Note")).to_have_value("")
    expect(case.locator("#reviews")).to_be_focused()  # its own button is disabled now
    toast(case).get_by_role("button", name="Undo").click()
    is_given(case, "fail")
    expect(case.get_by_label("Note")).to_have_value("It is far off.")
    assert is_same_page()
    assert Review.objects.get().audit_values == {"verdict": "fail", "note": "It is far off."}


def test_verdicts_by_keys_alone_from_case_to_case(case: Page, run: Run) -> None:
    keys = Keys(case)
    for key, name in {"1": "pass", "2": "fail", "3": "unsure", "4": "bad case"}.items():
        keys.press(key)
        is_given(case, name)
    keys.press("n")
    keys.type("4 of 4")  # digits are a text here
    keys.press("Escape")
    keys.press("3")
    is_given(case, "unsure")
    expect(case.get_by_label("Note")).to_have_value("4 of 4")
    expect(case.locator("#sequence .number")).to_have_text("2 left")
    keys.press("j")
    Walk(case).is_at("q1")
    expect(case.locator("#sequence .number")).to_have_text("1 of 2")
    has_settled(case)  # a form that htmx does not know yet is sent as a page of its own
    keys.press("2")
    is_given(case, "fail")
    keys.to("Undo")
    keys.press("Enter")
    expect(case.locator("#reviews [aria-pressed=true]")).to_have_count(0)
    has_settled(case)
    expect(toast(case).get_by_role("button", name="Undo")).to_be_focused()  # gives it again
    keys.press("Enter")
    is_given(case, "fail")
    said = Review.objects.order_by("output__case__position")
    assert [review.audit_values for review in said] == [
        {"verdict": "unsure", "note": "4 of 4"},
        {"verdict": "fail", "note": ""},
    ]


def test_the_page_stays_where_it_is_scrolled_to(case: Page) -> None:
    case.set_viewport_size({"width": 1000, "height": 500})
    case.evaluate("scrollTo(0, 300)")
    before = case.get_by_role("heading", name="Why").bounding_box()
    Keys(case).press("2")
    is_given(case, "fail")
    assert case.get_by_role("heading", name="Why").bounding_box() == before
    assert case.evaluate("scrollY") == 300


def test_the_last_of_many_presses_counts(case: Page, run: Run) -> None:
    """On a slow line: no answer of an earlier press may come after a later one's."""
    case.route("**/review/**", lambda route: (case.wait_for_timeout(150), route.continue_()))
    codes = ["pass", "fail", "bad_case", "unsure"]
    case.evaluate("(ids) => ids.forEach((id) => document.getElementById(id).click())",
                  [f"say-{code}" for code in codes])  # fmt: skip
    is_given(case, "unsure")
    expect(toast(case)).to_contain_text("Your verdict: unsure.")
    said = AuditEntry.objects.filter(action="review.said").order_by("pk")
    assert [entry.new["verdict"] for entry in said] == ["pass", "unsure"]


def test_ways_to_look_that_were_chosen_meanwhile_go_on_to_the_next_case(case: Page) -> None:
    keys = Keys(case)
    case.get_by_role("link", name="characters").click()
    has_settled(case)
    keys.press("1")
    is_given(case, "pass")
    keys.press("j")
    Walk(case).is_at("q1")
    current = case.get_by_role("navigation", name="Ways to compare").locator("[aria-current]")
    expect(current).to_have_text("characters")


def test_two_reviewers_at_once_are_blind_until_their_own_verdict(
    case: Page, run: Run, team: Team, chromium: Browser, live_server: LiveServer
) -> None:
    client, name = Client(), settings.SESSION_COOKIE_NAME
    client.force_login(member(team, "sam@example.org"))
    other = chromium.new_context(base_url=live_server.url)
    session = {"name": name, "value": client.cookies[name].value, "url": live_server.url}
    other.add_cookies([session])  # type: ignore[list-item]  # a dict of the same shape
    sams = other.new_page()
    sams.goto(reverse("run_case", args=[run.uuid, 1]))
    Keys(case).press("1")
    is_given(case, "pass")
    region = sams.get_by_role("region", name="Reviews")
    sams.reload()
    expect(region).to_contain_text("once you have given your own verdict")
    assert "rita@example.org" not in sams.content()
    Keys(sams).press("2")
    is_given(sams, "fail")
    expect(region).to_contain_text("rita@example.org")
    expect(case.get_by_role("region", name="Reviews")).not_to_contain_text("sam@example.org")
    Keys(case).press("2")
    is_given(case, "fail")
    expect(case.get_by_role("region", name="Reviews")).to_contain_text("sam@example.org")
    assert [review.verdict for review in Review.objects.all()] == [ReviewVerdict.FAIL] * 2
    other.close()


# Comments.


def comments(page: Page) -> Locator:
    return page.get_by_role("region", name="Comments")


def test_a_comment_by_mouse(case: Page, is_accessible: Check) -> None:
    is_same_page, region = stays(case), comments(case)
    region.get_by_label("Your comment", exact=True).fill("Is it <b>right</b>?\nWho says so?")
    region.get_by_role("button", name="Add the comment").click()
    expect(region.locator("li")).to_contain_text("Is it <b>right</b>?")
    expect(region.get_by_label("Your comment", exact=True)).to_have_value("")
    has_settled(case)
    region.get_by_label("Your comment", exact=True).fill("A draft")
    region.locator("summary").click()
    in_both_schemes(case, is_accessible)
    region.get_by_label("Text of your comment").fill("It is.")
    region.get_by_role("button", name="Save the change").click()
    expect(region.locator("li")).to_contain_text("edited")
    has_settled(case)
    region.get_by_role("button", name="Delete").click()
    expect(region.get_by_role("status")).to_contain_text("The comment is deleted.")
    has_settled(case)
    in_both_schemes(case, is_accessible)
    region.get_by_role("button", name="Undo").click()
    expect(region.locator("li")).to_contain_text("It is.")
    expect(region.get_by_label("Your comment", exact=True)).to_have_value("A draft")
    assert is_same_page()
    assert Comment.objects.get().text == "It is."


def test_a_comment_by_keys_alone(case: Page) -> None:
    keys, region = Keys(case), comments(case)
    keys.press("c")
    keys.type("Why 4?")
    keys.open("Add the comment")
    expect(region.locator("li")).to_contain_text("Why 4?")
    has_settled(case)
    assert keys.at() == "Add the comment"
    case.reload()
    keys.open("Edit")
    expect(region.get_by_label("Text of your comment")).to_be_focused()
    keys.type(" So?")
    keys.open("Save the change")
    expect(region.locator("li")).to_contain_text("Why 4? So?")
    has_settled(case)
    keys.open("Delete")
    expect(region.get_by_role("status")).to_have_text("The comment is deleted.")
    has_settled(case)
    keys.open("Undo")
    expect(region.locator("li")).to_contain_text("Why 4? So?")
    assert not Review.objects.exists()


# What is typed.


@pytest.mark.parametrize("key", ["Control+Enter", "Meta+Enter"])
def test_a_key_sends_what_is_written(case: Page, run: Run, key: str) -> None:
    keys, region = Keys(case), comments(case)
    keys.press("n")
    keys.press(key)  # there is no verdict yet that a note could go with
    keys.press("Escape")
    keys.press("c")
    keys.type("First")
    keys.press(key)
    expect(region.locator("li")).to_contain_text("First")
    has_settled(case)
    keys.open("Edit")
    keys.type(" of all")
    keys.press(key)
    expect(region.locator("li")).to_contain_text("First of all")
    has_settled(case)
    keys.press("2")
    is_given(case, "fail")
    keys.press("n")
    keys.type("Too short.")
    keys.press(key)
    expect(toast(case)).to_contain_text("Your verdict: fail, with a note.")
    assert Review.objects.get().audit_values == {"verdict": "fail", "note": "Too short."}
    assert Comment.objects.get().text == "First of all"


def test_escape_leaves_an_edit_and_nothing_typed_is_lost(case: Page, rita: User, run: Run) -> None:
    Comment.objects.add(run, Output.objects.get(case__position=1), "Why?", by=rita)
    case.reload()
    keys, field = Keys(case), comments(case).get_by_label("Text of your comment")
    keys.open("Edit")
    keys.press("Escape")
    expect(field).to_be_hidden()  # nothing was changed
    assert keys.at() == "Edit"
    keys.press("Enter")
    keys.type(" Who?")
    keys.press("Escape")
    assert keys.at() == "Edit"
    expect(field).to_have_value("Why? Who?")


def test_what_is_not_sent_comes_back_with_its_case(case: Page, rita: User, run: Run) -> None:
    """Over steps to other cases, over a page loaded anew, until it is sent."""
    Comment.objects.add(run, Output.objects.get(case__position=1), "Why?", by=rita)
    case.reload()
    keys, region, walk = Keys(case), comments(case), Walk(case)
    note, comment = case.get_by_label("Note"), region.get_by_label("Your comment", exact=True)
    keys.open("Edit")
    keys.type(" Who?")
    for key, text in {"n": "Half a note", "c": "Half a comment"}.items():
        keys.press("Escape")
        keys.press(key)
        keys.type(text)
    keys.press("Escape")
    keys.press("j")
    walk.is_at("q1")
    expect(note).to_have_value("")
    expect(comment).to_have_value("")
    keys.press("k")
    walk.is_at("q0")
    for _ in range(2):
        expect(note).to_have_value("Half a note")
        expect(comment).to_have_value("Half a comment")
        expect(region.get_by_label("Text of your comment")).to_have_value("Why? Who?")
        case.reload()
    keys.press("2")
    is_given(case, "fail")
    keys.press("c")
    keys.press("Control+Enter")
    expect(region.locator("li")).to_have_count(2)
    has_settled(case)
    case.reload()
    expect(note).to_have_value("Half a note")  # as it was sent with the verdict
    expect(comment).to_have_value("")
    assert case.evaluate("Object.values(JSON.parse(sessionStorage.typed))") == ["Why? Who?"]


def test_what_is_typed_by_one_person_is_not_given_to_another(
    case: Page, sign_in: SignIn, team: Team
) -> None:
    case.get_by_label("Note").fill("Half a note")
    sign_in(member(team, "sam@example.org"))
    case.reload()
    expect(case.get_by_label("Note")).to_have_value("")


def test_without_a_script_all_of_it_works(
    chromium: Browser, live_server: LiveServer, rita: User, run: Run
) -> None:
    client, name = Client(), settings.SESSION_COOKIE_NAME
    client.force_login(rita)
    plain = chromium.new_context(base_url=live_server.url, java_script_enabled=False)
    session = {"name": name, "value": client.cookies[name].value, "url": live_server.url}
    plain.add_cookies([session])  # type: ignore[list-item]  # a dict of the same shape
    page = plain.new_page()
    page.goto(reverse("run_case", args=[run.uuid, 2]) + "?verdict=fail&n=2")
    verdict(page, "unsure").click()
    expect(verdict(page, "unsure")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_text("Your verdict: unsure.")).to_be_visible()
    page.get_by_role("button", name="Clear verdict").click()
    expect(page.locator("#reviews [aria-pressed=true]")).to_have_count(0)
    region = comments(page)
    region.get_by_label("Your comment", exact=True).fill("Plain")
    region.get_by_role("button", name="Add the comment").click()
    region.get_by_role("button", name="Delete").click()
    region.get_by_role("button", name="Undo").click()
    expect(region.locator("li")).to_contain_text("Plain")
    expect(page.locator("#sequence .number")).to_have_text("2 of 2")
    plain.close()


def test_long_words_stay_inside_the_page(case: Page, rita: User, run: Run) -> None:
    output, long = Output.objects.get(case__position=1), "x" * 500
    Review.objects.record(run, output, ReviewVerdict.FAIL, by=rita, note=long)
    Comment.objects.add(run, output, long, by=rita)
    case.reload()
    for verdict in ("fail", "pass"):
        is_given(case, verdict)
        for width in (360, 2560):
            case.set_viewport_size({"width": width, "height": 740})
            assert case.evaluate("document.documentElement.scrollWidth") <= width, width
        Keys(case).press("1")
