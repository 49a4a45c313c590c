"""Codes after the password: set up, asked for, limited, used once and audited."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from allauth.mfa.models import Authenticator
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from evalsite.pages.account.second_factors import MAX_GUESSES, SecondFactorAdapter
from scoring.models import AuditEntry, User
from scoring.models.team.attempt_counter import MAX_PER_ACCOUNT
from tests.conftest import PASSWORD
from tests.pages.account.factors import code_of, confirm, recovery_codes, set_up_app

BrowserOf = Callable[[User], Client]
SECOND_STEP = "/accounts/2fa/authenticate/"


@pytest.fixture
def own(browser_of: BrowserOf, bob: User) -> Client:
    return browser_of(bob)


def with_password(user: User) -> Client:
    """A browser in which the password was typed."""
    client = Client()
    client.post("/accounts/login/", {"login": user.email, "password": PASSWORD})
    return client


def is_in(client: Client) -> bool:
    return client.get(reverse("profile")).status_code == 200


def test_an_app_is_set_up_and_asked_for(own: Client, bob: User) -> None:
    secret = set_up_app(own)
    visitor = with_password(bob)
    assert not is_in(visitor)
    assert "Second step" in visitor.get(SECOND_STEP).text
    assert visitor.post(SECOND_STEP, {"code": "000000"}).status_code == 200
    assert not is_in(visitor)
    visitor.post(SECOND_STEP, {"code": code_of(secret, 1)})
    assert is_in(visitor)


def test_changes_ask_for_the_password_again(own: Client) -> None:
    for name in ("mfa_activate_totp", "mfa_add_webauthn", "mfa_generate_recovery_codes"):
        answer = own.get(reverse(name))
        assert answer.headers["Location"].startswith(reverse("account_reauthenticate")), name
    assert not Authenticator.objects.exists()


def test_wrong_passwords_there_count_as_attempts_to_sign_in(own: Client) -> None:
    url = reverse("account_reauthenticate")
    for _ in range(MAX_PER_ACCOUNT):
        assert own.post(url, {"password": "wrong"}).status_code == 200
    assert own.post(url, {"password": PASSWORD}).status_code == 429


def test_a_code_is_guessed_a_few_times_from_wherever(own: Client, bob: User) -> None:
    secret = set_up_app(own)
    for number in range(MAX_GUESSES):
        visitor = with_password(bob)
        guess = {"code": "000000"}
        answer = visitor.post(SECOND_STEP, guess, REMOTE_ADDR=f"192.0.2.{number}")
        assert answer.status_code == 200
    answer = with_password(bob).post(SECOND_STEP, {"code": code_of(secret, 1)})
    assert answer.status_code == 429
    assert int(answer.headers["Retry-After"]) > 0


def test_a_code_is_good_once_in_whichever_process(
    own: Client, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """allauth remembers used codes in the memory of one process alone."""
    monkeypatch.setattr("allauth.mfa.totp.internal.auth.TOTP._mark_code_used", lambda *_: True)
    code = code_of(set_up_app(own), 1)
    browsers = [with_password(bob) for _ in range(3)]
    for browser, typed in zip(browsers, (code, code, f"{code[:3]}-{code[3:]}"), strict=True):
        browser.post(SECOND_STEP, {"code": typed})
    assert [is_in(browser) for browser in browsers] == [True, False, False]


def test_a_recovery_code_signs_in_once(own: Client, bob: User) -> None:
    set_up_app(own)
    codes = recovery_codes()
    assert len(codes) == 10
    page = own.get(reverse("mfa_view_recovery_codes")).text
    assert all(code in page for code in codes)
    for code, works in ((codes[0], True), (codes[0], False), (codes[1], True)):
        visitor = with_password(bob)
        visitor.post(SECOND_STEP, {"code": code})
        assert is_in(visitor) == works
    assert codes[0] not in own.get(reverse("mfa_download_recovery_codes")).text


def test_new_codes_replace_the_old_ones(own: Client) -> None:
    set_up_app(own)
    old = recovery_codes()
    assert (
        "The 10 you have left stop working." in own.get(reverse("mfa_generate_recovery_codes")).text
    )
    own.post(reverse("mfa_generate_recovery_codes"))
    assert not set(old) & set(recovery_codes())


def test_without_the_app_the_password_is_enough_again(own: Client, bob: User) -> None:
    set_up_app(own)
    own.post(reverse("mfa_deactivate_totp"))
    assert not Authenticator.objects.exists()
    assert is_in(with_password(bob))


def test_every_change_is_audited_and_no_secret(own: Client, bob: User) -> None:
    secret = set_up_app(own)
    codes = recovery_codes()
    own.post(reverse("mfa_deactivate_totp"))
    entries = AuditEntry.objects.order_by("pk").values_list("action", "actor_name", "old", "new")
    app, kept = {"kind": "authenticator app"}, {"kind": "recovery codes"}
    assert list(entries) == [
        ("second_factor.added", bob.email, {}, app),
        ("second_factor.added", bob.email, {}, kept),
        ("second_factor.removed", bob.email, app, {}),
        ("second_factor.removed", bob.email, kept, {}),
    ]
    told = str(list(AuditEntry.objects.values()))
    assert not any(each in told for each in (secret, *codes))


def test_a_change_that_cannot_be_audited_is_not_made(
    own: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    confirm(own)
    url = reverse("mfa_activate_totp")
    secret = own.get(url).context["form"].secret
    monkeypatch.setattr("scoring.models.team.audit_entry.entry_hash", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        own.post(url, {"code": code_of(secret)})
    assert not Authenticator.objects.exists()


def test_secrets_are_encrypted_and_open_with_the_sites_key_alone(
    own: Client, bob: User, settings: Settings
) -> None:
    secret = set_up_app(own)
    assert secret not in str(list(Authenticator.objects.values("data")))
    settings.EVALSITE_ENCRYPTION_KEY = "another key of the site, of fifty characters or more"
    for code in (code_of(secret, 1), code_of("", 1)):
        visitor = with_password(bob)
        assert visitor.post(SECOND_STEP, {"code": code}).status_code == 200
        assert not is_in(visitor)


def test_a_superuser_removes_what_a_person_has_lost(
    own: Client, bob: User, browser_of: BrowserOf, root: User
) -> None:
    set_up_app(own)
    url = reverse("admin:scoring_user_change", args=[bob.pk])
    factors = list(Authenticator.objects.order_by("pk"))
    form = {"email": bob.email, "is_active": "on"}
    form |= {"authenticator_set-TOTAL_FORMS": "2", "authenticator_set-INITIAL_FORMS": "2"}
    for place, factor in enumerate(factors):
        form |= {f"authenticator_set-{place}-id": str(factor.pk)}
        form |= {f"authenticator_set-{place}-user": str(bob.pk)}
        form |= {f"authenticator_set-{place}-DELETE": "on"}
    assert browser_of(root).post(url, form).status_code == 302
    assert is_in(with_password(bob))
    removed = AuditEntry.objects.filter(action="second_factor.removed")
    assert {(entry.actor_name, entry.target_name) for entry in removed} == {(root.email, bob.email)}


def test_nobody_reaches_another_persons_passkey(own: Client, alice: User) -> None:
    theirs = Authenticator.objects.create(
        user=alice, type=Authenticator.Type.WEBAUTHN, data={"name": "hers"}
    )
    confirm(own)
    for name in ("mfa_edit_webauthn", "mfa_remove_webauthn"):
        assert own.get(reverse(name, args=[theirs.pk])).status_code == 404


def test_a_passkey_is_renamed_and_removed(own: Client, bob: User) -> None:
    passkey = Authenticator.objects.create(
        user=bob, type=Authenticator.Type.WEBAUTHN, data={"name": "old", "credential": {}}
    )
    confirm(own)
    rename = reverse("mfa_edit_webauthn", args=[passkey.pk])
    assert own.post(rename, {"name": "two\nlines"}).status_code == 200
    own.post(rename, {"name": "Laptop"})
    passkey.refresh_from_db()
    assert passkey.wrap().name == "Laptop"
    own.post(reverse("mfa_remove_webauthn", args=[passkey.pk]))
    assert not Authenticator.objects.exists()
    actions = AuditEntry.objects.order_by("pk").values_list("action", flat=True)
    assert list(actions) == [f"second_factor.{verb}" for verb in ("added", "renamed", "removed")]


def test_a_passkey_is_asked_for_by_the_hosts_name(own: Client) -> None:
    confirm(own)
    page = own.get(reverse("mfa_add_webauthn"), headers={"Host": "localhost:8000"})
    options = page.context["js_data"]["creation_options"]["publicKey"]
    assert options["rp"]["id"] == "localhost"
    assert options["rp"]["name"] == SecondFactorAdapter().get_totp_issuer() == "Evalsite"


@pytest.mark.parametrize("sent", ["", "{}", "[]", '{"id": "x"}', '{"response": {"userHandle": 1}}'])
def test_an_invented_passkey_lets_nobody_in(db: None, sent: str) -> None:
    client = Client(raise_request_exception=False)
    url = reverse("mfa_login_webauthn")
    assert client.get(url, headers={"Accept": "application/json"}).status_code == 200
    assert client.post(url, {"credential": sent}).status_code == 302
    assert not is_in(client)
