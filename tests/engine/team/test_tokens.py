"""Tokens of people and of service accounts."""

from __future__ import annotations

from scoring.engine.team.members import remove_member
from scoring.engine.team.tokens import create_service_account, create_token
from scoring.models import AuditEntry, Member, Role, Scope, Team, Token, User


def test_a_token_is_recorded_without_its_secret(alice: User, team: Team) -> None:
    member = Member.objects.get(user=alice)
    token, secret = create_token(member, "ci", Role.VIEWER, [Scope.READ], None, alice)
    assert Token.objects.usable(secret) == token
    entry = AuditEntry.objects.get()
    assert entry.new == {
        "role": "viewer",
        "scopes": ["read"],
        "expires_at": "never",
        "acts_for": "alice@example.org",
    }
    kept = str(list(Token.objects.values())) + str(list(AuditEntry.objects.values()))
    assert secret not in kept


def test_a_service_accounts_tokens_outlast_who_made_them(
    alice: User, bob: User, team: Team
) -> None:
    Member.objects.filter(user=bob).update(role=Role.ADMIN)
    account = create_service_account(team, "nightly", Role.EDITOR, bob)
    _, secret = create_token(account, "ci", Role.EDITOR, Scope.values, None, bob)
    _, own = create_token(Member.objects.get(user=bob), "own", Role.EDITOR, ["read"], None, bob)
    remove_member(Member.objects.select_related("team", "user").get(user=bob), alice)
    User.objects.filter(pk=bob.pk).delete()
    assert Token.objects.usable(own) is None
    usable = Token.objects.usable(secret)
    assert usable
    assert str(usable.user) == "nightly"


def test_a_removed_account_ends_its_tokens(alice: User, team: Team) -> None:
    account = create_service_account(team, "nightly", Role.ADMIN, alice)
    token, secret = create_token(account, "ci", Role.EDITOR, Scope.values, None, alice)
    remove_member(account, alice)
    token.refresh_from_db()
    assert token.revoked_at
    assert Token.objects.usable(secret) is None


def test_it_is_no_person(alice: User, team: Team) -> None:
    account = create_service_account(team, "nightly", Role.ADMIN, alice)
    assert not account.user.has_usable_password()
    assert not account.user.is_active
    assert account not in Member.objects.people()
    assert account not in Member.objects.administrators()
    assert list(Member.objects.service_accounts()) == [account]
