"""Django's admin under our Content-Security-Policy, and a threshold changed in it by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from scoring.models import Scorer, Suite, SuiteEntry, Team, User

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def entry(team: Team) -> SuiteEntry:
    scorer = Scorer.objects.define(team, "close enough", "levenshtein", {})
    Suite.objects.define(team, "release", [(scorer, None)])
    return SuiteEntry.objects.get()


def test_the_admin_keeps_to_the_policy(
    page: Page, sign_in: Callable[[User], None], root: User, team: Team
) -> None:
    sign_in(root)
    for name in ("index", "scoring_team_changelist", "scoring_user_add"):
        page.goto(reverse(f"admin:{name}"))
        expect(page.get_by_role("heading", level=1)).to_be_visible()


def test_an_administrator_changes_a_suites_threshold(
    page: Page, sign_in: Callable[[User], None], root: User, entry: SuiteEntry
) -> None:
    sign_in(root)
    page.goto(reverse("admin:scoring_suite_change", args=[entry.suite.pk]))
    page.get_by_role("link", name="Change", exact=True).click()
    page.get_by_label("Threshold").fill("0.85")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("This field is required.")).to_be_visible()

    page.get_by_label("Reason").fill("Reviewers were stricter in three of four disputed cases.")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("was changed successfully")).to_be_visible()

    entry.refresh_from_db()
    assert entry.threshold == 0.85
    page.goto(reverse("admin:scoring_suiteentry_change", args=[entry.pk]))
    expect(page.get_by_text("0.7 → 0.85. Reviewers were stricter")).to_be_visible()


def test_the_team_sees_the_change_on_the_suites_page(
    page: Page, sign_in: Callable[[User], None], alice: User, entry: SuiteEntry
) -> None:
    entry.change_threshold(0.85, by=alice, reason="Reviewers were stricter.")
    sign_in(alice)
    page.goto(reverse("suite", args=[entry.suite.uuid]))
    for region in ("Scorers", "Threshold changes"):
        row = page.get_by_role("region", name=region).get_by_role("row", name="close enough")
        expect(row).to_contain_text("0.85")
        expect(row).to_contain_text("Reviewers were stricter.")
