"""`manage.py token`: a secret shown once, for a member, recorded as the operator's doing."""

from __future__ import annotations

import io
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from scoring.models import AuditEntry, Role, Team, Token, User
from tests.api.conftest import Api


def test_a_token_made_by_command_is_the_operators_doing(team: Team, alice: User) -> None:
    call_command(
        "token",
        team="support",
        email=alice.email,
        name="ci",
        stdout=io.StringIO(),
        stderr=io.StringIO(),
    )
    assert AuditEntry.objects.get(action="token.created").actor_name == "the operator"


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
