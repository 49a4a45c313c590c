"""Another e-mail address: confirmed by a link to it, once, and nobody learns whose it is."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.core import mail
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django.fixtures import Settings

from scoring.models import AuditEntry, OutgoingMail, User
from scoring.models.team.address_change import LINK_DAYS, address_key
from scoring.models.team.attempt_counter import MAX_MAILS, MAX_PER_ACCOUNT
from tests.conftest import PASSWORD
from tests.pages.account.steps import send_waiting_mail, sign_in

BrowserOf = Callable[[User], Client]
URL = "/accounts/email/"
NEW = "robert@example.org"


@pytest.fixture
def own(browser_of: BrowserOf, bob: User, settings: Settings) -> Client:
    settings.EVALSITE_MAIL_HOST = "mail.example.org"
    return browser_of(bob)


def ask(client: Client, email: str = NEW, password: str = PASSWORD) -> int:
    return client.post(URL, {"email": email, "password": password}).status_code


def sent_link() -> str:
    """The path of the link in the last mail."""
    send_waiting_mail()
    (link,) = re.findall(r"http://testserver(\S+)", str(mail.outbox[-1].body))
    return str(link)


def test_the_link_changes_the_address_once(own: Client, bob: User) -> None:
    assert ask(own, NEW.upper()) == 302
    waiting = OutgoingMail.objects.get()
    assert (waiting.address, "UID-KEY" in waiting.link) == (NEW, True)
    link = sent_link()
    assert mail.outbox[-1].to == [NEW]
    assert NEW in own.get(link).text
    bob.refresh_from_db()
    assert bob.email == "bob@example.org"
    assert own.post(link).headers["Location"] == reverse("profile")
    bob.refresh_from_db()
    assert bob.email == NEW
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.old, entry.new) == (
        "user.address_changed",
        {"email": "bob@example.org"},
        {"email": NEW},
    )
    assert sign_in(NEW, PASSWORD).status_code == 302
    assert own.get(reverse("profile")).status_code == 200
    for answer in (own.get(link), own.post(link)):
        assert answer.status_code == 410


def test_it_works_in_another_browser(own: Client, bob: User) -> None:
    ask(own)
    Client().post(sent_link())
    bob.refresh_from_db()
    assert bob.email == NEW


def test_an_address_that_is_taken_changes_nothing(own: Client, bob: User, alice: User) -> None:
    """The form says the same; whoever reads that mailbox may know."""
    assert ask(own, alice.email) == ask(own)
    answer = own.post(reverse("confirm_address", args=[address_key(bob, alice.email)]))
    assert answer.status_code == 409
    bob.refresh_from_db()
    assert bob.email == "bob@example.org"


@pytest.mark.parametrize(
    ("email", "password"),
    [("no address", PASSWORD), ("BOB@example.org", PASSWORD), (NEW, "wrong"), (NEW, "")],
)
def test_what_is_refused_sends_nothing(own: Client, email: str, password: str) -> None:
    assert ask(own, email, password) == 422
    assert not OutgoingMail.objects.exists()


def test_wrong_passwords_count_as_attempts_to_sign_in(own: Client) -> None:
    assert [ask(own, NEW, "wrong") for _ in range(MAX_PER_ACCOUNT)] == [422] * MAX_PER_ACCOUNT
    assert ask(own) == 429


def test_nobody_is_flooded(own: Client) -> None:
    for _ in range(MAX_MAILS + 2):
        assert ask(own) == 302
    assert OutgoingMail.objects.count() == MAX_MAILS


def test_an_old_link_and_an_invented_one_have_ended(
    client: Client, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = address_key(bob, NEW)
    assert client.get(reverse("confirm_address", args=[key])).status_code == 200
    later = (timezone.now() + timedelta(days=LINK_DAYS, seconds=2)).timestamp()
    monkeypatch.setattr("django.core.signing.time.time", lambda: later)
    for each in (key, "x", "🙂"):
        assert client.post(reverse("confirm_address", args=[each])).status_code == 410
    bob.refresh_from_db()
    assert bob.email == "bob@example.org"


def test_without_mail_it_says_who_can_change_it(browser_of: BrowserOf, bob: User) -> None:
    assert "EVALSITE_MAIL_HOST" in browser_of(bob).get(URL).text
