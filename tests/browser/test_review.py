"""Reviewing in a real browser: many cases by keys, by mouse, and two people at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from scoring.core.questions import Questions
from scoring.engine.review.queue_progress import QueueProgress
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
from tests.browser.compare_steps import in_both_schemes
from tests.browser.conftest import PATIENCE_MS
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.run_states import CLOSE, finished_run
from tests.support.thoroughness import IS_THOROUGH

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SignIn = Callable[[User], None]
Check = Callable[[Page], None]
CASES = 100 if IS_THOROUGH else 20


@pytest.fixture
def run(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> Run:
    cases = [{"key": f"q{n:03}", "input": f"Question {n}", "expected": "yes"} for n in range(CASES)]
    texts = ["yes\n" * (40 if n % 10 == 0 else 1) for n in range(CASES)]
    return finished_run(make_outputs(make_dataset(cases), texts), CLOSE)


def queue_for(run: Run, *reviewers: User, cases: int = CASES, each: int = 1) -> ReviewQueue:
    plan = QueuePlan("w46", reviewers, cases, reviewers_per_case=each)
    return create_queue(run, plan, by=reviewers[0])


@contextmanager
def tab_of(
    person: User, page: Page, sign_in: SignIn, chromium: Browser, live_server: LiveServer
) -> Iterator[Page]:
    """The person's tab in a window of their own; the page is for somebody else then."""
    sign_in(person)
    with chromium.new_context(base_url=live_server.url) as window:
        window.add_cookies(page.context.cookies())  # type: ignore[arg-type]
        yield window.new_page()


def test_many_cases_by_keys_without_a_jump_and_without_losing_one(
    page: Page, sign_in: SignIn, run: Run, rita: User
) -> None:
    """Keys are pressed faster than cases load; each one counts, in order."""
    queue = queue_for(run, rita)
    sign_in(rita)
    page.goto(reverse("next_review", args=[queue.uuid]))
    page.evaluate("window.marked = true; window.scrolled = 0")
    page.evaluate("addEventListener('scroll', () => { scrolled = Math.max(scrolled, scrollY) })")
    keys = ["1" if n % 3 else "2" for n in range(CASES)]
    for start in range(0, CASES, 20):
        for key in keys[start : start + 20]:
            page.keyboard.press(key)
        done = f"{start + 20} of {CASES} reviewed"
        if start + 20 < CASES:
            expect(page.locator("[data-says=progress]")).to_have_text(done)
    expect(page.get_by_text(f"You have reviewed all {CASES} of your cases.")).to_be_visible()
    assert page.evaluate("[window.marked, window.scrolled]") == [True, 0]
    tasks = queue.tasks.order_by("position").values_list("output", flat=True)
    given = dict(Review.objects.filter(reviewer=rita).values_list("output", "verdict"))
    wanted = [ReviewVerdict.PASS if key == "1" else ReviewVerdict.FAIL for key in keys]
    assert [given[output] for output in tasks] == wanted


def test_skip_undo_note_and_tags_by_keys(
    page: Page, sign_in: SignIn, run: Run, rita: User, team: Team, is_accessible: Check
) -> None:
    FailureTag.objects.create(team=team, name="tone", help_text="Too rude.")
    queue = queue_for(run, rita, cases=3)
    sign_in(rita)
    page.goto(reverse("review_queue", args=[queue.uuid]))
    in_both_schemes(page, is_accessible)
    page.get_by_role("link", name="Start reviewing").focus()
    page.keyboard.press("Enter")
    first = page.get_by_role("heading", level=1)
    expect(first).to_have_text("q001")
    in_both_schemes(page, is_accessible)
    page.keyboard.press("s")
    expect(first).to_have_text("q002")
    page.keyboard.press("n")
    page.keyboard.type("1 2 3: digits are text here")
    page.keyboard.press("Escape")
    page.get_by_label("tone").press("Space")
    page.keyboard.press("2")
    expect(first).to_have_text("q003")
    review = Review.objects.get()
    assert (review.verdict, review.failure_tags) == (ReviewVerdict.FAIL, ["tone"])
    assert review.note == "1 2 3: digits are text here"
    page.keyboard.press("u")
    expect(first).to_have_text("q002")
    expect(page.get_by_label("Note")).to_have_value("1 2 3: digits are text here")
    expect(page.get_by_label("tone")).to_be_checked()
    assert not Review.objects.exists()


def test_by_mouse_from_the_page_of_a_run(
    page: Page, sign_in: SignIn, run: Run, rita: User, is_accessible: Check
) -> None:
    sign_in(rita)
    page.goto(reverse("run", args=[run.uuid]))
    page.get_by_role("link", name="Review…").click()
    in_both_schemes(page, is_accessible)
    page.get_by_label("Random sample").check()
    page.get_by_label("Cases", exact=True).fill("2")
    page.get_by_role("button", name="Create queue").click()
    page.get_by_role("link", name="Start reviewing").click()
    for done in range(2):
        expect(page.locator("[data-says=progress]")).to_have_text(f"{done} of 2 reviewed")
        page.get_by_role("button", name="pass").click()
    expect(page.get_by_text("You have reviewed all 2 of your cases.")).to_be_visible()
    page.goto(reverse("review", args=[run.team.slug]))
    in_both_schemes(page, is_accessible)
    expect(page.get_by_text("2 of 2")).to_be_visible()


def test_two_people_review_at_once_and_neither_sees_the_other(
    page: Page,
    sign_in: SignIn,
    chromium: Browser,
    live_server: LiveServer,
    run: Run,
    rita: User,
    alice: User,
) -> None:
    queue = queue_for(run, rita, alice, cases=4, each=2)
    url = reverse("next_review", args=[queue.uuid])
    with tab_of(rita, page, sign_in, chromium, live_server) as ritas:
        sign_in(alice)
        alices = page
        for tab in (ritas, alices):
            tab.goto(url)
        for key in "1212":
            ritas.keyboard.press(key)
            alices.keyboard.press(key)
        for tab in (ritas, alices):
            expect(tab.get_by_text("You have reviewed all 4 of your cases.")).to_be_visible()
        for tab in (ritas, alices):
            tab.reload()  # whoever was done first saw the other one's third of four
            expect(tab.get_by_text("You have reviewed all 4 of your cases.")).to_be_visible()
            expect(tab.get_by_role("row", name=re.compile("4 of 4"))).to_have_count(2)
    assert Review.objects.count() == 8


def test_on_the_page_of_a_case_the_next_one_follows_a_verdict_by_choice(
    page: Page, sign_in: SignIn, run: Run, rita: User
) -> None:
    sign_in(rita)
    page.goto(reverse("run_case", args=[run.uuid, 1]))
    heading = page.get_by_role("heading", level=1)
    page.keyboard.press("1")
    expect(page.get_by_role("button", name="pass")).to_have_attribute("aria-pressed", "true")
    expect(heading).to_have_text("q000")
    page.get_by_label("Next case after a verdict").check()
    page.keyboard.press("2")
    expect(heading).to_have_text("q001")
    expect(page.get_by_label("Next case after a verdict")).to_be_checked()
    given = Review.objects.values_list("output__case__key", "verdict")
    assert list(given) == [("q000", ReviewVerdict.FAIL)]


def test_verdicts_on_a_slow_line_are_all_stored_in_order(
    page: Page, sign_in: SignIn, run: Run, rita: User
) -> None:
    """Five keys a second where every answer takes 400 ms and more."""
    count = 100 if IS_THOROUGH else 8
    queue = queue_for(run, rita, cases=count)
    sign_in(rita)
    page.goto(reverse("next_review", args=[queue.uuid]))
    line = page.context.new_cdp_session(page)
    speed = {"offline": False, "downloadThroughput": -1, "uploadThroughput": -1}
    line.send("Network.enable")
    line.send("Network.emulateNetworkConditions", {**speed, "latency": 400})
    keys = ["1" if n % 3 else "2" for n in range(count)]
    for key in keys:
        page.keyboard.press(key)
        page.wait_for_timeout(200)
    expect(page.get_by_text(f"You have reviewed all {count} of your cases.")).to_be_visible(
        timeout=count * PATIENCE_MS
    )
    tasks = queue.tasks.order_by("position").values_list("output", flat=True)
    given = dict(Review.objects.values_list("output", "verdict"))
    wanted = [ReviewVerdict.PASS if key == "1" else ReviewVerdict.FAIL for key in keys]
    assert [given[output] for output in tasks] == wanted


def test_two_people_take_the_cases_of_a_pool(
    page: Page,
    sign_in: SignIn,
    chromium: Browser,
    live_server: LiveServer,
    run: Run,
    rita: User,
    alice: User,
    is_accessible: Check,
) -> None:
    """Both as fast as they can: every case is reviewed by each of them, none twice by one."""
    count = 60 if IS_THOROUGH else 8
    plan = QueuePlan("pool", [rita, alice], count, reviewers_per_case=2, is_pooled=True)
    queue = create_queue(run, plan, by=rita)
    url = reverse("next_review", args=[queue.uuid])
    with tab_of(rita, page, sign_in, chromium, live_server) as ritas:
        sign_in(alice)
        alices = page
        for done in range(count):
            for tab in (ritas, alices):
                if not done:
                    tab.goto(url)
                expect(tab.locator("[data-says=progress]")).to_have_text(f"{done} reviewed")
                tab.keyboard.press("1" if done % 2 else "2")
            counts = QueueProgress(queue).counts
            assert counts.cases == count
        for tab in (ritas, alices):
            left = f"You have reviewed {count} cases; none is left for you."
            expect(tab.get_by_text(left)).to_be_visible()
        ritas.reload()
        expect(ritas.get_by_text("All done: every case is reviewed twice.")).to_be_visible()
        expect(ritas.locator("[data-says=counts]")).to_contain_text(f"done {count}")
        in_both_schemes(ritas, is_accessible)
    assert Review.objects.count() == 2 * count
    assert QueueProgress(queue).counts.is_complete


def test_a_case_is_free_again_after_whoever_took_it_has_left(
    page: Page, sign_in: SignIn, run: Run, rita: User, alice: User
) -> None:
    plan = QueuePlan("pool", [rita, alice], 1, is_pooled=True)
    queue = create_queue(run, plan, by=rita)
    url = reverse("next_review", args=[queue.uuid])
    sign_in(rita)
    page.goto(url)
    heading = page.get_by_role("heading", level=1)
    taken = heading.inner_text()
    page.goto("about:blank")
    sign_in(alice)
    page.goto(url)
    expect(page.get_by_text("No case is free now")).to_be_visible()
    queue.tasks.update(reserved_until=timezone.now())
    page.goto(url)
    expect(heading).to_have_text(taken)


def test_questions_are_answered_by_keys(
    page: Page, sign_in: SignIn, run: Run, rita: User, is_accessible: Check
) -> None:
    """A question with a condition comes and goes; a missing answer keeps the case in place."""
    asked = [
        {"text": "Polite?", "kind": "choice", "choices": ["yes", "no"], "is_required": True},
        {
            "text": "Why not?",
            "kind": "text",
            "condition": {"question": "Polite?", "answer": "no"},
        },
    ]
    tone = QuestionSet.objects.publish(run.team, "Tone", Questions.parse(asked), by=rita)
    queue = create_queue(run, QueuePlan("w46", [rita], 2, question_set=tone), by=rita)
    sign_in(rita)
    page.goto(reverse("next_review", args=[queue.uuid]))
    heading = page.get_by_role("heading", level=1)
    first = heading.inner_text()
    page.keyboard.press("1")
    page.keyboard.press("1")
    expect(heading).to_have_text(first)
    assert not Review.objects.exists()
    expect(page.get_by_label("Why not?")).to_be_hidden()
    page.keyboard.press("q")
    expect(page.get_by_label("yes", exact=True)).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_label("no", exact=True)).to_be_checked()
    in_both_schemes(page, is_accessible)
    page.get_by_label("Why not?").focus()
    page.keyboard.type("It is curt.")
    page.keyboard.press("Escape")
    page.keyboard.press("2")
    expect(heading).not_to_have_text(first)
    expect(page.get_by_label("Why not?")).to_be_hidden()
    review = Review.objects.get()
    assert review.answers == {"Tone v1": {"Polite?": "no", "Why not?": "It is curt."}}
    page.get_by_label("yes", exact=True).focus()
    page.keyboard.press("Space")
    page.keyboard.press("1")
    expect(page.get_by_text("You have reviewed all 2 of your cases.")).to_be_visible()
    expect(page.get_by_role("row", name=re.compile("Polite"))).to_contain_text("yes 1 · no 1")
    in_both_schemes(page, is_accessible)
