"""Who is in a team, and with which role. Every change holds from the member's next request on."""

from __future__ import annotations

from django.db import transaction

from scoring.engine.review.pool import change_pool
from scoring.models import AuditEntry, Member, ReviewQueue, Role, Team, User


class LastAdminError(Exception):
    """The change would leave the team without anybody who administers it."""

    def __init__(self) -> None:
        super().__init__("A team needs an admin. Make somebody else an admin first.")


def add_member(
    team: Team, user: User, role: Role, by: User | None, *, from_groups: bool = False
) -> Member:
    """The person as a member; who is one already stays as they are."""
    with transaction.atomic():
        fields = {"role": role, "from_groups": from_groups}
        member, is_new = Member.objects.get_or_create(team=team, user=user, defaults=fields)
        if is_new:
            new = {"role": role.label} | ({"from_groups": True} if from_groups else {})
            AuditEntry.objects.record(team, by, "member.added", member, new=new)
    return member


def change_role(member: Member, role: Role, by: User | None) -> None:
    """Groups no longer decide about a role that somebody has given. Raises LastAdminError."""
    with transaction.atomic():
        member = _lock(member)
        if member.role == role:
            return
        _keep_admin(member, role)
        old = Role(member.role)
        member.role = role
        member.from_groups = member.from_groups and by is None
        member.save(update_fields=["role", "from_groups"])
        if old == Role.ADMIN:
            _revoke_invitations(member, by)
        AuditEntry.objects.record(
            member.team,
            by,
            "member.role_changed",
            member,
            old={"role": old.label},
            new={"role": role.label},
        )


def remove_member(member: Member, by: User | None) -> None:
    """Take the person out of the team and sign them out. Raises LastAdminError."""
    with transaction.atomic():
        _leave(member, by, "member.removed")
        member.user.end_sessions()


def leave_team(member: Member) -> None:
    """As the person's own decision: they stay signed in. Raises LastAdminError."""
    with transaction.atomic():
        _leave(member, member.user, "member.left")


def hand_over(member: Member, successor: Member, role: Role | None) -> None:
    """Make the successor an admin and give the member this role instead, or none in the team.

    Raises LastAdminError where the successor may not sign in.
    """
    with transaction.atomic():
        change_role(successor, Role.ADMIN, member.user)
        if role is None:
            leave_team(member)
        else:
            change_role(member, role, member.user)


def is_last_admin(member: Member) -> bool:
    """Whether nobody else may sign in and administer the team."""
    others = Member.objects.administrators().filter(team=member.team_id).exclude(pk=member.pk)
    return member.role == Role.ADMIN and not others.exists()


def _leave(member: Member, by: User | None, action: str) -> None:
    """What the person holds in the team goes along: tokens, open invitations of theirs, places in
    pools of reviewers.
    """
    member = _lock(member)
    _keep_admin(member, None)
    team, user = member.team, member.user
    for token in team.tokens.in_force().filter(user=user):
        token.revoke(by)
    _revoke_invitations(member, by)
    for queue in ReviewQueue.objects.filter(team=team, closed_at=None, pool=user):
        change_pool(queue, set(queue.pool.all()) - {user}, by)
    old = {"role": Role(member.role).label}
    AuditEntry.objects.record(team, by, action, member, old=old)
    member.delete()


def _revoke_invitations(member: Member, by: User | None) -> None:
    """Who is no admin any more may have kept the links of the invitations they made."""
    for invitation in member.team.invitations.open().filter(created_by=member.user):
        invitation.revoke(by)


def _lock(member: Member) -> Member:
    """The member as it is now; until the transaction ends nobody else changes the team's."""
    Team.objects.lock(member.team)
    return Member.objects.select_related("team", "user").get(pk=member.pk)


def _keep_admin(member: Member, role: Role | None) -> None:
    if role != Role.ADMIN and is_last_admin(member):
        raise LastAdminError
