"""Teams are created and renamed on pages, not in Django's admin."""

from __future__ import annotations

from collections.abc import Callable

from django.test import Client
from django.urls import reverse

from scoring.models import Team, User

BrowserOf = Callable[[User], Client]


def test_an_admin_creates_another_team(browser_of: BrowserOf, alice: User) -> None:
    admin = browser_of(alice)
    answer = admin.post(reverse("new_team"), {"name": "Search"}, follow=True)
    assert answer.redirect_chain == [("/teams/search/members/", 302)]
    assert "Team Search created." in answer.text
    assert "Support" in answer.text  # the other team, in the bar


def test_an_editor_does_not(browser_of: BrowserOf, erin: User) -> None:
    editor = browser_of(erin)
    assert editor.post(reverse("new_team"), {"name": "Search"}).status_code == 403
    assert reverse("new_team") not in editor.get("/teams/support/").text
    assert Team.objects.count() == 1


def test_a_team_gets_another_name(browser_of: BrowserOf, team: Team, alice: User) -> None:
    admin, url = browser_of(alice), reverse("rename_team", args=[team.slug])
    refused = admin.post(url, {"name": "two\nlines"})
    assert refused.status_code == 422
    assert "Support" in refused.text
    page = admin.post(url, {"name": "Helpdesk"}, follow=True).text
    assert "Support is called Helpdesk now." in page
