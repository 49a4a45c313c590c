"""The run's page in a real browser: ranges dragged, rows ticked, columns, views, undo, notices."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Page, expect

from scoring.engine.runs.notifications import notify_run_end
from scoring.models import Run, RunState, User
from tests.browser.compare_steps import in_both_schemes
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.run_states import CLOSE, EXACT, finished_run, queued_run

pytestmark = pytest.mark.browser

SignIn = Callable[[User], None]
IsAccessible = Callable[[Page], None]
CLASSED = ("label", "exact_match", {"classes": ["yes", "no"]})


@pytest.fixture
def run(make_dataset: MakeDataset, make_outputs: MakeOutputs, alice: User) -> Run:
    """Thirty answers beside an earlier run of the series; some broke, one has an error."""
    cases = [{"expected": "yes", "input": f"Question {n}", "tags": ["a"]} for n in range(30)]
    version = make_dataset(cases)
    finished_run(make_outputs(version, ["yes"] * 30), CLOSE, CLASSED, name="w45")
    texts = [None, *["no" if n % 5 == 0 else "yet" if n % 3 == 0 else "yes" for n in range(29)]]
    return finished_run(make_outputs(version, texts), CLOSE, CLASSED, name="w46")


@pytest.fixture
def at_run(page: Page, sign_in: SignIn, alice: User, run: Run) -> Page:
    sign_in(alice)
    page.goto(reverse("run", args=[run.uuid]))
    page.evaluate("window.stayed = true")
    return page


def rows(page: Page) -> int:
    return page.locator("#cases tbody tr").count()


def test_a_stretch_of_the_histogram_filters_without_leaving_the_page(at_run: Page) -> None:
    chart = at_run.locator(".histogram").first
    box = chart.bounding_box()
    assert box
    middle = box["y"] + box["height"] / 2
    at_run.mouse.move(box["x"] + box["width"] * 0.52, middle)
    at_run.mouse.down()
    at_run.mouse.move(box["x"] + box["width"] * 0.92, middle, steps=4)
    at_run.mouse.up()
    expect(at_run.get_by_role("link", name="Remove the filter close ≥ 0.5, < 0.95")).to_be_visible()
    assert "min=0.5" in at_run.url
    assert at_run.evaluate("window.stayed") is True


def test_a_bar_is_pressed_by_key(at_run: Page) -> None:
    bar = at_run.locator(".histogram a").last
    bar.focus()
    at_run.keyboard.press("Enter")
    expect(at_run.locator(".chip")).to_have_count(1)
    assert at_run.evaluate("window.stayed") is True


def test_changes_are_filtered_and_walked_through_by_key(at_run: Page) -> None:
    at_run.get_by_label("Changed").select_option("broke")
    at_run.get_by_role("button", name="Filter").click()
    expect(at_run.get_by_role("link", name="Remove the filter broke since w45")).to_be_visible()
    broke = rows(at_run)
    assert broke > 2
    at_run.keyboard.press("j")
    at_run.keyboard.press("Enter")
    expect(at_run.locator(".sequence")).to_contain_text(f"1 of {broke}")
    at_run.keyboard.press("j")
    expect(at_run.locator(".sequence")).to_contain_text(f"2 of {broke}")


def test_rows_are_ticked_by_mouse_and_by_key(at_run: Page) -> None:
    said = at_run.locator("#selected-count")
    at_run.get_by_label("Tick case-3", exact=True).check()
    expect(said).to_have_text("1 ticked: this takes only these")
    at_run.keyboard.press("j")
    at_run.keyboard.press("x")
    expect(said).to_have_text("2 ticked: this takes only these")
    at_run.get_by_label("Tick all on this page").check()
    expect(said).to_have_text("30 ticked: this takes only these")
    at_run.get_by_label("Tick all on this page").uncheck()
    expect(said).to_have_text("None ticked: this takes every case of the list")
    at_run.get_by_label("Tick case-3", exact=True).check()
    at_run.get_by_role("button", name="Show selected only").click()
    expect(at_run.locator("#cases tbody tr")).to_have_count(1)


def test_ticks_stay_while_the_pages_are_turned_and_sorted(
    page: Page, sign_in: SignIn, alice: User, make_dataset: MakeDataset, make_outputs: MakeOutputs
) -> None:
    version = make_dataset([{"key": f"q{n}", "expected": "yes"} for n in range(120)])
    run = finished_run(make_outputs(version, ["yes"] * 120), CLOSE, name="long")
    sign_in(alice)
    page.goto(reverse("run", args=[run.uuid]))
    said, pages = page.locator("#selected-count"), page.get_by_role("navigation", name="Pages")
    page.get_by_label("Tick q7", exact=True).check()
    pages.get_by_role("link", name="Next").click()
    expect(said).to_have_text("1 (1 on other pages) ticked: this takes only these")
    page.get_by_label("Tick q60", exact=True).check()
    pages.get_by_role("link", name="Next").click()
    expect(said).to_have_text("2 (2 on other pages) ticked: this takes only these")
    pages.get_by_role("link", name="Previous").click()
    expect(said).to_have_text("2 (1 on other pages) ticked: this takes only these")
    expect(page.get_by_label("Tick q60", exact=True)).to_be_checked()
    page.locator("#cases thead").get_by_role("link", name="close").click()
    expect(page.locator("#cases th[aria-sort]")).to_contain_text("close")
    expect(said).to_have_text("2 (1 on other pages) ticked: this takes only these")
    expect(page.get_by_label("Tick q7", exact=True)).to_be_checked()
    page.get_by_role("button", name="Show selected only").click()
    titles = page.locator("#cases tbody .cell-title .id")
    expect(titles).to_have_text(["q7", "q60"])


def test_other_filters_leave_no_tick_unseen(at_run: Page) -> None:
    at_run.get_by_label("Tick case-3", exact=True).check()
    at_run.locator("#filters").get_by_label("Tag").fill("a")
    at_run.keyboard.press("Enter")
    expect(at_run.get_by_label("Remove the filter tag a")).to_be_visible()
    expect(at_run.locator("#selected-count")).to_have_text(
        "None ticked: this takes every case of the list"
    )
    expect(at_run.locator("input[data-ticked]")).to_have_count(0)


def test_columns_are_chosen_and_kept_in_a_view(at_run: Page, is_accessible: IsAccessible) -> None:
    at_run.get_by_text("Columns", exact=True).click()
    at_run.get_by_label("Latency").check()
    at_run.locator("#cases").get_by_label("Output", exact=True).uncheck()
    is_accessible(at_run)
    at_run.get_by_role("button", name="Show columns", exact=True).click()
    heads = at_run.locator("#cases thead")
    expect(heads).to_contain_text("Latency")
    expect(heads).not_to_contain_text("Output")
    at_run.get_by_text("Views", exact=True).click()
    at_run.get_by_label("Save view as").fill("slow ones")
    is_accessible(at_run)
    at_run.get_by_role("button", name="Save view").click()
    expect(at_run.get_by_text("The view slow ones is kept for you.")).to_be_visible()
    at_run.get_by_text("Views", exact=True).click()
    at_run.get_by_role("link", name="slow ones").click()
    expect(heads).to_contain_text("Latency")


def test_a_cell_of_the_matrix_leads_to_its_cases(at_run: Page) -> None:
    cell = at_run.locator(".matrix tbody tr").first.get_by_role("link").nth(1)
    number = int(cell.inner_text())
    cell.click()
    expect(at_run.locator("#cases tbody tr")).to_have_count(number)


def test_a_deleted_run_comes_back_by_one_button(at_run: Page) -> None:
    at_run.locator("summary[aria-label='More about this run']").click()
    at_run.get_by_role("button", name="Delete", exact=True).click()
    expect(at_run.get_by_text("w46 is deleted.")).to_be_visible()
    at_run.get_by_role("button", name="Undo").click()
    expect(at_run.get_by_role("heading", level=1)).to_have_text("w46")


def test_a_long_run_is_told_on_another_page_while_one_waits(
    page: Page,
    sign_in: SignIn,
    alice: User,
    run: Run,
    is_accessible: IsAccessible,
    let_time_pass: Callable[[], None],
) -> None:
    waiting = queued_run(run.output_set, EXACT, name="long", by=alice)
    sign_in(alice)
    page.goto(reverse("datasets", args=[run.team.slug]))
    box = page.locator("#notices")
    expect(box).to_have_attribute("aria-live", "polite")
    now = timezone.now()
    ended = {"state": RunState.FINISHED, "finished_at": now, "pass_count": 1}
    begun = now - timedelta(minutes=2)
    Run.objects.filter(pk=waiting.pk).update(**ended, started_at=begun)
    waiting.refresh_from_db()
    notify_run_end(waiting)
    let_time_pass()
    expect(box).to_contain_text("long has finished: 1 pass.")
    box.hover()
    is_accessible(page)
    box.get_by_role("button", name="Dismiss: long has finished: 1 pass.").click()
    expect(box).not_to_contain_text("long")


def test_the_page_is_accessible_and_fits(at_run: Page, is_accessible: IsAccessible) -> None:
    at_run.locator("details.fold > summary").first.click()
    in_both_schemes(at_run, is_accessible)
    root = "document.documentElement"
    for width in (360, 2560):
        at_run.set_viewport_size({"width": width, "height": 900})
        assert not at_run.evaluate(f"{root}.scrollWidth > {root}.clientWidth"), width


def test_many_scorers_with_long_names_fit_screens_between_a_phone_and_a_desk(
    page: Page, sign_in: SignIn, alice: User, make_dataset: MakeDataset, make_outputs: MakeOutputs
) -> None:
    tags = ["x" * 80, "a tag of many words in a row"]
    version = make_dataset([{"expected": "on Monday", "input": "When? " * 40, "tags": tags}] * 3)
    outputs = make_outputs(version, ["on Monday", "on Tuesday", None])
    names = [f"as close as its reader number {n} wants it" for n in range(7)]
    run = finished_run(outputs, *((name, *CLOSE[1:]) for name in names))
    sign_in(alice)
    page.goto(reverse("run", args=[run.uuid]))
    expect(page.locator("#cases th .visually-hidden")).to_have_count(1)
    for width in (641, 700, 768, 1000, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width, width


def test_paper_shows_cases_and_scores_but_nothing_to_press(at_run: Page) -> None:
    at_run.emulate_media(media="print")
    expect(at_run.locator("#cases tbody tr").first).to_contain_text("Question 0")
    expect(at_run.get_by_role("heading", name="Scorers")).to_be_visible()
    expect(at_run.locator("main :is(input, button, select):visible")).to_have_count(0)
