"""The addresses of teams: settings, members, and the ways in."""

from __future__ import annotations

from django.urls import path

from evalsite.pages.team import (
    audit,
    groups,
    invitations,
    joining,
    members,
    names,
    retention,
    tokens,
)

urlpatterns = [
    path("new_team/", names.new_team, name="new_team"),
    path("teams/<slug:slug>/rename/", names.rename_team, name="rename_team"),
    path("teams/<slug:slug>/members/", members.members, name="members"),
    path("teams/<slug:slug>/members/<int:member>/role/", members.member_role, name="member_role"),
    path(
        "teams/<slug:slug>/members/<int:member>/remove/",
        members.remove_member,
        name="remove_member",
    ),
    path("teams/<slug:slug>/leave/", members.leave_team, name="leave_team"),
    path("teams/<slug:slug>/hand_over/", members.hand_over_team, name="hand_over_team"),
    path("teams/<slug:slug>/invitations/", invitations.invite, name="invite"),
    path(
        "teams/<slug:slug>/invitations/<uuid:uid>/revoke/",
        invitations.revoke_invitation,
        name="revoke_invitation",
    ),
    path("teams/<slug:slug>/join_link/", invitations.join_link, name="join_link"),
    path("teams/<slug:slug>/groups/", groups.group_roles, name="group_roles"),
    path(
        "teams/<slug:slug>/groups/<int:group_role>/remove/",
        groups.remove_group_role,
        name="remove_group_role",
    ),
    path("teams/<slug:slug>/tokens/", tokens.tokens, name="tokens"),
    path("teams/<slug:slug>/tokens/new/", tokens.new_token, name="new_token"),
    path("teams/<slug:slug>/tokens/<uuid:uid>/revoke/", tokens.revoke_token, name="revoke_token"),
    path(
        "teams/<slug:slug>/service_accounts/",
        tokens.service_accounts,
        name="service_accounts",
    ),
    path(
        "teams/<slug:slug>/service_accounts/<int:account>/remove/",
        tokens.remove_service_account,
        name="remove_service_account",
    ),
    path("teams/<slug:slug>/retention/", retention.retention, name="retention"),
    path("teams/<slug:slug>/audit/", audit.audit, name="audit"),
    path("teams/<slug:slug>/audit/export/", audit.export_audit, name="export_audit"),
    path("invitations/<str:invitation_key>/", joining.invitation, name="invitation"),
    path("join/<str:join_key>/", joining.join, name="join"),
]
