"""The page of one's own account."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from scoring.models import AuditEntry, Team, User
from tests.pages.account.factors import set_up_app

BrowserOf = Callable[[User], Client]


@pytest.fixture
def own(browser_of: BrowserOf, bob: User) -> Client:
    return browser_of(bob)


def test_a_name_is_changed_and_audited(own: Client, bob: User) -> None:
    url = reverse("profile")
    for _ in range(2):
        own.post(url, {"name": "Bob Lee"})
    bob.refresh_from_db()
    assert bob.name == "Bob Lee"
    assert AuditEntry.objects.get().new == {"name": "Bob Lee"}
    assert own.post(url, {"name": "two\nlines"}).status_code == 422
    own.post(url, {"name": ""})
    bob.refresh_from_db()
    assert str(bob) == "bob@example.org"


def test_teams_and_roles_are_listed(own: Client, team: Team) -> None:
    page = own.get(reverse("profile")).text
    assert reverse("members", args=[team.slug]) in page
    assert "viewer" in page


def test_it_says_whether_a_second_factor_is_on(own: Client) -> None:
    assert ">off<" in own.get(reverse("profile")).text
    set_up_app(own)
    assert ">on<" in own.get(reverse("profile")).text
