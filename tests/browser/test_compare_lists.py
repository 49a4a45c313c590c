"""Comparisons by mouse: every list, filter and mark, and what is shown where there is nothing."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from scoring.engine.compare import jobs as compare_jobs
from scoring.engine.jobs import job_queue
from scoring.engine.processes.thread_pool import ThreadPool
from scoring.models import Comparison, Job, JobState, Team, User
from tests.browser.compare_steps import (
    Check,
    Three,
    compare_url,
    has_settled,
    in_both_schemes,
    listed,
    stays,
    three_runs,
)
from tests.browser.walk import Walk
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with
from tests.support.waiting import DEADLINE_SECONDS

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SignIn = Callable[[User], None]


@pytest.fixture
def runs(make_dataset: MakeDataset) -> Three:
    return three_runs(make_dataset)


@pytest.fixture
def shown(page: Page, sign_in: SignIn, alice: User, runs: Three) -> Page:
    """The comparison of w46 with w45."""
    sign_in(alice)
    page.goto(runs.url)
    return page


def test_every_tab_says_how_many_it_holds_and_lists_them(shown: Page, is_accessible: Check) -> None:
    tabs = shown.get_by_role("navigation", name="What became of the cases")
    is_same_page = stays(shown)
    for name, count, first in (
        ("Broke", 55, "q03"),
        ("Fixed", 1, "q59"),
        ("Unchanged", 2, "q01"),
        ("Inconclusive", 1, "q02"),
        ("Only in baseline", 1, "q00"),
        ("Only in candidate", 1, "q60"),
        ("Edited", 1, "q01"),
    ):
        tab = tabs.get_by_role("link", name=name)
        expect(tab.locator(".number")).to_have_text(str(count))
        tab.click()
        expect(shown.locator("#cases tbody .id").first).to_have_text(first)
        has_settled(shown)
        assert len(listed(shown)) == min(count, 50)
        if name.startswith("Only"):  # other lists are looked at in other tests
            is_accessible(shown)
    assert is_same_page()


def test_what_differs_between_versions_is_named_and_marked(
    shown: Page, is_accessible: Check
) -> None:
    expect(shown.get_by_text("versions v1 and v2 of the dataset")).to_be_visible()
    Walk(shown).follow(
        "Inconclusive", shown.get_by_role("navigation", name="What became of the cases")
    )
    expect(shown.locator("#cases .verdict-error")).to_be_visible()
    row = shown.locator("#cases tbody tr").first
    expect(row.locator("mark")).to_have_text(['2, "paid": "on Monday', '3, "paid": "on Tuesday'])
    in_both_schemes(shown, is_accessible)


def test_filters_stay_while_the_tabs_change_and_can_be_taken_off(
    shown: Page, is_accessible: Check
) -> None:
    shown.get_by_label("Verdict of").select_option("close")
    shown.get_by_role("searchbox", name="Tag").fill("odd")
    Walk(shown).press("Filter")
    expect(shown).to_have_url(re.compile("scorer=close&tag=odd"))
    has_settled(shown)
    assert len(listed(shown)) == 28
    Walk(shown).follow("Fixed", shown.get_by_role("navigation", name="What became of the cases"))
    expect(shown.locator("#cases tbody .id")).to_have_text(["q59"])
    has_settled(shown)
    shown.get_by_label("Text in outputs").fill("nowhere")
    Walk(shown).press("Filter")
    expect(shown.get_by_text("No case of this list passes all of these filters.")).to_be_visible()
    is_accessible(shown)
    Walk(shown).follow("Clear filters")
    expect(shown.locator("#cases tbody .id")).to_have_text(["q59"])
    expect(shown.get_by_role("searchbox", name="Tag")).to_have_value("")


def test_a_dot_and_a_bar_lead_to_the_cases_they_stand_for(
    shown: Page, is_accessible: Check
) -> None:
    dots = shown.locator(".scatter a")
    expect(dots).to_have_count(3)
    dots.filter(has_text="55 cases").click()
    chips = shown.get_by_role("list", name="Ranges of scores that are on")
    expect(chips.get_by_role("listitem")).to_have_count(2)
    assert listed(shown)[0] == "q03"
    in_both_schemes(shown, is_accessible)
    shown.go_back()
    expect(chips.get_by_role("listitem")).to_have_count(0)
    shown.locator(".steps-chart a").filter(has_text="1 case by").click()
    expect(chips.get_by_role("listitem")).to_have_count(1)
    assert listed(shown) == ["q59"]
    shown.go_back()
    expect(chips.get_by_role("listitem")).to_have_count(0)
    shown.evaluate("window.isSamePage = true")
    dots.filter(has_text="1 case:").click()
    Walk(shown).is_at("q59")
    assert not shown.evaluate("window.isSamePage")  # the case's page has scripts of its own


def test_a_row_opens_side_by_side_and_back_restores_the_list(shown: Page) -> None:
    Walk(shown).follow("Fixed", shown.get_by_role("navigation", name="What became of the cases"))
    shown.get_by_role("link", name="q59").click()
    Walk(shown).is_at("q59")
    expect(shown.locator(".sequence .number")).to_have_text("1 of 1 · fixed")
    expect(shown.locator(".sequence a")).to_have_count(0)
    shown.wait_for_load_state()
    shown.go_back()
    expect(shown.locator("#cases tbody .id")).to_have_text(["q59"])
    shown.go_back()
    expect(shown.locator("#cases tbody .id").first).to_have_text("q03")


def test_several_runs_stand_in_one_table(shown: Page, runs: Three, is_accessible: Check) -> None:
    shown.goto(compare_url(runs.old, runs.new, runs.newest))
    heads = shown.locator("#waiting thead th")
    counts = ["Pairs", "Broke", "Fixed", "Inconclusive", "Only in one"]
    expect(heads).to_have_text(["Run", *counts, "close", "far"])
    expect(shown.get_by_role("region", name="What changed").get_by_role("listitem")).to_have_count(
        2
    )
    in_both_schemes(shown, is_accessible)
    shown.set_viewport_size({"width": 360, "height": 740})
    assert shown.evaluate("document.documentElement.scrollWidth") <= 360
    shown.get_by_role("link", name="w47").click()
    Walk(shown).is_at("w47 compared with w45")


# Where there is nothing to show, or not yet.


@pytest.mark.parametrize(("count", "said"), [(0, "Nothing to compare yet"), (1, "One run more")])
def test_too_few_runs_say_what_to_do(
    page: Page,
    sign_in: SignIn,
    is_accessible: Check,
    alice: User,
    team: Team,
    make_dataset: MakeDataset,
    count: int,
    said: str,
) -> None:
    version = make_dataset([{"key": "q0"}])
    for _ in range(count):
        run_with(version, {"close": [0.9]})
    sign_in(alice)
    page.goto(reverse("compare", args=[team.slug]))
    expect(page.get_by_text(said)).to_be_visible()
    in_both_schemes(page, is_accessible)
    page.get_by_role("link", name="Go to the dataset").click()
    expect(page.get_by_role("heading", level=1)).to_be_visible()


def test_a_choice_that_cannot_be_compared_says_why(
    shown: Page, runs: Three, is_accessible: Check, complaints: list[str]
) -> None:
    for url, said in (
        (compare_url(runs.old, runs.old), "The baseline is among them"),
        (compare_url(runs.old), "Choose the run to compare with the baseline."),
    ):
        shown.goto(url)
        expect(shown.get_by_role("heading", name="These runs cannot be compared")).to_be_visible()
        expect(shown.get_by_text(said).first).to_be_visible()
        in_both_schemes(shown, is_accessible)
    assert all("400" in complaint for complaint in complaints)
    complaints.clear()


def test_a_comparison_that_failed_is_asked_for_again(
    page: Page,
    sign_in: SignIn,
    is_accessible: Check,
    alice: User,
    runs: Three,
    monkeypatch: pytest.MonkeyPatch,
    let_time_pass: Callable[[], None],
) -> None:
    monkeypatch.setattr(compare_jobs, "MAX_INLINE_PAIRS", 0)
    sign_in(alice)
    page.goto(runs.url)
    expect(page.get_by_text("No worker: start manage.py worker.")).to_be_visible()
    in_both_schemes(page, is_accessible)
    Job.objects.update(state=JobState.FAILED, problem="the worker was stopped")
    let_time_pass()
    expect(page.get_by_text("Not compared: the worker was stopped.")).to_be_visible()
    in_both_schemes(page, is_accessible)
    page.get_by_role("link", name="Compare again").click()
    expect(page.get_by_text("No worker: start manage.py worker.")).to_be_visible()
    with ThreadPool(1) as threads:
        for job in Job.objects.unfinished().select_related("team"):
            threads.submit(job_queue.run_job, job).result(DEADLINE_SECONDS)
    let_time_pass()
    expect(page.get_by_text("55 of 59 cases broke").first).to_be_visible()
    assert Comparison.objects.count() == 1
