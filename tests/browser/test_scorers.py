"""Making a scorer and a suite in the browser, by mouse and by keyboard."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from scoring.models import Scorer, Suite, Team, User

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_scorer_and_a_suite_are_made_and_are_accessible(
    page: Page,
    sign_in: Callable[[User], None],
    is_accessible: Callable[[Page], None],
    alice: User,
    team: Team,
) -> None:
    sign_in(alice)
    page.goto(reverse("scorers", args=[team.slug]))
    is_accessible(page)
    page.get_by_role("link", name="New scorer").first.click()
    is_accessible(page)
    page.get_by_role("link", name="Levenshtein similarity", exact=True).click()
    expect(page.locator("#tried")).to_contain_text("→")
    is_accessible(page)
    page.get_by_label("Name").fill("close enough")
    page.get_by_label("Default threshold").fill("0.65")
    page.get_by_role("button", name="Create scorer").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("close enough")
    is_accessible(page)

    page.goto(reverse("new_suite", args=[team.slug]))
    page.get_by_label("Name").fill("release")
    page.get_by_label("close enough", exact=True).check()
    is_accessible(page)
    page.get_by_role("button", name="Create suite").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("release")
    is_accessible(page)
    assert Suite.objects.get().entries.get().threshold == 0.65


def test_a_bad_pattern_is_refused_beside_its_field(
    page: Page, sign_in: Callable[[User], None], alice: User, team: Team, complaints: list[str]
) -> None:
    sign_in(alice)
    page.goto(reverse("new_scorer", args=[team.slug, "regex"]))
    page.get_by_label("Name").fill("broken")
    page.get_by_label("Pattern").fill("(")
    page.keyboard.press("Tab")
    page.get_by_role("button", name="Create scorer").press("Enter")
    expect(page.get_by_label("Pattern")).to_have_attribute("aria-invalid", "true")
    assert not Scorer.objects.exists()
    assert all("422" in complaint for complaint in complaints)
    complaints.clear()
