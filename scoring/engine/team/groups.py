"""Members by groups: what the groups of single sign-on give, brought up to date at each sign-in."""

from __future__ import annotations

import logging
from collections.abc import Collection

from django.db import transaction

from scoring.engine.team.members import LastAdminError, add_member, change_role, remove_member
from scoring.models import AuditEntry, GroupRole, Member, Role, Team, User

log = logging.getLogger(__name__)


def set_group_role(team: Team, group: str, role: Role, by: User) -> GroupRole:
    """Give the members of a group this role in the team, from their next sign-in on."""
    with transaction.atomic():
        Team.objects.lock(team)
        earlier = team.group_roles.filter(group=group).first()
        row, _ = GroupRole.objects.update_or_create(team=team, group=group, defaults={"role": role})
        old = {"role": Role(earlier.role).label} if earlier else None
        new = {"role": role.label}
        if old != new:
            AuditEntry.objects.record(team, by, "group_role.set", row, old=old, new=new)
    return row


def remove_group_role(row: GroupRole, by: User) -> None:
    """The group gives nothing any more; whoever is in the team by it leaves at the next sign-in."""
    with transaction.atomic():
        Team.objects.lock(row.team)
        removed = GroupRole.objects.filter(pk=row.pk).first()
        if removed is not None:
            old = {"role": Role(removed.role).label}
            AuditEntry.objects.record(row.team, by, "group_role.removed", removed, old=old)
            removed.delete()


def has_place_by(groups: Collection[str]) -> bool:
    """Whether one of these groups has a role in any team."""
    return GroupRole.objects.filter(group__in=groups).exists()


def bring_up_to_date(user: User, groups: Collection[str]) -> None:
    """Make the person a member where these groups have a role, and only there.

    The largest role counts. Places that an invitation or an admin gave stay as they are, and so
    does the last admin of a team.
    """
    with transaction.atomic():
        wanted: dict[Team, Role] = {}
        for row in GroupRole.objects.filter(group__in=groups).select_related("team"):
            wanted[row.team] = max(Role(row.role), wanted.get(row.team, Role.VIEWER))
        by_groups = Member.objects.filter(user=user, from_groups=True)
        for member in by_groups.select_related("team", "user"):
            _correct(member, wanted.get(member.team))
        for team, role in wanted.items():
            add_member(team, user, role, None, from_groups=True)


def _correct(member: Member, role: Role | None) -> None:
    try:
        if role is None:
            remove_member(member, None)
        else:
            change_role(member, role, None)
    except LastAdminError:
        log.warning("%s stays the admin of %s: it has no other", member.user, member.team)
