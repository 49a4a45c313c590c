"""Single sign-on as the only way in: no other page takes anybody in."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from evalsite.env import SingleSignOn
from evalsite.middleware.sso_only import OTHER_WAYS
from scoring.models import Invitation, Role, Team, User
from tests.conftest import PASSWORD
from tests.support.fixtures.single_sign_on import change_sso, set_sso

KEYS = {"account_reset_password_from_key": {"uidb36": "1", "key": "a"}}


@pytest.fixture(autouse=True)
def sso(settings: Settings) -> None:
    sso = SingleSignOn("https://id.example", "evalsite", "", "Example ID", is_only=True)
    set_sso(settings, sso)


def sign_in(client: Client, user: User) -> int:
    given = {"login": user.email, "password": PASSWORD}
    return client.post(reverse("account_login"), given).status_code


def test_no_password_is_taken(client: Client, bob: User, settings: Settings) -> None:
    assert sign_in(client, bob) == 403
    assert "_auth_user_id" not in client.session
    change_sso(settings, is_only=False)
    assert sign_in(client, bob) == 302


@pytest.mark.parametrize("name", sorted(OTHER_WAYS))
def test_the_other_ways_are_hidden(client: Client, alice: User, name: str) -> None:
    url = reverse(name, kwargs=KEYS.get(name))
    for visitor in (client, Client()):
        assert visitor.get(url).status_code == 404
        assert visitor.post(url).status_code == 404
        client.force_login(alice)


def test_the_sign_in_page_offers_one_way(client: Client) -> None:
    page = client.get(reverse("account_login"), {"next": "/a?b=c&d"}).text
    assert "Sign in with Example ID" in page
    assert 'href="/accounts/sso/?next=%2Fa%3Fb%3Dc%26d"' in page
    assert 'type="password"' not in page


def test_an_invitation_makes_no_account_with_a_password(client: Client, team: Team) -> None:
    invitation = Invitation.objects.create(team=team, email="d@example.org", role=Role.VIEWER)
    url = reverse("invitation", args=[invitation.key])
    given = {"password": PASSWORD, "password_again": PASSWORD}
    page = client.post(url, given)
    assert page.status_code == 200
    assert "Sign in with Example ID" in page.text
    assert 'type="password"' not in page.text
    assert not User.objects.filter(email="d@example.org").exists()
