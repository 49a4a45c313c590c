"""Links of a run's page to some of its cases swap it in place: focus, Back, and what is said."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, Locator, Page, expect
from pytest_django.live_server_helper import LiveServer

from scoring.models import Run, SavedView, User
from tests.browser.compare_steps import has_settled, stays
from tests.browser.test_feel import LISTEN, heard
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.run_states import CLOSE, finished_run

pytestmark = pytest.mark.browser

SignIn = Callable[[User], None]
CLASSED = ("label", "exact_match", {"classes": ["yes", "no"]})


class Way(NamedTuple):
    """A link to some cases: where it is, what its address then holds, how many rows are left."""

    link: Callable[[Page], Locator]
    query: str
    rows: int
    says: str


def region(page: Page, name: str) -> Locator:
    return page.get_by_role("region", name=name, exact=True)


WAYS = {
    "a verdict": Way(
        lambda page: region(page, "Cases by verdict").get_by_role("link", name="8 fail"),
        "verdict=fail", 8, "of 8, fail",
    ),
    "a cause": Way(
        lambda page: region(page, "Scorers").get_by_role("link", name="no_output 1").first,
        "code=no_output", 1, "of 1, ",
    ),
    "a bar": Way(
        lambda page: page.get_by_role("group", name="Histogram of close").get_by_role("link").last,
        "min=0.95", 11, "of 11, ",
    ),
    "a cell": Way(
        lambda page: region(page, "Classes by label").get_by_role("link", name="3", exact=True),
        "answered=no", 3, "of 3, expected yes, answered no",
    ),
}  # fmt: skip


@pytest.fixture
def run(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> Run:
    """Twenty answers: eleven right, three wrong, five odd, one missing."""
    version = make_dataset([{"expected": "yes", "input": f"Question {n}"} for n in range(20)])
    texts = [None, *["yes"] * 11, *["no"] * 3, *["odd"] * 5]
    return finished_run(make_outputs(version, texts), CLOSE, CLASSED, name="w46")


@pytest.fixture
def at_run(page: Page, sign_in: SignIn, alice: User, run: Run) -> Page:
    sign_in(alice)
    page.add_init_script(LISTEN)
    page.goto(reverse("run", args=[run.uuid]))
    return page


def rows(page: Page) -> Locator:
    return page.locator("#ticks tbody tr")


@pytest.mark.parametrize("way", WAYS.values(), ids=list(WAYS))
def test_a_link_to_cases_swaps_them_in_place_and_back(at_run: Page, way: Way) -> None:
    is_same = stays(at_run)
    link = way.link(at_run)
    link.focus()
    at_run.keyboard.press("Enter")
    expect(rows(at_run)).to_have_count(way.rows)
    heard(at_run, way.says)
    has_settled(at_run)
    expect(at_run).to_have_url(re.compile(re.escape(way.query)))
    expect(at_run.locator("main :focus")).to_be_in_viewport()
    expect(at_run.get_by_role("region", name="Cases", exact=True)).to_be_in_viewport()
    assert is_same()
    at_run.go_back()
    expect(rows(at_run)).to_have_count(20)
    assert way.query not in at_run.url


def test_a_view_of_the_list_is_opened_in_place(at_run: Page, run: Run, alice: User) -> None:
    SavedView.objects.keep(run.team, "bad ones", "verdict=fail", by=alice, is_shared=False)
    at_run.reload()
    is_same = stays(at_run)
    menu = at_run.locator("#cases summary", has_text="Views")
    menu.focus()
    at_run.keyboard.press("Enter")
    at_run.get_by_role("link", name="bad ones", exact=True).focus()
    at_run.keyboard.press("Enter")
    expect(rows(at_run)).to_have_count(8)
    heard(at_run, "of 8, fail")
    has_settled(at_run)
    expect(menu).to_be_focused()
    expect(region(at_run, "Cases by verdict").locator("[aria-current]")).to_contain_text("fail")
    assert is_same()
    at_run.go_back()
    expect(rows(at_run)).to_have_count(20)


def test_the_verdict_that_is_filtered_by_is_marked_above_the_table(at_run: Page) -> None:
    marked = region(at_run, "Cases by verdict").locator("[aria-current]")
    WAYS["a verdict"].link(at_run).click()
    expect(marked).to_contain_text("fail")
    at_run.get_by_label("Verdict", exact=True).select_option("pass")
    at_run.get_by_role("button", name="Filter").press("Enter")
    expect(rows(at_run)).to_have_count(11)
    expect(marked).to_contain_text("pass")
    at_run.get_by_role("link", name="Remove the filter").click()
    expect(rows(at_run)).to_have_count(20)
    expect(marked).to_have_count(0)


def test_the_links_lead_to_the_same_cases_without_scripts(
    at_run: Page, chromium: Browser, live_server: LiveServer, run: Run
) -> None:
    plain = chromium.new_context(base_url=live_server.url, java_script_enabled=False)
    plain.add_cookies(at_run.context.cookies())  # type: ignore[arg-type]  # a dict of the same shape
    page = plain.new_page()
    for way in WAYS.values():
        page.goto(reverse("run", args=[run.uuid]))
        way.link(page).focus()
        page.keyboard.press("Enter")
        expect(rows(page)).to_have_count(way.rows)
        assert page.url.endswith("#cases")
    plain.close()
