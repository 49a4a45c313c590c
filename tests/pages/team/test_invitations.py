"""What an admin does about invitations and the join link."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from scoring.models import Invitation, JoinLink, OutgoingMail, Role, Team, User

BrowserOf = Callable[[User], Client]


@pytest.fixture
def admin(browser_of: BrowserOf, alice: User) -> Client:
    return browser_of(alice)


def test_without_mail_the_link_is_passed_on(admin: Client, team: Team) -> None:
    url = reverse("invite", args=[team.slug])
    page = admin.post(url, {"email": "New@example.org", "role": "2"}, follow=True).text
    assert "Send them the link below." in page
    invitation = Invitation.objects.get()
    assert (invitation.email, invitation.role) == ("new@example.org", Role.REVIEWER)
    assert f"/invitations/{invitation.key}/" in page


def test_with_mail_it_is_on_its_way(admin: Client, team: Team, settings: Settings) -> None:
    settings.EVALSITE_MAIL_HOST = "mail.example.org"
    settings.EVALSITE_URL = "https://evals.example.org/"
    url = reverse("invite", args=[team.slug])
    page = admin.post(url, {"email": "new@example.org", "role": "2"}, follow=True).text
    assert "The link is on its way there." in page
    assert OutgoingMail.objects.get().link == "https://evals.example.org/invitations/UID-KEY/"


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        ({"email": "no address", "role": "2"}, "Enter a valid email address."),
        ({"email": "bob@example.org", "role": "2"}, "This person is a member already."),
        ({"email": "new@example.org", "role": "9"}, "Select a valid choice."),
        ({}, "This field is required."),
    ],
)
def test_what_cannot_be_invited_comes_back(
    admin: Client, team: Team, bob: User, sent: dict[str, str], text: str
) -> None:
    answer = admin.post(reverse("invite", args=[team.slug]), sent)
    assert answer.status_code == 422
    assert text in answer.text
    assert not Invitation.objects.exists()


def test_a_revoked_link_lets_nobody_in(admin: Client, team: Team, alice: User) -> None:
    invitation = Invitation.objects.create(team=team, email="new@example.org", created_by=alice)
    url = reverse("revoke_invitation", args=[team.slug, invitation.uuid])
    assert "is revoked." in admin.post(url, follow=True).text
    answer = Client().get(reverse("invitation", args=[invitation.key]))
    assert answer.status_code == 410
    assert "This invitation was revoked" in answer.text


def test_another_teams_invitation_is_missing(admin: Client, team: Team, charlie: User) -> None:
    other = Team.objects.get(slug="elsewhere")
    invitation = Invitation.objects.create(team=other, email="new@example.org")
    url = reverse("revoke_invitation", args=[team.slug, invitation.uuid])
    assert admin.post(url).status_code == 404
    assert Invitation.objects.open().exists()


def test_a_join_link_needs_a_site_that_sends_mail(
    admin: Client, team: Team, settings: Settings
) -> None:
    page = reverse("members", args=[team.slug])
    assert "EVALSITE_MAIL_HOST" in admin.get(page).text
    settings.EVALSITE_MAIL_HOST = "mail.example.org"
    assert "Create join link" in admin.get(page).text


def test_the_join_link_is_made_shown_and_removed(admin: Client, team: Team) -> None:
    url = reverse("join_link", args=[team.slug])
    page = admin.post(url, {"domain": "@Example.org", "role": "3"}, follow=True).text
    join_link = JoinLink.objects.get()
    assert (join_link.domain, join_link.role) == ("example.org", Role.EDITOR)
    assert f"/join/{join_link.key}/" in page
    admin.post(url, {"remove": ""})
    assert not JoinLink.objects.exists()
    assert Client().get(reverse("join", args=[join_link.key])).status_code == 404


def test_a_join_link_makes_no_admins(admin: Client, team: Team) -> None:
    url = reverse("join_link", args=[team.slug])
    assert admin.post(url, {"domain": "example.org", "role": "4"}).status_code == 422
