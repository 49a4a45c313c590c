"""The bar's links say which section of the team's pages is looked at."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from scoring.models import Role, Team, User
from tests.support.undone import undone

pytestmark = pytest.mark.django_db
CURRENT = re.compile(r'<a href="([^"]+)" aria-current="(\w+)">')


def test_the_section_of_a_page_is_marked_both_times(
    browser_of: Callable[[User], Client], alice: User, team: Team, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[str, str, str]] = [
        ("team_home", "team_home", "page"),
        ("runs", "runs", "true"),
        ("scorers", "scorers", "true"),
        ("new_scorer_type", "scorers", "true"),
    ]
    for name, section, current in cases:
        with subtests.test(name=name, section=section, current=current), undone():
            page = browser_of(alice).get(reverse(name, args=[team.slug])).text
            navs = page.split('<nav class="bar-nav"')[1:]
            marked = [CURRENT.findall(nav.partition("</nav>")[0]) for nav in navs]
            assert marked == [[(reverse(section, args=[team.slug]), current)]] * 2


def test_no_section_of_another_team_is_marked(
    browser_of: Callable[[User], Client], alice: User, team: Team
) -> None:
    """Two teams have links of their own, though each is drawn once."""
    browser, other = browser_of(alice), Team.objects.create(name="Other", slug="other")
    other.members.create(user=alice, role=Role.VIEWER)
    for each in (team, other, team):
        page = browser.get(reverse("runs", args=[each.slug])).text
        nav = page.split('<nav class="bar-nav"')[1].partition("</nav>")[0]
        assert nav.count(f'href="/teams/{each.slug}/') == 7
        assert nav.count("href=") == 7
