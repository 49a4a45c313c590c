"""What is pressed before an answer is in place, and answers that come after its place is gone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.urls import reverse
from playwright.sync_api import Locator, Page, Route, expect

from scoring.models import Dataset, DraftEdit, Team, User
from tests.browser.compare_steps import has_settled, stays
from tests.browser.walk import forgive_422
from tests.conftest import MakeDataset

pytestmark = pytest.mark.browser

SignIn = Callable[[User], None]

SETTLES_LATE = "delay => { htmx.config.defaultSettleDelay = delay }"
COUNTS_ANSWERS = """() => {
  window.answered = 0;
  const { send } = XMLHttpRequest.prototype;
  XMLHttpRequest.prototype.send = function (body) {
    this.addEventListener("loadend", () => { window.answered += 1; });
    send.call(this, body);
  };
}"""


@pytest.fixture
def dataset(make_dataset: MakeDataset) -> Dataset:
    cases = [{"key": f"q{n}", "input": f"Question {n}?", "expected": "x"} for n in range(3)]
    return make_dataset(cases).dataset


@pytest.fixture
def draft(page: Page, sign_in: SignIn, alice: User, dataset: Dataset) -> Page:
    """The draft's page just after a case of it was deleted, which the message there takes back."""
    sign_in(alice)
    page.goto(f"/datasets/{dataset.uuid}/draft/case/?key=q1")
    page.get_by_role("button", name="Delete the case").click()
    expect(page.get_by_role("cell", name="deleted")).to_be_visible()
    has_settled(page)
    return page


def test_a_key_pressed_before_a_swap_has_settled_is_not_lost(draft: Page) -> None:
    draft.evaluate(SETTLES_LATE, 1000)
    draft.get_by_role("button", name="Undo").focus()
    draft.get_by_role("button", name="Discard the draft").evaluate("button => button.click()")
    expect(draft.get_by_text("The draft was discarded")).to_be_visible()
    draft.keyboard.press("Enter")
    expect(draft.get_by_role("cell", name="deleted")).to_be_visible()


def answers_all_but_tries(route: Route) -> None:
    if "try=typed" not in (route.request.post_data or ""):
        route.continue_()


def test_the_focus_stays_with_the_later_of_two_swaps_when_the_earlier_settles(
    page: Page, sign_in: SignIn, alice: User, team: Team, complaints: list[str]
) -> None:
    sign_in(alice)
    page.goto(reverse("new_scorer", args=[team.slug, "weighted"]))
    has_settled(page)
    page.evaluate(SETTLES_LATE, 2000)
    page.get_by_label("Output", exact=True).fill("Paris")
    page.locator("#tried.htmx-added").wait_for()
    page.route("**/new/weighted/", answers_all_but_tries)
    page.locator("#add-0").select_option("exact_match")
    page.get_by_role("button", name="Add", exact=True).click()
    name = page.locator("#id_n1-name")
    expect(name).to_be_focused()
    expect(page.locator("#tried.htmx-added")).to_have_count(0)
    page.keyboard.type("same")
    expect(name).to_have_value("same")
    page.unroute_all(behavior="ignoreErrors")
    forgive_422(complaints)


class Held:
    """Requests to addresses of this pattern wait until they are let go."""

    def __init__(self, page: Page, pattern: str) -> None:
        self._page = page
        self._pattern = pattern
        self._routes: list[Route] = []
        page.evaluate(COUNTS_ANSWERS)
        page.route(pattern, lambda route: self._routes.append(route))  # noqa: PLW0108  no builtin

    def after(self, press: Callable[[], object]) -> None:
        """Press, and wait until the request is here."""
        with self._page.expect_request(self._pattern):
            press()

    def let_go(self, at: int = 0) -> None:
        """Until the browser has the answer, and htmx has done with it what it does."""
        before = self._page.evaluate("window.answered")
        self._routes.pop(at).continue_()
        self._page.wait_for_function("before => window.answered > before", arg=before)
        has_settled(self._page)

    def fail(self, status: int) -> None:
        self._routes.pop().fulfill(status=status, body="")


@pytest.fixture
def at_cases(page: Page, sign_in: SignIn, alice: User, dataset: Dataset) -> Page:
    sign_in(alice)
    page.goto(f"/datasets/{dataset.uuid}/")
    return page


def part(page: Page, name: str) -> Locator:
    parts = page.get_by_role("navigation", name="Parts of the dataset")
    return parts.get_by_role("link", name=name)


@pytest.mark.parametrize("first", [0, 1], ids=["in turn", "the other way round"])
def test_the_link_followed_last_is_the_page_that_comes(at_cases: Page, first: int) -> None:
    is_same = stays(at_cases)
    held = Held(at_cases, "**/datasets/*/*/")
    held.after(part(at_cases, "Versions").click)
    held.after(part(at_cases, "Runs").click)
    held.let_go(first)
    held.let_go()
    expect(part(at_cases, "Runs")).to_have_attribute("aria-current", "page")
    expect(part(at_cases, "Runs")).to_be_focused()
    assert at_cases.url.endswith("/runs/")
    at_cases.unroute_all()
    at_cases.go_back()
    expected = "Cases" if first else "Versions"
    expect(part(at_cases, expected)).to_have_attribute("aria-current", "page")
    assert is_same()


def test_going_back_holds_against_what_was_asked_for_before(at_cases: Page) -> None:
    part(at_cases, "Versions").click()
    expect(part(at_cases, "Versions")).to_have_attribute("aria-current", "page")
    held = Held(at_cases, "**/runs/")
    held.after(part(at_cases, "Runs").click)
    at_cases.go_back()
    expect(part(at_cases, "Cases")).to_have_attribute("aria-current", "page")
    held.let_go()
    expect(part(at_cases, "Cases")).to_have_attribute("aria-current", "page")


def test_an_act_that_is_answered_late_shows_what_became_of_it(draft: Page) -> None:
    held = Held(draft, "**/draft/discard/")
    held.after(draft.get_by_role("button", name="Discard the draft").click)
    draft.get_by_role("button", name="Undo").click()
    expect(draft.get_by_role("heading", name="Nothing changed yet")).to_be_visible()
    held.let_go()
    expect(draft.get_by_text("The draft was discarded")).to_be_visible()


def test_an_act_refused_after_its_page_was_swapped_says_so(draft: Page) -> None:
    held = Held(draft, "**/draft/re*/")
    held.after(draft.get_by_role("button", name="Undo").click)
    draft.get_by_role("button", name="Discard the draft").click()
    expect(draft.get_by_text("The draft was discarded")).to_be_visible()
    held.let_go()
    expect(draft.locator("#messages")).to_contain_text("The draft was discarded meanwhile.")
    assert DraftEdit.objects.get().key == "q1"


@pytest.fixture
def tagging(at_cases: Page) -> Held:
    """A tag that was put on q1, of which the server has not heard when another part is gone to."""
    held = Held(at_cases, "**/draft/tags/")
    at_cases.get_by_label("Tick q1").check()
    at_cases.get_by_label("Tag for the ticked cases").fill("hard")
    held.after(at_cases.get_by_role("button", name="Add tag").click)
    part(at_cases, "Versions").click()
    expect(part(at_cases, "Versions")).to_have_attribute("aria-current", "page")
    return held


def test_what_became_of_an_act_is_said_on_the_page_gone_to_meanwhile(
    at_cases: Page, tagging: Held
) -> None:
    tagging.let_go()
    expect(at_cases.locator("#messages")).to_contain_text("1 case tagged hard")
    expect(part(at_cases, "Versions")).to_have_attribute("aria-current", "page")
    assert at_cases.url.endswith("/versions/")
    at_cases.unroute_all()
    at_cases.locator("#messages").get_by_role("button", name="Undo").click()
    expect(part(at_cases, "Cases")).to_have_attribute("aria-current", "page")
    assert not DraftEdit.objects.exists()


def test_what_fails_after_its_page_was_swapped_says_so(
    at_cases: Page, tagging: Held, complaints: list[str]
) -> None:
    tagging.fail(507)
    expect(at_cases.locator("#messages")).to_contain_text("no room left")
    complaints.clear()  # the browser logs every 507
