"""From the set-up link to a removed member, in two browsers and without Django's admin."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from scoring.models import Member, Review, Role, Team
from scoring.models.team.team import setup_token
from tests.browser.compare_steps import in_both_schemes
from tests.browser.conftest import open_window
from tests.conftest import PASSWORD
from tests.support.datasets import published_version, ready_outputs
from tests.support.run_states import CLOSE, finished_run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

Check = Callable[[Page], None]


@pytest.fixture
def other(chromium: Browser, live_server: LiveServer) -> Iterator[Page]:
    """The tab of a second person, in a browser of their own."""
    window = open_window(chromium, live_server)
    yield window.new_page()
    window.close()


def fill_password(page: Page) -> None:
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Confirm password").fill(PASSWORD)


def set_up(page: Page) -> None:
    """The first person, who makes the team."""
    page.goto(reverse("setup", args=[setup_token()]))
    page.get_by_label("E-mail").fill("ada@example.org")
    fill_password(page)
    page.get_by_label("Team").fill("Support")
    page.get_by_role("button", name="Set up and sign in").click()
    expect(page.get_by_role("navigation", name="Team")).to_be_visible()


def open_settings(page: Page) -> None:
    """By the person's menu."""
    page.get_by_role("banner").locator("summary[aria-label='ada@example.org']").click()
    page.get_by_role("link", name="Team settings").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Team settings")


def invite(page: Page, email: str) -> str:
    """The invitation's link, which the page shows."""
    page.get_by_label("E-mail").fill(email)
    page.get_by_role("button", name="Invite", exact=True).click()
    expect(page.get_by_text(f"{email} is invited.")).to_be_visible()
    return page.locator("code", has_text="/invitations/").inner_text()


def review_url() -> str:
    """The page of a case that waits for a verdict."""
    version = published_version(Team.objects.get(), [{"input": "q", "expected": "yes"}])
    run = finished_run(ready_outputs(version, ["no"]), CLOSE)
    return reverse("run_case", args=[run.uuid, 1])


def test_from_set_up_to_a_removed_member(page: Page, other: Page, is_accessible: Check) -> None:
    set_up(page)
    open_settings(page)
    in_both_schemes(page, is_accessible)
    link = invite(page, "rita@example.org")

    other.goto(link)
    is_accessible(other)
    other.get_by_label("Name").fill("Rita")
    fill_password(other)
    other.get_by_role("button", name="Create account and join").click()
    expect(other.get_by_role("navigation", name="Team")).to_be_visible()
    assert Member.objects.get(user__email="rita@example.org").role == Role.REVIEWER

    case = review_url()
    other.goto(case)
    passed = other.get_by_role("group", name="Your verdict").get_by_role("button", name="Pass")
    passed.click()
    expect(passed).to_have_attribute("aria-pressed", "true")
    assert str(Review.objects.get().reviewer) == "Rita"

    page.reload()
    role = page.get_by_label("Role of Rita", exact=True)
    role.select_option("viewer")
    page.get_by_role("button", name="Change role of Rita").click()
    expect(page.get_by_text("Rita has the role viewer now.")).to_be_visible()
    other.goto(case)
    expect(other.get_by_role("heading", level=1)).to_be_visible()
    expect(passed).to_have_count(0)
    other.goto(reverse("new_upload", args=[Team.objects.get().slug]))
    expect(other.get_by_role("heading", level=1)).to_have_text("Your role does not allow this")

    page.get_by_role("link", name="Remove Rita").click()
    is_accessible(page)
    page.get_by_role("button", name="Remove Rita").click()
    expect(page.get_by_text("Rita is no longer a member.")).to_be_visible()
    other.goto(case)
    expect(other.get_by_role("heading", level=1)).to_have_text("Sign in")
