"""Tokens end with what they were issued for, and keep when they were last used."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from scoring.models import Member, Role, Team, Token, User
from scoring.models.team.team import has_accounts
from tests.api.conftest import Api
from tests.api.test_authentication import token

__all__ = ["token"]


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


def test_the_token_of_somebody_who_left_is_refused(
    token: tuple[Token, str], alice: User, bob: User
) -> None:
    """Though others are still in the team, and its owner is in another."""
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


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("email", "is_active", "counts"),
    [
        ("mara@demo.invalid", False, False),
        ("mara@demo.invalid", True, True),
        ("mara@not-demo.invalid", False, True),
        ("gone@example.org", False, True),
    ],
)
def test_only_inactive_people_of_the_demo_are_no_accounts(
    email: str, *, is_active: bool, counts: bool
) -> None:
    User.objects.create_user(email, is_active=is_active)
    assert has_accounts() == counts
