"""Tokens, groups, retention and the audit log in a real browser; in light, dark and narrow."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from scoring.models import AuditEntry, Team, User
from tests.browser.compare_steps import in_both_schemes
from tests.support.fixtures.single_sign_on import provider
from tests.support.identity_provider import IdentityProvider

__all__ = ["provider"]

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SignIn = Callable[[User], None]
Check = Callable[[Page], None]


def fits(page: Page) -> bool:
    """Whether nothing makes the page wider than the window."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


def test_a_token_for_a_service_account_is_made_and_revoked(
    page: Page, sign_in: SignIn, is_accessible: Check, team: Team, alice: User
) -> None:
    sign_in(alice)
    page.goto(reverse("tokens", args=[team.slug]))
    page.get_by_label("Name").fill("nightly")
    page.get_by_role("button", name="Create service account").click()
    expect(page.get_by_text("Service account nightly created.")).to_be_visible()
    page.get_by_role("link", name="New token").click()
    is_accessible(page)
    page.get_by_label("Name").fill("CI")
    page.get_by_label("Acts for").select_option("nightly, service account")
    page.get_by_label("upload:").uncheck()
    page.get_by_role("button", name="Create token").click()
    secret = page.locator("#secret")
    expect(secret).to_contain_text("evs_")
    in_both_schemes(page, is_accessible)
    row = page.get_by_role("table", name="Active tokens").get_by_role("row", name="CI")
    expect(row).to_contain_text("read, score")
    page.reload()
    expect(secret).to_have_count(0)
    page.get_by_role("button", name="Revoke CI").click()
    expect(page.get_by_role("heading", name="Revoked and expired")).to_be_visible()
    page.set_viewport_size({"width": 360, "height": 800})
    assert fits(page)
    page.set_viewport_size({"width": 1280, "height": 720})


def test_the_log_is_filtered_and_read(
    page: Page, sign_in: SignIn, is_accessible: Check, team: Team, alice: User, bob: User
) -> None:
    for number in range(60):
        new = {"name": f"name {number}", "long": "x" * 500}
        AuditEntry.objects.record(team, alice, "team.renamed", team, new=new)
    AuditEntry.objects.record(team, bob, "comment.added", team, new={"text": "<i>Why?</i>"})
    sign_in(alice)
    page.goto(reverse("audit", args=[team.slug]))
    in_both_schemes(page, is_accessible)
    page.get_by_role("link", name="Next").click()
    expect(page.get_by_text("name name 0", exact=True)).to_be_visible()
    page.get_by_label("Who").fill("bob")
    page.get_by_role("button", name="Filter").click()
    expect(page.get_by_text("<i>Why?</i>")).to_be_visible()
    expect(page.get_by_text("name name 10")).to_have_count(0)
    page.set_viewport_size({"width": 360, "height": 800})
    assert fits(page)
    page.set_viewport_size({"width": 1280, "height": 720})
    page.get_by_role("link", name="Clear filters").click()
    expect(page.get_by_text("name name 59", exact=True)).to_be_visible()


def test_a_group_gets_somebody_in(
    page: Page,
    sign_in: SignIn,
    is_accessible: Check,
    team: Team,
    alice: User,
    provider: IdentityProvider,
    complaints: list[str],
) -> None:
    provider.person["groups"] = ["staff"]
    sign_in(alice)
    page.goto(reverse("members", args=[team.slug]))
    page.get_by_role("textbox", name="Group").fill("staff")
    page.get_by_role("button", name="Set role of group").click()
    expect(
        page.get_by_role("table", name="Groups").get_by_role("row", name="staff")
    ).to_be_visible()
    in_both_schemes(page, is_accessible)
    page.context.clear_cookies()
    page.goto(reverse("retention", args=[team.slug]))
    is_accessible(page)
    page.get_by_role("link", name="Sign in with Example ID").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Your role does not allow this")
    provider.person |= {"sub": "43", "email": "eve@example.org", "groups": []}
    page.context.clear_cookies()
    page.goto(reverse("account_login"))
    page.get_by_role("link", name="Sign in with Example ID").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Not signed in")
    is_accessible(page)
    assert ["403" in said for said in complaints] == [True, True]
    complaints.clear()


def test_rules_are_previewed_while_they_are_typed(
    page: Page,
    sign_in: SignIn,
    is_accessible: Check,
    team: Team,
    alice: User,
    complaints: list[str],
) -> None:
    sign_in(alice)
    page.goto(reverse("retention", args=[team.slug]))
    save = page.get_by_role("button", name="Save rules")
    expect(save).to_have_count(0)
    page.get_by_label("Audit log, days").fill("9")
    expect(page.get_by_role("alert")).to_contain_text("greater than or equal to 90")
    assert ["422" in said for said in complaints] == [True]
    complaints.clear()
    page.get_by_label("Audit log, days").fill("365")
    expect(page.get_by_role("row", name="Audit log")).to_contain_text("0 entries")
    in_both_schemes(page, is_accessible)
    save.click()
    expect(page.get_by_text("Rules saved. Nothing is removed before")).to_be_visible()
    expect(save).to_have_count(0)
    page.set_viewport_size({"width": 360, "height": 800})
    assert fits(page)
    page.set_viewport_size({"width": 1280, "height": 720})
