"""A type of scorer is a few keys away, and a plain link where nothing is typed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from scoring.models import Team, User
from tests.browser.test_feel import LISTEN, heard

pytestmark = pytest.mark.browser

SignIn = Callable[[User], None]
IsAccessible = Callable[[Page], None]


@pytest.fixture
def at_types(page: Page, sign_in: SignIn, alice: User, team: Team) -> Page:
    sign_in(alice)
    page.add_init_script(LISTEN)
    page.goto(reverse("new_scorer_type", args=[team.slug]))
    return page


def test_the_last_type_is_opened_by_a_handful_of_keys(
    at_types: Page, is_accessible: IsAccessible
) -> None:
    for key in ("Tab", "Enter", "Tab", "Tab"):  # past the bar, past the way back
        at_types.keyboard.press(key)
    expect(at_types.get_by_label("Words of its name, or of what it does")).to_be_focused()
    at_types.keyboard.type("wei")
    expect(at_types.locator("#types").get_by_role("listitem")).to_have_count(1)
    heard(at_types, "1 type. Enter opens Weighted mean")
    is_accessible(at_types)
    at_types.keyboard.press("Enter")
    expect(at_types.get_by_role("heading", level=1)).to_have_text("Weighted mean")


def test_enter_with_nothing_typed_keeps_the_page_and_what_comes_next_is_searched(
    at_types: Page,
) -> None:
    field = at_types.get_by_label("Words of its name, or of what it does")
    at_types.evaluate("document.body.dataset.mark = 'same'")
    field.focus()
    with at_types.expect_response(lambda answer: "open=first" in answer.url):
        at_types.keyboard.press("Enter")
    expect(at_types.locator("body[data-mark=same]")).to_be_attached()
    expect(field).to_be_focused()
    at_types.keyboard.type("wei")
    expect(at_types.locator("#types").get_by_role("listitem")).to_have_count(1)
    expect(at_types.locator("body[data-mark=same]")).to_be_attached()
    at_types.keyboard.press("Enter")
    expect(at_types.get_by_role("heading", level=1)).to_have_text("Weighted mean")
    at_types.go_back()
    expect(field).to_have_value("wei")


def test_the_types_are_walked_by_j_and_stand_under_headings(at_types: Page) -> None:
    headings = at_types.get_by_role("heading", level=2)
    expect(headings).to_contain_text(["By a rule", "By meaning"])
    for key in ("j", "j", "j", "k", "Enter"):
        at_types.keyboard.press(key)
    expect(at_types.get_by_role("heading", level=1)).to_have_text("Includes")


def test_words_that_fit_nothing_lead_back_to_all_types(at_types: Page) -> None:
    field = at_types.get_by_label("Words of its name, or of what it does")
    field.fill("xyzzy")
    heard(at_types, "No type fits")
    at_types.get_by_role("link", name="Show all types").click()
    expect(at_types.locator("#types").get_by_role("listitem").nth(12)).to_be_visible()


def test_without_scripts_enter_opens_the_first_type_and_each_is_a_link(
    at_types: Page, chromium: Browser, live_server: LiveServer, team: Team
) -> None:
    plain = chromium.new_context(base_url=live_server.url, java_script_enabled=False)
    plain.add_cookies(at_types.context.cookies())  # type: ignore[arg-type]  # a dict of the same shape
    page = plain.new_page()
    page.goto(reverse("new_scorer_type", args=[team.slug]))
    page.get_by_role("link", name="JSON schema", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("JSON schema")
    page.goto(reverse("new_scorer_type", args=[team.slug]))
    page.get_by_label("Words of its name, or of what it does").fill("lev")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Levenshtein similarity")
    plain.close()
