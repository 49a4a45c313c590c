"""Tokens on their page: made, shown once, revoked; service accounts beside them."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from scoring.engine.team.tokens import create_service_account
from scoring.models import Member, Role, Team, Token, User
from tests.api.conftest import Api

BrowserOf = Callable[[User], Client]


@pytest.fixture
def admin(browser_of: BrowserOf, alice: User) -> Client:
    return browser_of(alice)


def typed(member: Member, **more: Any) -> dict[str, Any]:
    return {
        "name": "nightly",
        "member": str(member.pk),
        "role": "3",
        "scopes": ["read", "upload"],
        "days": "30",
    } | more


def member_of(user: User) -> Member:
    return Member.objects.get(user=user)


def test_a_token_is_shown_once_and_works(admin: Client, team: Team, alice: User) -> None:
    url = reverse("new_token", args=[team.slug])
    page = admin.post(url, typed(member_of(alice)), follow=True).text
    (secret,) = re.findall(r"evs_[\w-]{43}", page)
    token = Token.objects.get()
    assert (token.role, token.scopes, token.user) == (Role.EDITOR, ["read", "upload"], alice)
    expected = timezone.now() + timedelta(days=30)
    assert token.expires_at
    assert abs(token.expires_at - expected) < timedelta(minutes=1)
    tokens = reverse("tokens", args=[team.slug])
    again = admin.get(tokens).text
    assert "evs_" not in again
    assert "never" in again  # used
    assert Api(secret).get("scorers/").status_code == 200
    assert "just now" in admin.get(tokens).text


def test_it_may_last_for_ever(admin: Client, team: Team, alice: User) -> None:
    url = reverse("new_token", args=[team.slug])
    admin.post(url, typed(member_of(alice), days=""))
    assert Token.objects.get().expires_at is None


def test_it_acts_for_oneself_or_a_service_account(
    admin: Client, team: Team, alice: User, bob: User, charlie: User
) -> None:
    url = reverse("new_token", args=[team.slug])
    elsewhere = Team.objects.get(slug="elsewhere")
    foreign = create_service_account(elsewhere, "theirs", Role.EDITOR, charlie)
    for other in (member_of(bob), member_of(charlie), foreign):
        assert admin.post(url, typed(other)).status_code == 422
    account = create_service_account(team, "ci", Role.EDITOR, alice)
    assert admin.post(url, typed(account)).status_code == 302
    assert Token.objects.get().user == account.user


@pytest.mark.parametrize(
    "change", [{"name": ""}, {"scopes": []}, {"scopes": ["all"]}, {"role": "5"}, {"days": "9999"}]
)
def test_what_makes_no_token_comes_back(
    admin: Client, team: Team, alice: User, change: dict[str, Any]
) -> None:
    answer = admin.post(reverse("new_token", args=[team.slug]), typed(member_of(alice), **change))
    assert answer.status_code == 422
    assert list(answer.context["form"].errors) == list(change)
    assert not Token.objects.exists()


def test_a_revoked_token_is_refused_and_stays_listed(
    admin: Client, team: Team, alice: User
) -> None:
    token, secret = Token.objects.issue(team, alice, "nightly")
    url = reverse("revoke_token", args=[team.slug, token.uuid])
    for _ in range(2):
        assert "Token nightly is revoked." in admin.post(url, follow=True).text
    assert Api(secret).get("scorers/").status_code == 401
    page = admin.get(reverse("tokens", args=[team.slug])).text
    assert "Revoked and expired" in page
    assert "No active tokens" in page


def test_another_teams_token_is_missing(admin: Client, team: Team, charlie: User) -> None:
    token, _ = Token.objects.issue(Team.objects.get(slug="elsewhere"), charlie, "theirs")
    url = reverse("revoke_token", args=[team.slug, token.uuid])
    assert admin.post(url).status_code == 404
    assert "theirs" not in admin.get(reverse("tokens", args=[team.slug])).text


def test_a_service_account_is_made_and_removed(admin: Client, team: Team) -> None:
    url = reverse("service_accounts", args=[team.slug])
    assert admin.post(url, {"name": "", "role": "3"}).status_code == 422
    assert (
        "Service account ci created."
        in admin.post(url, {"name": "ci", "role": "2"}, follow=True).text
    )
    account = Member.objects.service_accounts().get()
    assert (account.role, account.team) == (Role.REVIEWER, team)
    members = admin.get(reverse("members", args=[team.slug])).text
    assert account.user.email not in members
    remove = reverse("remove_service_account", args=[team.slug, account.pk])
    assert "its tokens are revoked." in admin.post(remove, follow=True).text
    assert not Member.objects.service_accounts().exists()


def test_no_person_is_removed_as_an_account(admin: Client, team: Team, bob: User) -> None:
    url = reverse("remove_service_account", args=[team.slug, member_of(bob).pk])
    assert admin.post(url).status_code == 404
    assert Member.objects.filter(user=bob).exists()
