"""Invitations to a team, from an admin or through the team's join link."""

from __future__ import annotations

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from scoring.engine.team.members import add_member
from scoring.models import AuditEntry, Invitation, JoinLink, Member, OutgoingMail, Role, Team, User
from scoring.models.locks import lock_name


class AlreadyMemberError(Exception):
    """The address belongs to a member of the team."""


class InvitationEndedError(Exception):
    """It was accepted, revoked or expired in the meantime."""


def can_send_mail() -> bool:
    """Whether the site has a mail server; without one links are copied."""
    return bool(settings.EVALSITE_MAIL_HOST)


def invite(team: Team, email: str, role: Role, by: User, link: str) -> Invitation:
    """Invite whoever has this address, in place of an earlier invitation to it.

    `link` has LINK_KEY in place of its key; it is mailed where the site has a mail server. Raises
    AlreadyMemberError.
    """
    email = User.objects.normalize_email(email).lower()
    with transaction.atomic():
        Team.objects.lock(team)
        if Member.objects.filter(team=team, user__email=email).exists():
            raise AlreadyMemberError
        for earlier in team.invitations.open().filter(email=email):
            earlier.revoke(by)
        invitation = Invitation.objects.create(team=team, email=email, role=role, created_by=by)
        new = {"email": email, "role": role.label}
        AuditEntry.objects.record(team, by, "invitation.created", invitation, new=new)
        if can_send_mail():
            OutgoingMail.objects.create(address=email, invitation=invitation, link=link)
    return invitation


def request_invitation(join_link: JoinLink, email: str, link: str, by: User | None) -> None:
    """Mail an invitation to an address of the join link's domain; `by` is whoever is signed in.

    Nothing is mailed to a member; the caller says the same to everybody.
    """
    email = User.objects.normalize_email(email).lower()
    team = join_link.team
    with transaction.atomic():
        Team.objects.lock(team)
        if Member.objects.filter(team=team, user__email=email).exists():
            return
        open_requests = team.invitations.open().filter(email=email, is_requested=True)
        invitation = open_requests.filter(role=join_link.role).first()
        if invitation is None:
            role = Role(join_link.role)
            invitation = Invitation.objects.create(
                team=team, email=email, role=role, is_requested=True
            )
            new = {"email": email, "role": role.label}
            AuditEntry.objects.record(team, by, "invitation.requested", invitation, new=new)
        OutgoingMail.objects.create(address=email, invitation=invitation, link=link)


def accept_invitation(invitation: Invitation, user: User) -> Member:
    """Make the person, whose address is the invitation's, a member. Raises InvitationEndedError."""
    with transaction.atomic():
        _use(invitation)
        AuditEntry.objects.record(invitation.team, user, "invitation.accepted", invitation)
        return add_member(invitation.team, user, Role(invitation.role), user)


def create_account(invitation: Invitation, name: str, password: str) -> User:
    """A new person with the invitation's address, as a member. Raises InvitationEndedError."""
    with transaction.atomic():
        lock_name("account", invitation.email)
        if User.objects.filter(email=invitation.email).exists():
            raise InvitationEndedError  # somebody else has just used an invitation of theirs
        user = User.objects.create_user(invitation.email, password, name=name)
        AuditEntry.objects.record(None, user, "user.created", user, new={"email": user.email})
        accept_invitation(invitation, user)
    return user


def set_join_link(team: Team, domain: str, role: Role, by: User) -> JoinLink:
    """A new link for the domain, in place of the one there was."""
    with transaction.atomic():
        Team.objects.lock(team)
        JoinLink.objects.filter(team=team).delete()
        join_link = JoinLink.objects.create(team=team, domain=domain.lower(), role=role)
        new = {"domain": join_link.domain, "role": role.label}
        AuditEntry.objects.record(team, by, "join_link.created", join_link, new=new)
    return join_link


def remove_join_link(team: Team, by: User) -> None:
    """Invitations that were asked for through it and not accepted end with it."""
    with transaction.atomic():
        Team.objects.lock(team)
        join_link = JoinLink.objects.filter(team=team).first()
        if join_link is None:
            return
        old = {"domain": join_link.domain}
        AuditEntry.objects.record(team, by, "join_link.removed", join_link, old=old)
        for invitation in team.invitations.open().filter(is_requested=True):
            invitation.revoke(by)
        join_link.delete()


def _use(invitation: Invitation) -> None:
    """Of two at the same time, one uses it."""
    unused = Invitation.objects.open().filter(pk=invitation.pk)
    if not unused.update(accepted_at=timezone.now()):
        raise InvitationEndedError
