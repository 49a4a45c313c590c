"""API tokens of a team, of people and of service accounts."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Final

from django.db import transaction
from django.utils import timezone

from scoring.engine.team.members import add_member
from scoring.models import AuditEntry, Member, Role, Team, Token, User
from scoring.models.base import new_uuid

SERVICE_DOMAIN: Final = "service.invalid"  # of the e-mail addresses of service accounts


def create_token(
    member: Member,
    name: str,
    role: Role,
    scopes: Iterable[str],
    days: int | None,
    by: User | None,
) -> tuple[Token, str]:
    """A token that acts for this member for so many days, and its secret, which is stored nowhere.

    `days` is None for a token that does not expire.
    """
    expires_at = None if days is None else timezone.now() + timedelta(days=days)
    with transaction.atomic():
        token, secret = Token.objects.issue(
            member.team, member.user, name, role, scopes=scopes, expires_at=expires_at
        )
        new = {
            "role": role.label,
            "scopes": token.scopes,
            "expires_at": str(expires_at or "never"),
            "acts_for": str(member.user),
        }
        AuditEntry.objects.record(member.team, by, "token.created", token, new=new)
    return token, secret


def create_service_account(team: Team, name: str, role: Role, by: User | None) -> Member:
    """A member that is no person: it cannot sign in, and no person's leaving ends its tokens."""
    with transaction.atomic():
        account = User.objects.create_user(
            f"{new_uuid().hex}@{SERVICE_DOMAIN}", name=name, is_active=False, is_service=True
        )
        AuditEntry.objects.record(team, by, "service_account.created", account, new={"name": name})
        return add_member(team, account, role, by)
