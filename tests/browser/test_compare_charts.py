"""From the charts of a comparison to the cases behind them; both p on any screen."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from scoring.models import Run, Team, User
from tests.browser.walk import Walk
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

BEFORE = [0.9, 0.9, 0.9, 0.5, 0.2]
AFTER = [0.2, 0.2, 0.9, 0.5, 0.9]


@pytest.fixture
def url(team: Team, make_dataset: MakeDataset) -> str:
    version = make_dataset([{"key": f"q{n}", "input": f"Question {n}"} for n in range(5)])
    old: Run = run_with(version, {"close": BEFORE, "far": AFTER}, name="w45")
    new: Run = run_with(version, {"close": AFTER, "far": BEFORE}, name="w46")
    path = reverse("compare", args=[team.slug])
    return f"{path}?baseline={old.uuid}&candidate={new.uuid}"


def rows(page: Page) -> list[str]:
    return page.locator("#cases .row-link .id").all_inner_texts()


def test_a_dot_and_a_bar_open_their_cases_and_chips_come_off(
    page: Page,
    sign_in: Callable[[User], None],
    is_accessible: Callable[[Page], None],
    alice: User,
    url: str,
) -> None:
    sign_in(alice)
    page.goto(url)
    page.evaluate("window.isSamePage = true")
    page.locator(".scatter a").filter(has_text="2 cases").first.click()
    expect(page).to_have_url(re.compile("was=.*now=.*kind=pairs&scorer=close"))
    expect(page.locator(".chip")).to_have_count(2)
    assert [key.strip() for key in rows(page)] == ["q0", "q1"]
    is_accessible(page)
    page.get_by_role("link", name="Remove the filter close is 0.2 to 0.24").click()
    expect(page.locator(".chip")).to_have_count(1)
    expect(page.locator("#cases .row-link")).to_have_count(3)
    page.locator(".steps-chart a").last.click()
    expect(page.get_by_role("link", name=re.compile("close changed by"))).to_be_visible()
    expect(page.locator("#cases .row-link")).to_have_count(1)
    page.locator('[data-label="fell"] a').first.click()
    expect(page).to_have_url(re.compile("change=-1..0"))
    expect(page.locator("#cases .row-link")).to_have_count(2)
    page.go_back()
    expect(page.locator("#cases .row-link")).to_have_count(1)
    assert page.evaluate("window.isSamePage")


def test_the_tables_lead_there_by_keys(
    page: Page, sign_in: Callable[[User], None], alice: User, url: str
) -> None:
    sign_in(alice)
    page.goto(url)
    page.get_by_text("View as table").focus()
    page.keyboard.press("Enter")
    page.get_by_role("row", name=re.compile("^0.88.0.92 0.20.0.24")).get_by_role("link").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".chip")).to_have_count(2)
    Walk(page).is_at("w46 compared with w45")


def test_both_p_are_there_however_narrow_the_page(
    page: Page, sign_in: Callable[[User], None], alice: User, url: str
) -> None:
    sign_in(alice)
    page.goto(url)
    row = page.get_by_role("row", name=re.compile("^close")).first
    for width in (360, 660, 1024):
        page.set_viewport_size({"width": width, "height": 800})
        expect(row.locator('[data-label="p"]')).to_be_visible()
        expect(row.locator('[data-label="p corrected"]')).to_be_visible()
        width_of = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert page.evaluate(width_of) <= 0, width
