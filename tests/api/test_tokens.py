"""Who may speak to the API: tokens, sessions, teams and roles."""

from __future__ import annotations

import io
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from scoring.models import AuditEntry, Member, Role, Scorer, Team, Token, User
from tests.api.conftest import API, Api, ApiOf

CLOSE = {"name": "close", "type": "levenshtein"}
BrowserOf = Callable[[User], Client]


@pytest.fixture
def token(team: Team, alice: User) -> tuple[Token, str]:
    return Token.objects.issue(team, alice, "a program", Role.EDITOR)


def test_nobody_is_let_in_without_a_token(db: None) -> None:
    response = Api().get("scorers/")
    assert response.status_code == 401
    assert response["WWW-Authenticate"] == "Token"
    assert response.json()["code"] == "not_authenticated"


@pytest.mark.parametrize(
    "header", ["Token", "Token ", "Token evs_x", "token evs_\u00e9", "Token a b c"]
)
def test_a_wrong_token_is_refused(db: None, header: str) -> None:
    response = Api(Authorization=header).get("scorers/")
    assert (response.status_code, response.json()["code"]) == (401, "bad_token")


@pytest.mark.parametrize("header", ["Bearer evs_x", "Basic YTpi", "evs_x"])
def test_another_scheme_counts_as_none(db: None, header: str) -> None:
    response = Api(Authorization=header).get("scorers/")
    assert (response.status_code, response.json()["code"]) == (401, "not_authenticated")


def test_a_token_is_refused_once_it_ended(token: tuple[Token, str], alice: User) -> None:
    row, secret = token
    past = timezone.now() - timedelta(seconds=1)
    program = Api(secret)
    assert program.get("scorers/").status_code == 200
    for fields in ({"expires_at": past}, {"revoked_at": past}):
        Token.objects.filter(pk=row.pk).update(**fields)
        assert program.get("scorers/").status_code == 401
        Token.objects.filter(pk=row.pk).update(expires_at=None, revoked_at=None)
    User.objects.filter(pk=alice.pk).update(is_active=False)
    assert program.get("scorers/").status_code == 401


def test_the_token_of_somebody_who_left_is_refused(token: tuple[Token, str], alice: User) -> None:
    Member.objects.filter(user=alice).delete()
    elsewhere = Team.objects.create(name="Elsewhere", slug="elsewhere")
    Member.objects.create(team=elsewhere, user=alice, role=Role.ADMIN)
    assert Api(token[1]).get("scorers/").status_code == 401


def test_the_last_use_is_written_at_most_once_a_minute(token: tuple[Token, str]) -> None:
    row, secret = token
    program = Api(secret)
    program.get("scorers/")
    row.refresh_from_db()
    first = row.last_used_at
    assert first is not None
    program.get("scorers/")
    row.refresh_from_db()
    assert row.last_used_at == first
    Token.objects.update(last_used_at=first - timedelta(minutes=2))
    program.get("scorers/")
    row.refresh_from_db()
    assert row.last_used_at is not None
    assert row.last_used_at >= first


def test_a_token_reaches_only_its_team(token: tuple[Token, str], alice: User) -> None:
    other = Team.objects.create(name="Other", slug="other")
    Member.objects.create(team=other, user=alice, role=Role.ADMIN)
    theirs = Scorer.objects.define(other, "theirs", "exact_match", {})
    program = Api(token[1])
    assert program.get("scorers/").json()["results"] == []
    assert program.get("scorers/", team="other").status_code == 404
    assert program.get(f"scorers/{theirs.uuid}/").status_code == 404


@pytest.mark.parametrize(
    ("member", "token_role", "status"),
    [
        (Role.ADMIN, Role.EDITOR, 201),
        (Role.ADMIN, Role.REVIEWER, 403),
        (Role.EDITOR, Role.ADMIN, 201),
        (Role.REVIEWER, Role.ADMIN, 403),
        (Role.VIEWER, Role.ADMIN, 403),
    ],
)
def test_the_smaller_role_of_member_and_token_counts(
    api_of: ApiOf, alice: User, member: Role, token_role: Role, status: int
) -> None:
    Member.objects.filter(user=alice).update(role=member)
    program = api_of(alice, token_role)
    assert program.get("scorers/").status_code == 200
    response = program.post("scorers/", CLOSE)
    assert response.status_code == status
    if status == 403:
        assert response.json()["code"] == "permission_denied"
        held = min(member, token_role).label
        assert response.json()["message"] == f"This needs the role editor; yours is {held}."


def test_anothers_object_answers_exactly_like_a_missing_one(
    alices: Api, charlies: Api, close_enough: Scorer
) -> None:
    theirs = charlies.get(f"scorers/{close_enough.uuid}/")
    missing = charlies.get("scorers/01890000-0000-7000-8000-000000000000/")
    assert theirs.status_code == missing.status_code == 404
    assert theirs.content == missing.content
    assert theirs.headers == missing.headers
    assert alices.get(f"scorers/{close_enough.uuid}/").status_code == 200


def test_a_session_reads_without_a_token(browser_of: BrowserOf, bob: User) -> None:
    assert browser_of(bob).get(f"{API}scorers/").status_code == 200


def test_a_session_writes_only_with_the_csrf_token(alice: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(alice)
    refused = client.post(f"{API}scorers/", CLOSE, content_type="application/json")
    assert (refused.status_code, refused.json()["code"]) == (403, "permission_denied")
    client.cookies["csrftoken"] = "a" * 32
    allowed = client.post(
        f"{API}scorers/",
        CLOSE,
        content_type="application/json",
        headers={"X-CSRFToken": "a" * 32},
    )
    assert allowed.status_code == 201


def test_a_session_in_several_teams_has_to_choose(browser_of: BrowserOf, alice: User) -> None:
    other = Team.objects.create(name="Other", slug="other")
    Member.objects.create(team=other, user=alice, role=Role.VIEWER)
    browser = browser_of(alice)
    unnamed = browser.get(f"{API}scorers/")
    assert (unnamed.status_code, unnamed.json()["code"]) == (400, "team_required")
    post: dict[str, Any] = {"content_type": "application/json", "data": CLOSE}
    assert browser.post(f"{API}scorers/?team=support", **post).status_code == 201
    assert browser.post(f"{API}scorers/?team=other", **post).status_code == 403
    assert browser.post(f"{API}scorers/?team=nowhere", **post).status_code == 404


def test_a_session_in_no_team_is_told_so(browser_of: BrowserOf, db: None) -> None:
    nobody = User.objects.create_user("dora@example.org")
    response = browser_of(nobody).get(f"{API}scorers/")
    assert (response.status_code, response.json()["code"]) == (400, "team_required")


def issue(**options: str) -> str:
    out = io.StringIO()
    asked = {"team": "support", "email": "alice@example.org", "name": "ci"} | options
    words = [f"--{name}={value}" for name, value in asked.items()]
    call_command("token", *words, stdout=out, stderr=io.StringIO())
    return out.getvalue().strip()


def test_the_command_prints_a_secret_that_works(alice: User) -> None:
    secret = issue()
    assert secret.startswith("evs_")
    assert Api(secret).get("scorers/").status_code == 200
    token = Token.objects.get()
    assert (token.name, token.role, token.expires_at) == ("ci", Role.EDITOR, None)
    assert secret not in str(Token.objects.values().get())
    assert AuditEntry.objects.get(action="token.created").target_name == str(token)


def test_the_command_takes_a_role_and_an_expiry(alice: User) -> None:
    issue(role="viewer", days="30", email="Alice@Example.org")
    token = Token.objects.get()
    assert token.role == Role.VIEWER
    assert token.expires_at is not None
    assert timedelta(days=29) < token.expires_at - timezone.now() <= timedelta(days=30)


@pytest.mark.parametrize(
    "options",
    [{"team": "nowhere"}, {"email": "x@example.org"}, {"email": "charlie@example.org"}],
)
def test_the_command_refuses_who_is_not_in_the_team(
    alice: User, charlie: User, options: dict[str, str]
) -> None:
    with pytest.raises(CommandError, match="no member") as fault:
        issue(**options)
    assert fault.value.returncode == 2
    assert not Token.objects.exists()


@pytest.mark.parametrize("days", ["0", "-3", "100000000000"])
def test_the_command_refuses_an_expiry_that_makes_no_sense(alice: User, days: str) -> None:
    with pytest.raises(CommandError, match="days"):
        issue(days=days)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"name": "x" * 101}, "--name: the name has 101 characters; 100 are possible"),
        ({"name": "\udcff"}, "--name: .* is not UTF-8"),
        ({"email": "\udcff"}, "--email: .* is not UTF-8"),
    ],
)
def test_the_command_refuses_a_name_that_cannot_be_kept(
    alice: User, options: dict[str, str], said: str
) -> None:
    with pytest.raises(CommandError, match=said):
        issue(**options)
    assert not Token.objects.exists()
