"""One sign-in for the whole site: limits that lock out the guesser, and nothing told to others."""

from __future__ import annotations

import re
from typing import Any
from unittest.mock import patch

import pytest
from django.conf import settings as site_settings
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django.fixtures import Settings

from scoring.models import AttemptCounter, AuditEntry, OutgoingMail, User
from scoring.models.team.attempt_counter import MAX_MAILS, MAX_PER_ACCOUNT, mail_limit
from tests.conftest import PASSWORD
from tests.pages.account.steps import SIGN_IN, lock, send_waiting_mail, sign_in

RESET, ADMIN = "/accounts/password/reset/", "/admin/login/"


def sent() -> list[Any]:
    """The mails so far, once the worker has nothing more to send."""
    send_waiting_mail()
    return mail.outbox


def test_the_current_password_is_not_guessed_on_the_page_that_changes_it(
    client: Client, alice: User
) -> None:
    client.force_login(alice)
    given = {"oldpassword": "wrong", "password1": "a new one 77", "password2": "a new one 77"}
    answers = [client.post("/accounts/password/change/", given) for _ in range(6)]
    assert [answer.status_code for answer in answers] == [200] * 5 + [429]


def test_the_admins_sign_in_is_the_sites(client: Client, alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(is_staff=True, is_superuser=True)
    refused = client.get("/admin/scoring/run/", follow=True)
    assert refused.redirect_chain[-1][0] == "/accounts/login/?next=%2Fadmin%2Fscoring%2Frun%2F"
    given = {"login": alice.email, "password": PASSWORD, "next": "/admin/scoring/run/"}
    assert client.post(SIGN_IN, given)["Location"] == "/admin/scoring/run/"
    assert client.get(ADMIN)["Location"] == "/admin/"


def test_the_admins_sign_in_takes_no_password(alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(is_staff=True, is_superuser=True)
    answer = Client().post(ADMIN, {"username": alice.email, "password": PASSWORD})
    assert (answer.status_code, answer["Location"]) == (302, "/accounts/login/?next=%2Fadmin%2F")
    assert not AttemptCounter.objects.exists()


def test_who_is_not_staff_is_told_so_once(client: Client, alice: User) -> None:
    client.force_login(alice)
    answer = client.get("/admin/", follow=True)
    assert (answer.status_code, len(answer.redirect_chain)) == (403, 1)


def test_the_admins_own_page_for_passwords_is_the_sites(client: Client, alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(is_staff=True)
    client.force_login(alice)
    assert client.get("/admin/password_change/")["Location"] == "/accounts/password/change/"
    assert client.post("/admin/password_change/")["Location"] == "/accounts/password/change/"


@pytest.mark.parametrize(
    "target",
    [
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example/",
        "https:evil.example",
        "javascript:alert(1)",
        "http://other.testserver/",
        "http://evil.example.org/",
    ],
)
@pytest.mark.parametrize("url", [SIGN_IN, ADMIN, "/accounts/logout/"])
def test_next_leads_nowhere_else(
    client: Client, settings: Settings, alice: User, url: str, target: str
) -> None:
    settings.ALLOWED_HOSTS = ["testserver", ".testserver", "evil.example.org"]
    User.objects.filter(pk=alice.pk).update(is_staff=True, is_superuser=True)
    client.force_login(alice)
    answers = [client.get(url, {"next": target}), client.post(url, {"next": target})]
    client.logout()
    given = {"login": alice.email, "password": PASSWORD, "next": target}
    answers += [client.get(url, {"next": target}), client.post(url, given)]
    assert not [
        a for a in answers if "evil" in a.get("Location", "") or "other" in a.get("Location", "")
    ]


def test_signing_in_changes_the_session(client: Client, alice: User) -> None:
    client.get(SIGN_IN)
    client.cookies[site_settings.SESSION_COOKIE_NAME] = "chosenbysomebodyelse"
    client.post(SIGN_IN, {"login": alice.email, "password": PASSWORD})
    assert client.session.session_key != "chosenbysomebodyelse"
    assert client.get("/", follow=True).context["user"] == alice


@pytest.mark.parametrize("url", ["/accounts/logout/", "/admin/logout/"])
def test_a_link_signs_nobody_out(client: Client, alice: User, url: str) -> None:
    User.objects.filter(pk=alice.pk).update(is_staff=True)
    client.force_login(alice)
    client.get(url)
    assert "_auth_user_id" in client.session
    client.post(url)
    assert "_auth_user_id" not in client.session


@pytest.mark.parametrize("method", ["get", "post"])
def test_nobody_signs_up(client: Client, db: None, method: str) -> None:
    given = {"email": "eve@example.org", "password1": PASSWORD, "password2": PASSWORD}
    assert "by invitation" in getattr(client, method)("/accounts/signup/", given).text
    assert not User.objects.exists()


@pytest.mark.parametrize("url", ["confirm-email/", "login/code/confirm/", "password/set/"])
@pytest.mark.parametrize("method", ["get", "post"])
def test_pages_without_a_use_are_not_there(
    client: Client, alice: User, url: str, method: str
) -> None:
    client.force_login(alice)
    assert getattr(client, method)(f"/accounts/{url}").status_code == 404


def ask_reset(email: str, ip: str = "192.0.2.1") -> Any:
    return Client().post(RESET, {"email": email}, REMOTE_ADDR=ip, follow=True)


def test_a_reset_mails_nobody_without_an_account(alice: User) -> None:
    known, unknown = ask_reset(alice.email), ask_reset("nobody@example.org")
    assert [message.to for message in sent()] == [[alice.email]]
    assert known.redirect_chain == unknown.redirect_chain
    assert without_token(known.text) == without_token(unknown.text)


def without_token(text: str) -> str:
    return re.sub(r"\b[A-Za-z0-9]{64}\b", "TOKEN", text)


def test_a_reset_does_the_same_for_both(alice: User) -> None:
    """So that its duration tells nothing, either."""
    ask_reset("first@example.org")  # there is a counter of the network from now on
    asked = []
    for email in (alice.email, "nobody@example.org"):
        with CaptureQueriesContext(connection) as queries:
            ask_reset(email)
        # Counters are locked in the order of their names, which differ with the address.
        asked.append(sorted(query["sql"].partition(" ")[0] for query in queries))
        assert AttemptCounter.objects.filter(key=mail_limit(email).key).get().count == 1
    assert asked[0] == asked[1]
    rows = OutgoingMail.objects.order_by("pk")
    assert [row.address for row in rows][1:] == [alice.email, "nobody@example.org"]
    assert mail.outbox == []
    assert len(sent()) == 1
    assert not OutgoingMail.objects.exists()


def test_no_key_waits_in_the_database(alice: User) -> None:
    ask_reset(alice.email)
    assert OutgoingMail.objects.get().link.endswith("/accounts/password/reset/key/UID-KEY/")
    assert "UID-KEY" not in str(sent()[0].body)


def test_the_link_leads_to_the_sites_own_address(alice: User, settings: Settings) -> None:
    """Not to the host that the request names, where the site has been told its own."""
    settings.EVALSITE_URL = "https://evals.example.org/"
    ask_reset(alice.email)
    (message,) = sent()
    assert "https://evals.example.org/accounts/password/reset/key/" in str(message.body)
    assert (message.subject, message.to) == ("A new password for Evalsite", [alice.email])


def test_mail_that_fails_is_not_lost(alice: User, caplog: pytest.LogCaptureFixture) -> None:
    with patch.object(EmailBackend, "send_messages", side_effect=ConnectionRefusedError("no")):
        assert ask_reset(alice.email).status_code == 200
        assert sent() == []
    assert "the mail server could not be used (ConnectionRefusedError)" in caplog.text
    assert "/key/" not in caplog.text
    OutgoingMail.objects.update(next_try_at=timezone.now())
    assert len(sent()) == 1


def test_outgoing_have_the_same_limits(alice: User) -> None:
    for email in (alice.email, "nobody@example.org"):
        answers = [ask_reset(email) for _ in range(MAX_PER_ACCOUNT + 1)]
        assert [answer.status_code for answer in answers] == [200] * MAX_PER_ACCOUNT + [429]
    assert ask_reset(alice.email, ip="192.0.2.2").status_code == 200


def test_nobody_is_flooded_with_mail_from_many_addresses(alice: User) -> None:
    answers = [ask_reset(alice.email, ip=f"192.0.2.{number}") for number in range(20)]
    assert {answer.status_code for answer in answers} == {200}
    assert len(sent()) == MAX_MAILS


def test_a_new_password_ends_the_lock(alice: User) -> None:
    lock(alice.email, "127.0.0.1")
    ask_reset(alice.email)
    (link,) = re.findall(r"/accounts/password/reset/key/\S+", str(sent()[0].body))
    client = Client()
    form = client.get(link, follow=True).redirect_chain[-1][0]
    client.post(form, {"password1": "a new long one 2", "password2": "a new long one 2"})
    assert AuditEntry.objects.filter(action="password.changed").count() == 1
    assert sign_in(alice.email, "a new long one 2", ip="127.0.0.1").status_code == 302


def test_a_reset_for_somebody_who_left_sends_nothing(alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(is_active=False)
    ask_reset(alice.email)
    assert sent() == []


def test_a_wrong_account_and_a_wrong_password_read_alike(alice: User) -> None:
    known, unknown = sign_in(alice.email).text, sign_in("nobody@example.org").text
    assert without_token(known).replace(alice.email, "X") == without_token(unknown).replace(
        "nobody@example.org", "X"
    )


def test_the_admins_sign_in_leads_to_no_view_by_its_name(client: Client, alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(is_staff=True, is_superuser=True)
    client.force_login(alice)
    assert client.get(ADMIN, {"next": "foo"})["Location"] == "foo"
