"""Nothing jumps, the focus stays, what is done is said and can be undone, and Back leads back."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.conf import settings
from playwright.sync_api import Locator, Page, Route, expect

from scoring.models import DatasetVersion, DraftEdit, Run, SavedView, Scorer, User
from tests.browser.compare_steps import Keys, has_settled, listed, stays
from tests.browser.walk import forgive_422
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.finished_runs import run_with

pytestmark = pytest.mark.browser

SignIn = Callable[[User], None]
Check = Callable[[Page], None]

LISTEN = """
new MutationObserver((changes) => {
  for (const { target, addedNodes } of changes) {
    const region = target.closest?.("[aria-live=polite]");
    if (!region || addedNodes.length === 0) continue;
    const words = [...addedNodes].map((node) => node.textContent).join(" ");
    document.documentElement.dataset.heard = words.replace(/\\s+/g, " ");
    document.documentElement.dataset.told += `; ${words}`;
  }
}).observe(document, { subtree: true, childList: true });
"""
LOW = {"width": 1280, "height": 500}  # so that lists are longer than the window


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    cases = [{"key": f"q{n:02}", "input": f"Question {n}?", "expected": "x"} for n in range(40)]
    return make_dataset(cases)


@pytest.fixture
def run(version: DatasetVersion) -> Run:
    return run_with(version, {"close": [0.1, 0.9] * 20}, name="w46")


@pytest.fixture
def low(page: Page, sign_in: SignIn, alice: User) -> Page:
    """A window lower than its lists, on the home page."""
    sign_in(alice)
    page.add_init_script(LISTEN)
    page.set_viewport_size(LOW)  # type: ignore[arg-type]
    return page


def heard(page: Page, text: str) -> None:
    """A screen reader is given this to read out: it was put into a live region that was there."""
    expect(page.locator("html")).to_have_attribute("data-heard", re.compile(re.escape(text)))


def was_heard(page: Page, text: str) -> None:
    """A screen reader was given this at some time."""
    expect(page.locator("html")).to_have_attribute("data-told", re.compile(re.escape(text)))


def top(where: Locator) -> float:
    """How far below the window's upper edge it stands, in pixels."""
    box = where.bounding_box()
    assert box
    return box["y"]


def scrolled(page: Page) -> int:
    return int(page.evaluate("Math.round(scrollY)"))


def address(run: Run, query: str = "") -> str:
    return f"/runs/{run.uuid}/{query}"


def test_a_view_is_kept_removed_and_back_without_a_jump(
    low: Page, run: Run, is_accessible: Check
) -> None:
    low.goto(address(run, "?verdict=fail"))
    is_same = stays(low)
    views = low.locator("#cases summary", has_text="Views")
    views.click()
    low.get_by_label("Save view as").fill("failures")
    before = top(views)
    low.keyboard.press("Enter")
    heard(low, "The view failures is kept for you.")
    has_settled(low)
    assert abs(top(views) - before) < 2
    expect(views).to_be_focused()
    views.click()
    low.get_by_role("button", name="Remove the view failures").click()
    heard(low, "The view failures is removed.")
    is_accessible(low)
    low.get_by_role("button", name="Undo").click()
    heard(low, "The view failures is kept for you.")
    assert SavedView.objects.get().query == "verdict=fail"
    assert low.url.endswith("?verdict=fail")
    assert is_same()


def test_sorting_and_filtering_by_keys_say_how_many_and_hold_still(low: Page, run: Run) -> None:
    keys = Keys(low)
    low.goto(address(run))
    is_same = stays(low)
    heading = low.locator("#cases thead").get_by_role("link", name="close")
    heading.focus()
    before = top(heading)
    keys.press("Enter")
    expect(low.locator("#cases th[aria-sort]")).to_contain_text("close")
    heard(low, "1\N{EN DASH}40 of 40, sorted by close, lowest first")
    has_settled(low)
    expect(heading).to_be_focused()
    assert abs(top(heading) - before) < 2
    low.get_by_label("Verdict", exact=True).select_option("fail")
    low.get_by_role("button", name="Filter").press("Enter")
    heard(low, "1\N{EN DASH}20 of 20")
    has_settled(low)
    low.get_by_role("link", name="Remove the filter").focus()
    keys.press("Enter")
    heard(low, "1\N{EN DASH}40 of 40")
    expect(low.locator("body")).not_to_be_focused()
    assert is_same()


def test_back_returns_to_the_row_where_the_list_was(low: Page, run: Run) -> None:
    keys = Keys(low)
    low.goto(address(run))
    low.get_by_label("Verdict", exact=True).select_option("pass")
    low.get_by_role("button", name="Filter").click()
    expect(low.locator("#cases tbody tr")).to_have_count(20)
    has_settled(low)
    row = low.locator("#cases tbody").get_by_role("link", name="q31")
    row.focus()
    place = scrolled(low)
    assert place > 0
    keys.press("Enter")
    expect(low.get_by_role("heading", level=1)).to_have_text("q31")
    low.wait_for_load_state()
    low.wait_for_function("sessionStorage.getItem('places')?.includes('verdict=pass')")
    low.go_back()
    expect(row).to_be_focused()
    expect(low.locator("#cases tbody tr")).to_have_count(20)
    assert abs(scrolled(low) - place) < 2
    has_settled(low)
    low.go_back()
    expect(low.locator("#cases tbody tr")).to_have_count(40)
    expect(low.get_by_role("button", name="Filter")).to_be_focused()


def test_from_case_to_case_without_a_jump(low: Page, run: Run) -> None:
    keys = Keys(low)
    low.goto(address(run))
    order = listed(low)
    heading = low.get_by_role("heading", level=1)
    low.locator("#cases tbody").get_by_role("link", name=order[5]).click()
    expect(heading).to_have_text(order[5])
    is_same = stays(low)
    low.evaluate("scrollTo(0, 120)")
    keys.press("j")
    expect(heading).to_have_text(order[6])
    heard(low, "7 of 40")
    has_settled(low)
    assert scrolled(low) == 120
    following = low.get_by_role("link", name="Next case")
    following.click()
    expect(heading).to_have_text(order[7])
    expect(following).to_be_focused()
    expect(low).to_have_title(f"{order[7]} · w46 · Evalsite")
    low.go_back()
    expect(heading).to_have_text(order[6])
    assert is_same()


def test_ticked_cases_are_tagged_by_keys_in_place(low: Page, run: Run) -> None:
    keys = Keys(low)
    low.goto(address(run))
    is_same = stays(low)
    low.get_by_label("Tick q03").press("Space")
    low.get_by_label("Tag to put on these cases").focus()
    keys.type("odd")
    keys.press("Enter")
    expect(low.locator("#messages")).to_contain_text("1 case tagged odd")
    assert DraftEdit.objects.get().key == "q03"
    assert is_same()


def test_an_edit_is_reverted_and_made_again(
    low: Page, version: DatasetVersion, is_accessible: Check
) -> None:
    low.goto(f"/datasets/{version.dataset.uuid}/draft/case/?key=q04")
    is_same = stays(low)
    low.get_by_label("Input", exact=True).fill("Why?\nSo?")
    low.get_by_role("button", name="Save into the draft").click()
    expect(low.get_by_role("cell", name="edited: input")).to_be_visible()
    low.get_by_role("button", name="Revert q04").click()
    heard(low, "The draft leaves case q04 as it was.")
    is_accessible(low)
    low.get_by_role("button", name="Undo").press("Enter")
    expect(low.get_by_role("cell", name="edited: input")).to_be_visible()
    assert DraftEdit.objects.get().input == "Why?\nSo?"
    assert is_same()


def test_a_refused_form_keeps_its_address_and_what_was_typed(
    low: Page, complaints: list[str], version: DatasetVersion
) -> None:
    path = f"/datasets/{version.dataset.uuid}/draft/case/?key=q04"
    low.goto(path)
    low.get_by_label("Metadata").fill("no json")
    low.get_by_role("button", name="Save into the draft").click()
    expect(low.get_by_role("alert")).to_contain_text("Metadata")
    expect(low.get_by_label("Metadata")).to_have_value("no json")
    assert low.url.endswith(path)
    complaints.clear()  # the browser logs every 422


@pytest.mark.parametrize("is_there", [True, False], ids=["signed out", "no server"])
def test_nothing_typed_is_lost(
    low: Page,
    complaints: list[str],
    sign_in: SignIn,
    alice: User,
    version: DatasetVersion,
    is_there: bool,
) -> None:
    low.goto(f"/datasets/{version.dataset.uuid}/draft/case/?key=q04")
    low.get_by_label("Input", exact=True).fill("An hour of work")
    if is_there:
        low.context.clear_cookies(name=settings.SESSION_COOKIE_NAME)
    else:
        low.route("**/draft/case/**", lambda route: route.abort())
    low.get_by_role("button", name="Save into the draft").click()
    said = "You are signed out" if is_there else "The server cannot be reached"
    heard(low, said)
    expect(low.get_by_label("Input", exact=True)).to_have_value("An hour of work")
    sign_in(alice)
    low.unroute_all()
    with low.context.expect_page() as other:
        low.evaluate("open('/')")
    expect(other.value.get_by_role("main")).to_be_visible()
    low.get_by_role("button", name="Save into the draft").click()
    expect(low.get_by_role("cell", name="edited: input")).to_be_visible()
    assert DraftEdit.objects.get().input == "An hour of work"
    complaints.clear()  # the browser logs a request that never arrived


def test_what_is_listed_of_runs_and_versions_is_chosen_in_place(
    low: Page, run: Run, version: DatasetVersion, make_dataset: MakeDataset, is_accessible: Check
) -> None:
    cases = [{"key": "q00", "input": "Asked anew?", "expected": "x", "tags": ["hard"]}]
    make_dataset(cases)
    low.goto(f"/teams/{version.dataset.team.slug}/runs/")
    is_same = stays(low)
    shown = low.get_by_label("Show", exact=True)
    shown.focus()
    shown.select_option("archived")
    heard(low, "No such runs")
    expect(shown).to_be_focused()
    assert is_same()
    low.goto(f"/datasets/{version.dataset.uuid}/changes/")
    is_same = stays(low)
    kinds = low.get_by_role("navigation", name="Kinds of changes")
    removed = kinds.get_by_role("link", name="Removed")
    removed.focus()
    low.keyboard.press("Enter")
    heard(low, "Removed 39")
    expect(removed).to_be_focused()
    is_accessible(low)
    low.get_by_label("From", exact=True).select_option("2")
    heard(low, "The same version twice")
    low.get_by_role("link", name="Compare the latest").press("Enter")
    heard(low, "Edited 1")
    assert is_same()
    low.goto(f"/datasets/{version.dataset.uuid}/")
    is_same = stays(low)
    low.get_by_label("Tag", exact=True).fill("none")
    low.get_by_role("button", name="Filter").press("Enter")
    heard(low, "No case fits")
    low.go_back()
    low.locator("#cases").get_by_role("link", name="hard").press("Enter")
    expect(low.get_by_label("Tag", exact=True)).to_have_value("hard")
    assert is_same()


def test_a_run_that_cannot_start_says_why_in_place(
    low: Page,
    version: DatasetVersion,
    make_outputs: MakeOutputs,
    is_accessible: Check,
    complaints: list[str],
) -> None:
    Scorer.objects.define(version.dataset.team, "close", "levenshtein", {})
    make_outputs(version, ["x"] * 40)
    low.goto(f"/datasets/{version.dataset.uuid}/runs/new/")
    is_same = stays(low)
    low.get_by_label("Name", exact=False).fill("the first")
    low.get_by_role("button", name="Start the run").press("Enter")
    expect(low.get_by_text("Nothing was started")).to_be_in_viewport()
    expect(low.get_by_label("Name", exact=False)).to_have_value("the first")
    is_accessible(low)
    low.get_by_role("checkbox", name="close").check()
    expect(low.locator("#estimate")).to_be_attached()
    assert is_same()
    forgive_422(complaints)
    low.get_by_role("button", name="Start the run").press("Enter")
    expect(low.get_by_role("heading", level=1)).to_have_text("the first")
    assert not is_same()
    assert Run.objects.get().name == "the first"


def test_how_a_run_ends_is_heard(low: Page, run: Run, let_time_pass: Callable[[], None]) -> None:
    Run.objects.filter(pk=run.pk).update(state="queued")
    low.goto(address(run))
    expect(low.get_by_role("heading", name="Waiting to start")).to_be_visible()
    Run.objects.filter(pk=run.pk).update(state="finished")
    let_time_pass()
    was_heard(low, "finished")
    expect(low.get_by_role("heading", name="Cases by verdict")).to_be_visible()


def test_whoever_waits_for_an_answer_is_told_so(low: Page, run: Run) -> None:
    low.goto(address(run))
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    low.route(re.compile("verdict=fail"), hold)
    low.get_by_label("Verdict", exact=True).select_option("fail")
    low.get_by_role("button", name="Filter", exact=True).click()
    sign = low.locator(".waiting")
    expect(sign).to_have_text("Working")
    was_heard(low, "Working")
    held[0].continue_()
    expect(sign).to_be_empty()
