"""Where a person is signed in, listed and ended."""

from __future__ import annotations

import pytest
from allauth.usersessions.models import UserSession
from django.test import Client
from django.urls import reverse

from scoring.models import AuditEntry, User
from tests.conftest import PASSWORD

SESSIONS = "/accounts/sessions/"


def signed_in(user: User, browser: str = "Firefox", **more: str) -> Client:
    client = Client(headers={"User-Agent": browser}, **more)
    client.post("/accounts/login/", {"login": user.email, "password": PASSWORD})
    return client


def is_in(client: Client) -> bool:
    return client.get(reverse("profile")).status_code == 200


def test_sessions_are_listed_with_browser_and_address(bob: User, alice: User) -> None:
    signed_in(bob, "Opera", REMOTE_ADDR="192.0.2.9")
    signed_in(alice, "Chrome")
    page = signed_in(bob).get(SESSIONS).text
    assert "Opera" in page
    assert "192.0.2.9" in page
    assert "this one" in page
    assert "Chrome" not in page


@pytest.mark.parametrize("address", ["", "not an address"])
def test_one_from_nowhere_is_listed_too(bob: User, address: str) -> None:
    page = signed_in(bob, REMOTE_ADDR=address).get(SESSIONS, REMOTE_ADDR=address).text
    assert "unknown" in page


def test_one_session_is_ended(bob: User) -> None:
    own, other = signed_in(bob), signed_in(bob, "Opera")
    session = UserSession.objects.get(user_agent="Opera")
    assert own.post(reverse("end_session", args=[session.pk])).status_code == 302
    assert (is_in(own), is_in(other)) == (True, False)
    entry = AuditEntry.objects.get(action="session.ended")
    assert entry.old == {"from": "127.0.0.1", "browser": "Opera"}


def test_nobody_ends_another_persons(bob: User, alice: User) -> None:
    own, other = signed_in(bob), signed_in(alice)
    session = UserSession.objects.get(user=alice)
    assert own.post(reverse("end_session", args=[session.pk])).status_code == 404
    assert is_in(other)


def test_all_others_are_ended_the_unlisted_too(bob: User) -> None:
    """Such as those that began before sessions were listed."""
    own, listed, unlisted = signed_in(bob), signed_in(bob), signed_in(bob, "Opera")
    UserSession.objects.filter(user_agent="Opera").delete()
    answer = own.post(SESSIONS, follow=True)
    assert "You are signed out everywhere else." in answer.text
    assert [is_in(client) for client in (own, listed, unlisted)] == [True, False, False]
    assert UserSession.objects.count() == 1
    assert AuditEntry.objects.filter(action="sessions.ended").count() == 1


def test_whoever_was_invited_has_a_session_to_see(bob: User) -> None:
    client = Client()
    client.force_login(bob)  # begins without a request of a browser
    assert not UserSession.objects.exists()
    assert "this one" in client.get(SESSIONS).text
