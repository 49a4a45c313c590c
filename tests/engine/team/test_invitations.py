"""Invitations: once, for one address, for seven days, unless revoked."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone
from pytest_django.fixtures import Settings

from scoring.engine.team import invitations
from scoring.engine.team.invitations import AlreadyMemberError, InvitationEndedError
from scoring.models import AuditEntry, Invitation, JoinLink, Member, OutgoingMail, Role, Team, User
from scoring.models.team.team import UserManager
from tests.conftest import PASSWORD
from tests.support.concurrency import call_at_once, wait_for_all

LINK = "https://evals.example.org/invitations/UID-KEY/"


def invite(team: Team, by: User, email: str = "New@Example.org") -> Invitation:
    return invitations.invite(team, email, Role.REVIEWER, by, LINK)


def test_an_invitation_makes_an_account_and_a_member(team: Team, alice: User) -> None:
    user = invitations.create_account(invite(team, alice), "Nora", PASSWORD)
    member = Member.objects.get(user=user)
    assert (user.email, user.name, member.team, member.role) == (
        "new@example.org",
        "Nora",
        team,
        Role.REVIEWER,
    )
    assert user.check_password(PASSWORD)
    assert list(AuditEntry.objects.order_by("pk").values_list("action", "actor_name")) == [
        ("invitation.created", "alice@example.org"),
        ("user.created", "Nora <new@example.org>"),
        ("invitation.accepted", "Nora <new@example.org>"),
        ("member.added", "Nora <new@example.org>"),
    ]


@pytest.mark.parametrize("field", ["accepted_at", "revoked_at", "expires_at"])
def test_it_ends(team: Team, alice: User, bob: User, field: str) -> None:
    invitation = invite(team, alice)
    Invitation.objects.update(**{field: timezone.now() - timedelta(seconds=1)})
    for act in (
        lambda: invitations.create_account(invitation, "", PASSWORD),
        lambda: invitations.accept_invitation(invitation, bob),
    ):
        with pytest.raises(InvitationEndedError):
            act()
    assert not User.objects.filter(email="new@example.org").exists()


def test_whose_account_was_made_meanwhile_gets_no_second_one(team: Team, alice: User) -> None:
    invitation = invite(team, alice)
    User.objects.create_user("new@example.org")
    with pytest.raises(InvitationEndedError):
        invitations.create_account(invitation, "", PASSWORD)
    assert invitation in Invitation.objects.open()


def test_another_one_to_the_same_address_replaces_it(team: Team, alice: User) -> None:
    first, second = invite(team, alice), invite(team, alice, "new@example.org")
    assert list(Invitation.objects.open()) == [second]
    first.refresh_from_db()
    assert first.revoked_at


def test_a_member_is_not_invited(team: Team, alice: User, bob: User) -> None:
    with pytest.raises(AlreadyMemberError):
        invite(team, alice, "Bob@Example.org")
    assert not Invitation.objects.exists()


def test_who_is_in_another_team_joins_with_the_same_account(
    team: Team, alice: User, charlie: User
) -> None:
    invitations.accept_invitation(invite(team, alice, charlie.email), charlie)
    assert {str(member.team) for member in charlie.memberships.all()} == {"Elsewhere", "Support"}


def test_a_member_keeps_their_role(team: Team, alice: User) -> None:
    invitation = invite(team, alice, "x@example.org")
    Invitation.objects.update(email=alice.email, role=Role.VIEWER)
    invitations.accept_invitation(invitation, alice)
    assert Member.objects.get(user=alice).role == Role.ADMIN


def test_revoking_is_recorded_once(team: Team, alice: User) -> None:
    invitation = invite(team, alice)
    for _ in range(2):
        invitation.revoke(alice)
    assert AuditEntry.objects.filter(action="invitation.revoked").count() == 1


def test_mail_is_sent_where_the_site_can(team: Team, alice: User, settings: Settings) -> None:
    invite(team, alice)
    assert not OutgoingMail.objects.exists()
    settings.EVALSITE_MAIL_HOST = "mail.example.org"
    invitation = invite(team, alice)
    waiting = OutgoingMail.objects.get()
    assert (waiting.address, waiting.invitation) == ("new@example.org", invitation)
    assert waiting.link == LINK


def test_a_key_is_that_of_one_invitation(team: Team, alice: User) -> None:
    invitation = invite(team, alice)
    assert Invitation.objects.of_key(invitation.key) == invitation
    uid, _, signature = invitation.key.partition(":")
    for key in (uid, invitation.key[:-1], f"{uuid4().hex}:{signature}", ""):
        assert Invitation.objects.of_key(key) is None


@pytest.mark.django_db(transaction=True)
def test_of_two_at_once_one_is_let_in(team: Team, alice: User) -> None:
    invitation = invite(team, alice)
    people = [User.objects.create_user(f"p{n}@example.org") for n in range(2)]

    def accept() -> bool:
        try:
            invitations.accept_invitation(invitation, people.pop())
        except InvitationEndedError:
            return False
        return True

    assert sorted(call_at_once(accept, 2)) == [False, True]
    assert Member.objects.filter(role=Role.REVIEWER).count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_two_invitations_that_are_used_at_once_one_makes_the_account(
    team: Team, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Team.objects.create(name="Other", slug="other")
    invited = [invite(where, alice) for where in (team, other)]
    monkeypatch.setattr(UserManager, "create_user", wait_for_all(UserManager.create_user, 2))

    def create() -> bool:
        try:
            invitations.create_account(invited.pop(), "Nora", PASSWORD)
        except InvitationEndedError:
            return False
        return True

    assert sorted(call_at_once(create, 2)) == [False, True]
    assert User.objects.filter(email="new@example.org").count() == 1


def test_the_join_link_invites_who_asks(team: Team, alice: User) -> None:
    join_link = invitations.set_join_link(team, "Example.org", Role.VIEWER, alice)
    for _ in range(2):
        invitations.request_invitation(join_link, "Nora@Example.org", LINK, None)
    invitation = Invitation.objects.get()
    assert (invitation.email, invitation.role) == ("nora@example.org", Role.VIEWER)
    assert invitation.is_requested
    assert OutgoingMail.objects.filter(invitation=invitation).count() == 2
    entry = AuditEntry.objects.get(action="invitation.requested")
    assert entry.actor_name == "the site"


def test_nothing_is_mailed_to_a_member(team: Team, alice: User) -> None:
    join_link = invitations.set_join_link(team, "example.org", Role.VIEWER, alice)
    invitations.request_invitation(join_link, alice.email, LINK, None)
    assert not OutgoingMail.objects.exists()


def test_without_the_join_link_its_invitations_end(team: Team, alice: User) -> None:
    join_link = invitations.set_join_link(team, "example.org", Role.VIEWER, alice)
    invitations.request_invitation(join_link, "nora@example.org", LINK, None)
    own = invite(team, alice)
    for _ in range(2):
        invitations.remove_join_link(team, alice)
    assert list(Invitation.objects.open()) == [own]
    assert not JoinLink.objects.exists()
    assert AuditEntry.objects.filter(action="join_link.removed").count() == 1
