"""Comparisons without a mouse: chosen from three places, listed, narrowed, read case by case."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from scoring.models import User
from tests.browser.compare_steps import Keys, Three, has_settled, listed, stays, three_runs
from tests.browser.walk import Walk
from tests.conftest import MakeDataset

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SignIn = Callable[[User], None]


@pytest.fixture
def runs(make_dataset: MakeDataset) -> Three:
    return three_runs(make_dataset)


@pytest.fixture
def keys(page: Page, sign_in: SignIn, alice: User, runs: Three) -> Keys:
    sign_in(alice)
    return Keys(page)


def test_a_run_is_compared_with_the_one_before_it(keys: Keys, runs: Three) -> None:
    keys.page.goto(reverse("run", args=[runs.new.uuid]))
    keys.open("Compare with w45")
    Walk(keys.page).is_at("w46 compared with w45")


def test_several_runs_are_chosen_from_the_list_of_runs(
    keys: Keys, runs: Three, is_accessible: Callable[[Page], None]
) -> None:
    page = keys.page
    page.goto(reverse("runs", args=[runs.old.team.slug]))
    keys.open("Compare runs")
    Walk(page).is_at("Compare")
    is_accessible(page)
    keys.to("Baseline")
    keys.type("w45")  # a list of choices goes to what is typed
    keys.to("w46")
    keys.press("Space")
    keys.open("Compare")
    Walk(page).is_at("2 runs compared with w45")
    is_accessible(page)
    keys.press("j", "j", "Enter")
    Walk(page).is_at("w46 compared with w45")


def test_the_table_of_drift_leads_to_a_comparison(keys: Keys, runs: Three) -> None:
    dataset = runs.old.output_set.version.dataset
    keys.page.goto(f"{reverse('dataset_drift', args=[dataset.uuid])}?scorer=close")
    assert keys.page.locator(".multiples h4").all_inner_texts() == ["even", "odd"]
    keys.open("Compare w46 with the run before")
    Walk(keys.page).is_at("w46 compared with w45")


def test_tabs_change_the_list_in_place_and_keep_the_focus(keys: Keys, runs: Three) -> None:
    page = keys.page
    page.goto(runs.url)
    is_same_page = stays(page)
    for name, found in (
        ("Fixed", ["q59"]),
        ("Inconclusive", ["q02"]),
        ("Only in baseline", ["q00"]),
        ("Only in candidate", ["q60"]),
        ("Edited", ["q01"]),
    ):
        keys.open(name)
        tab = page.get_by_role("navigation", name="What became of the cases")
        expect(tab.locator("[aria-current=page]")).to_contain_text(name)
        has_settled(page)
        assert listed(page) == found
        assert keys.at().startswith(name)
    assert is_same_page()
    page.go_back()
    expect(page.locator("#cases tbody .id")).to_have_text(["q60"])


def test_filters_narrow_the_list_in_place_and_back_takes_them_off(keys: Keys, runs: Three) -> None:
    page = keys.page
    page.goto(runs.url)
    is_same_page = stays(page)
    keys.to("Tag")
    keys.type("odd")
    keys.press("Enter")
    expect(page.get_by_role("link", name="Clear filters")).to_be_visible()
    has_settled(page)
    assert set(listed(page)) == {f"q{n:02}" for n in range(3, 58, 2)}
    assert keys.at() == "Tag"
    keys.to("Text in outputs")
    keys.type("Question 57")
    keys.press("Enter")
    expect(page.locator("#cases tbody tr")).to_have_count(1)
    assert is_same_page()
    page.go_back()
    expect(page.locator("#cases tbody tr")).to_have_count(28)
    keys.to("Clear filters")
    keys.press("Enter")
    expect(page.locator("#cases tbody tr")).to_have_count(50)


def test_from_the_list_through_cases_and_back_to_the_row(keys: Keys, runs: Three) -> None:
    page, walk = keys.page, Walk(keys.page)
    page.goto(runs.url)
    keys.open("Next")
    expect(page.locator("#cases tbody .id").first).to_have_text("q53")
    has_settled(page)
    keys.press("j", "j", "Enter")
    walk.is_at("q54")
    expect(page.locator(".sequence .number")).to_have_text("52 of 55 · broke")
    keys.press("ArrowRight")
    walk.is_at("q55")
    page.wait_for_load_state()
    keys.press("k")
    walk.is_at("q54")
    keys.open("w46 compared with w45")
    walk.is_at("w46 compared with w45")
    row = page.locator("#cases tr:target")
    expect(row.locator(".id")).to_have_text("q54")
    expect(row).to_be_in_viewport()
    keys.press("Tab", "Tab", "Enter")  # past the box that selects the case
    walk.is_at("q54")
    expect(page.locator(".sequence .number")).to_have_text("52 of 55 · broke")


def test_charts_have_tables_whose_links_lead_to_the_cases(keys: Keys, runs: Three) -> None:
    page = keys.page
    page.goto(runs.url)
    keys.open("View as table")
    expect(page.get_by_text("Cases by how much the score changed")).to_be_visible()
    keys.to("0.88")
    keys.press("Enter")
    page.wait_for_url(re.compile("kind=pairs"))
    expect(page.get_by_role("list", name="Ranges of scores that are on")).to_be_visible()
    assert len(listed(page)) > 1


def test_single_keys_are_listed_and_can_be_switched_off(keys: Keys, runs: Three) -> None:
    page = keys.page
    page.goto(runs.url)
    keys.press("?")
    dialog = page.get_by_role("dialog", name="Keyboard")
    expect(dialog).to_be_visible()
    keys.press("Escape")
    expect(dialog).to_be_hidden()
    keys.press("/")
    expect(page.get_by_role("searchbox", name="Search")).to_be_focused()
    keys.type("j")  # a letter, not the next row
    assert page.get_by_role("searchbox", name="Search").input_value() == "j"
    keys.press("Escape", "Tab")
    keys.press("?")
    keys.to("Single keys work")
    keys.press("Space", "Escape", "j")
    assert not page.evaluate("document.activeElement.classList.contains('row-link')")
