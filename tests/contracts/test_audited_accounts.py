"""What Django's admin and the account pages change leaves an audit entry, too."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.admin.sites import site
from django.core import mail
from django.test import Client, RequestFactory
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from evalsite.urls import UNUSED
from scoring.models import AuditEntry, Dataset, FailureTag, Suite, Team, Token, User
from tests.conftest import PASSWORD
from tests.contracts.test_audited import BOOKKEEPING, tables
from tests.pages.account.steps import send_waiting_mail
from tests.support.browser_forms import as_sent
from tests.support.undone import undone

NEW = "an entirely new one 7"

#: What an administrator of the site may do to a row: by model and verb, what is typed.
ADMIN: dict[tuple[str, str], dict[str, str]] = {
    ("user", "add"): {"email": "n@example.org", "usable_password": "true"}
    | {"password1": NEW, "password2": NEW},
    ("user", "change"): {"name": "Renamed"},
    ("user", "delete"): {},
    ("team", "add"): {"name": "New", "slug": "new"},
    ("team", "change"): {"name": "Renamed"},
    ("team", "delete"): {},
    ("member", "add"): {"role": "2"},
    ("member", "change"): {"role": "2"},
    ("member", "delete"): {},
    ("token", "change"): {"name": "Renamed"},
    ("token", "delete"): {},
    ("dataset", "change"): {"name": "Renamed"},
    ("dataset", "delete"): {},
    ("scorer", "change"): {"name": "Renamed"},
    ("suite", "change"): {"name": "Renamed"},
    ("suite", "delete"): {},
    ("connection", "delete"): {},
    ("suiteentry", "change"): {"threshold": "0.25", "reason": "Too many near misses."},
    ("failuretag", "add"): {"name": "tone"},
    ("failuretag", "change"): {"name": "Renamed"},
    ("failuretag", "delete"): {},
    ("reviewqueue", "change"): {"name": "Renamed"},
}
VERBS = {"add": "created", "change": "changed", "delete": "deleted"}
OTHER = {
    ("suiteentry", "change"): "threshold.changed",
    ("connection", "delete"): "connection.removed",
    ("member", "change"): "member.role_changed",
    ("member", "delete"): "member.removed",
}


@pytest.fixture
def admin(browser_of: Callable[[User], Client], root: User) -> Client:
    return browser_of(root)


def test_all_that_the_admin_offers_is_listed(root: User) -> None:
    request = RequestFactory().get("/")
    request.user = root
    offered = {
        (str(model._meta.model_name), verb)
        for model, shown in site._registry.items()
        for verb in VERBS
        if getattr(shown, f"has_{verb}_permission")(request)
    }
    assert offered == set(ADMIN)


def test_the_admin_has_no_address_beside_djangos_own() -> None:
    known = {"changelist", "add", "history", "delete", "change"}
    for model, shown in site._registry.items():
        start = f"{model._meta.app_label}_{model._meta.model_name}_"
        names = {entry.name.removeprefix(start) for entry in shown.urls if entry.name}
        assert names <= known | {"auth_user_password_change"}, model
        assert not shown.list_editable
        assert not shown.actions


def row_of(house: dict[str, Any], model: str, alice: User, bob: User) -> Any:
    """A row that may be changed and deleted: no run depends on it."""
    empty = Team.objects.create(name="Empty", slug="empty")
    rows = {
        "dataset": Dataset.objects.create(team=empty, name="Empty"),
        "suite": Suite.objects.define(empty, "unused", []),
        "user": bob,
        "team": empty,
        "member": bob.memberships.get(),
        "token": Token.objects.issue(house["dataset"].team, alice, "a program", 2)[0],
        "suiteentry": house["suite"].entries.get(),
        "failuretag": FailureTag.objects.create(team=empty, name="refusal"),
        "reviewqueue": house["review"],
    }
    if model == "team":
        empty.datasets.all().delete()
        empty.suites.all().delete()
    return rows.get(model) or house[model]


def test_what_the_admin_changes_is_recorded(
    admin: Client, house: dict[str, Any], alice: User, bob: User, subtests: pytest.Subtests
) -> None:
    for (model, verb), typed in ADMIN.items():
        with subtests.test(model=model, verb=verb), undone():
            row = row_of(house, model, alice, bob)
            url = reverse(f"admin:scoring_{model}_{verb}", args=[] if verb == "add" else [row.pk])
            fields = as_sent(admin.get(url).text, f"{model}_form") | typed
            if (model, verb) == ("member", "add"):
                newcomer = User.objects.create_user("dana@example.org")
                fields |= {"team": str(row.team_id), "user": str(newcomer.pk)}
            if (model, verb) == ("failuretag", "add"):
                fields |= {"team": str(row.team_id)}
            answer = admin.post(url, {"post": "yes"} if verb == "delete" else fields)
            assert answer.status_code == 302, answer.text
            actions = set(
                AuditEntry.objects.filter(actor_name="root@example.org").values_list("action")
            )
            assert (OTHER.get((model, verb), f"{model}.{VERBS[verb]}"),) in actions


# Account pages

SESSION = "the person's own session"
MAIL = "sends a mail; what it leads to is recorded"
CLOSED = "answers nobody here"
READ = "is read alone"
ACCOUNTS = {
    "account_login": SESSION,
    "account_logout": SESSION,
    "account_change_password": "password.changed",
    "account_reset_password": MAIL,
    "account_reset_password_from_key": "password.changed",
    "account_signup": CLOSED,
    "account_inactive": CLOSED,
    "account_confirm_email": CLOSED,
    "account_reset_password_done": CLOSED,
    "account_reset_password_from_key_done": CLOSED,
    "account_reauthenticate": SESSION,
    "profile": "user.renamed",
    "account_email": MAIL,
    "confirm_address": "user.address_changed",
    "usersessions_list": "sessions.ended",
    "end_session": "session.ended",
    "sso": SESSION,
    "sso_callback": "user.created",
    "sso_connect": "single_sign_on.connected",
    "mfa_authenticate": SESSION,
    "mfa_reauthenticate": SESSION,
    "mfa_reauthenticate_webauthn": SESSION,
    "mfa_login_webauthn": SESSION,
    "mfa_index": READ,
    "mfa_list_webauthn": READ,
    "mfa_view_recovery_codes": READ,
    "mfa_download_recovery_codes": READ,
    "mfa_activate_totp": "second_factor.added",
    "mfa_add_webauthn": "second_factor.added",
    "mfa_generate_recovery_codes": "second_factor.added",
    "mfa_edit_webauthn": "second_factor.renamed",
    "mfa_remove_webauthn": "second_factor.removed",
    "mfa_deactivate_totp": "second_factor.removed",
}


def account_names() -> set[str]:
    """The names of all addresses below accounts/ but those that are closed for good."""

    def walk(resolver: URLResolver, prefix: str) -> set[str]:
        found: set[str] = set()
        for entry in resolver.url_patterns:
            route = prefix + str(entry.pattern)
            if isinstance(entry, URLResolver):
                found |= walk(entry, route)
            elif route.startswith("accounts/") and route.removeprefix("accounts/") not in UNUSED:
                found.add(str(entry.name))
            assert isinstance(entry, URLPattern | URLResolver)
        return found

    return walk(get_resolver(), "")


def test_every_account_page_is_listed() -> None:
    assert account_names() == set(ACCOUNTS)


def reset_link(client: Client, person: User) -> str:
    client.post(reverse("account_reset_password"), {"email": person.email})
    send_waiting_mail()
    (link,) = re.findall(r"/accounts/password/reset/key/\S+", str(mail.outbox[-1].body))
    return str(client.get(link, follow=True).redirect_chain[-1][0])


def test_a_new_password_is_recorded_on_both_ways_to_it(client: Client, alice: User) -> None:
    client.post(reset_link(client, alice), {"password1": NEW, "password2": NEW})
    alice.refresh_from_db()
    client.force_login(alice)
    typed = {"oldpassword": NEW, "password1": f"{NEW}8", "password2": f"{NEW}8"}
    client.post(reverse("account_change_password"), typed)
    alice.refresh_from_db()
    assert alice.check_password(f"{NEW}8")
    assert AuditEntry.objects.filter(action="password.changed").count() == 2


def test_signing_in_and_asking_for_a_link_leave_no_entry(client: Client, alice: User) -> None:
    before = tables()
    client.post(reverse("account_login"), {"login": alice.email, "password": PASSWORD})
    assert "_auth_user_id" in client.session
    client.post(reverse("account_logout"))
    client.post(reverse("account_reset_password"), {"email": alice.email})
    after = tables()
    touched = {model for model in after if after[model] != before[model]} - BOOKKEEPING
    assert touched == {User}  # when she was last here


def test_a_closed_page_changes_nothing(
    client: Client, alice: User, subtests: pytest.Subtests
) -> None:
    for name in [name for name, why in ACCOUNTS.items() if why == CLOSED]:
        with subtests.test(name=name), undone():
            before = tables()
            args = ["x"] if name == "account_confirm_email" else []
            typed = {"email": "new@example.org", "password1": NEW, "password2": NEW}
            assert client.post(reverse(name, args=args), typed).status_code in {200, 302, 404, 405}
            assert tables() == before


def test_account_pages_are_for_who_is_signed_in(client: Client, db: None) -> None:
    """All but those that lead to being signed in."""
    ways_in = {"account_login", "account_logout", "account_signup", "account_inactive"}
    ways_in |= {name for name in ACCOUNTS if "reset_password" in name}
    ways_in |= {"account_confirm_email", "confirm_address", "mfa_authenticate"}
    ways_in |= {"mfa_login_webauthn", "sso", "sso_callback", "sso_connect"}
    for name in set(ACCOUNTS) - ways_in:
        takes_row = name in {"end_session", "mfa_edit_webauthn", "mfa_remove_webauthn"}
        url = reverse(name, args=[1] if takes_row else [])
        for method in (client.get, client.post):
            answer = method(url, follow=True)
            ends = answer.redirect_chain[-1][0] if answer.redirect_chain else url
            assert ends.startswith("/accounts/login/"), (name, ends)
