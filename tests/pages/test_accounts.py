"""Signing in and passwords: the site's words, and what is kept of a change."""

from __future__ import annotations

import re

import pytest
from django.core import mail
from django.test import Client

from scoring.models import AuditEntry, User

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
    (link,) = re.findall(r"/accounts/password/reset/key/\S+", str(mail.outbox[0].body))
    page = client.get(link, follow=True)
    assert "New password again" in page.text
    client.post(page.redirect_chain[-1][0], {"password1": NEW, "password2": NEW})
    person.refresh_from_db()
    assert person.check_password(NEW)
    assert AuditEntry.objects.get(action="password.changed").actor == person


@pytest.mark.parametrize(
    ("url", "is_signed_in", "labels"),
    [
        ("login/", False, ["E-mail", "Password", "Stay signed in"]),
        ("password/reset/", False, ["E-mail"]),
        ("password/change/", True, ["Current password", "New password", "New password again"]),
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
    assert 'href="/accounts/password/change/"' in browser.get("/", follow=True).text


@pytest.mark.parametrize("method", ["get", "post"])
def test_an_account_has_one_address(browser: Client, method: str) -> None:
    assert getattr(browser, method)("/accounts/email/").status_code == 404
