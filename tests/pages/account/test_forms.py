"""Signing in and passwords: the site's words, and what is kept of a change."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.core import mail
from django.test import Client
from django.utils import timezone

from evalsite.pages.account.forms import NewPasswordForm
from scoring.models import AuditEntry, Team, Token, User
from tests.pages.account.steps import send_waiting_mail
from tests.support.concurrency import TIMES, call_at_once, wait_for_all

OLD, NEW = "an old long one 1", "a new long one 2"


@pytest.fixture
def person(alice: User) -> User:
    alice.set_password(OLD)
    alice.save()
    return alice


@pytest.fixture
def browser(client: Client, person: User) -> Client:
    client.force_login(person)
    return client


def test_a_password_is_changed_audited_and_said(browser: Client, person: User) -> None:
    given = {"oldpassword": OLD, "password1": NEW, "password2": NEW}
    answer = browser.post("/accounts/password/change/", given, follow=True)
    assert "Your password is changed." in answer.text
    assert answer.context["user"] == person  # still signed in
    person.refresh_from_db()
    assert person.check_password(NEW)
    entry = AuditEntry.objects.get(action="password.changed")
    assert (entry.actor, entry.team) == (person, None)
    assert OLD not in str(vars(entry))
    assert NEW not in str(vars(entry))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"oldpassword": "wrong"}, "current password"),
        ({"password2": "something else 3"}, "same password"),
        ({"password1": "12345678", "password2": "12345678"}, "numeric"),
    ],
)
def test_a_refused_change_leaves_the_password_as_it_was(
    browser: Client, person: User, given: dict[str, str], said: str
) -> None:
    filled = {"oldpassword": OLD, "password1": NEW, "password2": NEW} | given
    answer = browser.post("/accounts/password/change/", filled)
    assert "Your password is as it was" in answer.text
    assert said in answer.text
    person.refresh_from_db()
    assert person.check_password(OLD)
    assert not AuditEntry.objects.filter(action="password.changed").exists()


def test_a_lost_password_is_set_by_the_link_and_audited(client: Client, person: User) -> None:
    client.post("/accounts/password/reset/", {"email": person.email})
    send_waiting_mail()
    (link,) = re.findall(r"/accounts/password/reset/key/\S+", str(mail.outbox[0].body))
    page = client.get(link, follow=True)
    assert "Confirm password" in page.text
    client.post(page.redirect_chain[-1][0], {"password1": NEW, "password2": NEW})
    person.refresh_from_db()
    assert person.check_password(NEW)
    assert AuditEntry.objects.get(action="password.changed").actor == person


@pytest.mark.parametrize(
    ("url", "is_signed_in", "labels"),
    [
        ("login/", False, ["E-mail", "Password", "Stay signed in"]),
        ("password/reset/", False, ["E-mail"]),
        ("password/change/", True, ["Current password", "New password", "Confirm password"]),
    ],
)
def test_the_fields_carry_the_sites_labels_alone(
    client: Client, person: User, url: str, is_signed_in: bool, labels: list[str]
) -> None:
    if is_signed_in:
        client.force_login(person)
    page = client.get(f"/accounts/{url}").text
    found = re.findall(r'<label class="field-label"[^>]*>\s*(.*?)\s*</label>', page, re.DOTALL)
    assert found == labels
    assert "placeholder=" not in page.partition("<main")[2].partition("</main")[0]


def test_the_menu_leads_to_the_change_of_the_password(browser: Client) -> None:
    assert 'href="/accounts/profile/"' in browser.get("/", follow=True).text
    assert 'href="/accounts/password/change/"' in browser.get("/accounts/profile/").text


@pytest.mark.django_db(transaction=True)
def test_a_reset_link_posted_eight_times_at_once_sets_one_password(
    client: Client, person: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All eight have found the link to be good before the first of them sets a password."""
    client.post("/accounts/password/reset/", {"email": person.email})
    send_waiting_mail()
    (link,) = re.findall(r"/accounts/password/reset/key/\S+", str(mail.outbox[0].body))
    clients = [Client() for _ in range(TIMES)]
    pages = [each.get(link, follow=True).redirect_chain[-1][0] for each in clients]
    numbered = iter(enumerate(zip(clients, pages, strict=True)))
    monkeypatch.setattr(NewPasswordForm, "is_valid", wait_for_all(NewPasswordForm.is_valid))

    def set_password() -> tuple[str, str]:
        number, (own, page) = next(numbered)
        new = f"{NEW} {number}"
        return new, own.post(page, {"password1": new, "password2": new})["Location"]

    answers = call_at_once(set_password)
    assert AuditEntry.objects.filter(action="password.changed").count() == 1
    person.refresh_from_db()
    (kept,) = [new for new, _ in answers if person.check_password(new)]
    assert [new for new, address in answers if address.endswith("key/done/")] == [kept]
    late = next(address for _, address in answers if not address.endswith("key/done/"))
    assert "This link no longer works" in clients[0].get(late).text


class TestTokens:
    @pytest.fixture
    def tokens(self, person: User, team: Team) -> list[Token]:
        """Two in force, one that has expired, and somebody else's."""
        made = [Token.objects.issue(team, person, name)[0] for name in ("ci", "laptop", "old")]
        Token.objects.filter(name="old").update(expires_at=timezone.now() - timedelta(days=1))
        other = User.objects.create_user("other@example.org", OLD)
        return [*made, Token.objects.issue(team, other, "theirs")[0]]

    def change(self, browser: Client, **more: str) -> None:
        typed = {"oldpassword": OLD, "password1": NEW, "password2": NEW}
        assert browser.post("/accounts/password/change/", typed | more).status_code == 302

    def revoked(self) -> list[str]:
        rows = Token.objects.exclude(revoked_at=None).order_by("pk")
        return list(rows.values_list("name", flat=True))

    def test_they_are_offered_to_end_with_the_password(
        self, browser: Client, tokens: list[Token]
    ) -> None:
        page = browser.get("/accounts/password/change/").text
        assert "Revoke my API tokens" in page
        assert "You have 2 active" in page
        self.change(browser, end_tokens="on")
        assert self.revoked() == ["ci", "laptop"]
        entries = AuditEntry.objects.filter(action="token.revoked").order_by("pk")
        assert [entry.target_name[:2] for entry in entries] == ["ci", "la"]

    def test_they_stay_unless_one_says_so(self, browser: Client, tokens: list[Token]) -> None:
        self.change(browser)
        assert self.revoked() == []

    def test_who_has_none_is_not_asked(self, browser: Client) -> None:
        assert "Revoke my API tokens" not in browser.get("/accounts/password/change/").text

    def test_a_lost_password_ends_them_too(
        self, client: Client, person: User, tokens: list[Token]
    ) -> None:
        client.post("/accounts/password/reset/", {"email": person.email})
        send_waiting_mail()
        (link,) = re.findall(r"/accounts/password/reset/key/\S+", str(mail.outbox[-1].body))
        form = client.get(link, follow=True).redirect_chain[-1][0]
        assert "Revoke my API tokens" in client.get(form).text
        client.post(form, {"password1": NEW, "password2": NEW, "end_tokens": "on"})
        assert self.revoked() == ["ci", "laptop"]
