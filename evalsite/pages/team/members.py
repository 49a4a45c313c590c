"""The members of a team: who they are, their roles, leaving and handing over."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse

from evalsite.access import TeamAccess, team_access_for
from evalsite.pages.team.forms import (
    GroupRoleForm,
    HandOverForm,
    InvitationForm,
    JoinLinkForm,
    RoleForm,
)
from evalsite.pages.web.decorators import form_page, get_page, post_action
from evalsite.pages.web.responses import SignedInRequest, render_page
from evalsite.site_links import site_link
from scoring.engine.team import members as engine
from scoring.engine.team.invitations import can_send_mail
from scoring.engine.team.members import LastAdminError
from scoring.models import Member, Role


@get_page
def members(request: SignedInRequest, slug: str) -> HttpResponse:
    """The members; for an admin also roles, open invitations and the join link."""
    opened = team_access_for(request.user, slug)
    return render_members(request, opened)


def render_members(
    request: SignedInRequest,
    opened: TeamAccess,
    *,
    invitation_form: InvitationForm | None = None,
    join_form: JoinLinkForm | None = None,
    group_form: GroupRoleForm | None = None,
) -> HttpResponse:
    """The page of members, with forms that were refused."""
    team = opened.team
    people = Member.objects.people().filter(team=team)
    context: dict[str, Any] = {"team": team, "tab": "members", **opened.permissions}
    if opened.permissions["may_administer"]:
        join_link = getattr(team, "join_link", None)
        context |= {
            "invitations": [
                (invitation, site_link(request, reverse("invitation", args=[invitation.key])))
                for invitation in team.invitations.open().select_related("created_by")
            ],
            "invitation_form": invitation_form or InvitationForm(),
            "join_link": join_link,
            "join_address": join_link and site_link(request, reverse("join", args=[join_link.key])),
            "join_form": join_form or JoinLinkForm(),
            "can_send_mail": can_send_mail(),
            "sso": settings.EVALSITE_SSO,
            "group_roles": team.group_roles.all(),
            "group_form": group_form or GroupRoleForm(),
            "rows": [(member, RoleForm(member=member)) for member in people],
        }
    else:
        context["rows"] = [(member, None) for member in people]
    refused = any(form and form.errors for form in (invitation_form, join_form, group_form))
    return render_page(request, "team/members.html", context, status=422 if refused else 200)


@post_action
def member_role(request: SignedInRequest, slug: str, member: int) -> HttpResponse:
    """Change a member's role, from their next request on."""
    opened = team_access_for(request.user, slug, Role.ADMIN)
    row = _member(opened, member)
    form = RoleForm(request.POST, member=row)
    if not form.is_valid():
        messages.error(request, "This is no role.")
        return redirect("members", slug)
    role: Role = form.cleaned_data["role"]
    try:
        engine.change_role(row, role, request.user)
    except LastAdminError as refused:
        messages.error(request, str(refused))
    else:
        messages.success(request, f"{row.user} has the role {role.label} now.")
    return redirect("members", slug)


@form_page
def remove_member(request: SignedInRequest, slug: str, member: int) -> HttpResponse:
    """Say what removing somebody does, then do it."""
    opened = team_access_for(request.user, slug, Role.ADMIN)
    row = _member(opened, member)
    if request.method == "POST":
        try:
            engine.remove_member(row, request.user)
        except LastAdminError as refused:
            messages.error(request, str(refused))
        else:
            messages.success(request, f"{row.user} is no longer a member.")
        return redirect("members", slug)
    context = {"team": opened.team, "tab": "members", "member": row, **opened.permissions}
    return render_page(request, "team/remove_member.html", context | _holdings(row))


@form_page
def leave_team(request: SignedInRequest, slug: str) -> HttpResponse:
    """Leave the team; its last admin hands it over first."""
    opened = team_access_for(request.user, slug)
    row = _own(opened)
    if "leave" in request.POST:
        try:
            engine.leave_team(row)
        except LastAdminError as refused:
            messages.error(request, str(refused))
            return redirect("leave_team", slug)
        messages.success(request, f"You left {opened.team.name}.")
        return redirect("home")
    context = {"team": opened.team, "tab": "members", "is_last_admin": engine.is_last_admin(row)}
    context |= {**opened.permissions, **_holdings(row)}
    return render_page(request, "team/leave.html", context)


@form_page
def hand_over_team(request: SignedInRequest, slug: str) -> HttpResponse:
    """Make another member an admin and give up the own role, in one step."""
    opened = team_access_for(request.user, slug, Role.ADMIN)
    row = _own(opened)
    form = HandOverForm(request.POST or None, member=row)
    if form.is_valid():
        successor: Member = form.cleaned_data["successor"]
        try:
            engine.hand_over(row, successor, form.new_role)
        except LastAdminError as refused:
            form.add_error("successor", str(refused))
        else:
            messages.success(request, f"{successor.user} administers {opened.team.name} now.")
            return redirect("members", slug) if form.new_role else redirect("home")
    context = {"team": opened.team, "tab": "members", "form": form, **opened.permissions}
    status = 422 if form.errors else 200
    return render_page(request, "team/hand_over.html", context, status=status)


def _member(opened: TeamAccess, pk: int) -> Member:
    members = Member.objects.people().select_related("team")
    return get_object_or_404(members, team=opened.team, pk=pk)


def _own(opened: TeamAccess) -> Member:
    return Member.objects.select_related("team", "user").get(team=opened.team, user=opened.user)


def _holdings(member: Member) -> dict[str, Any]:
    """What goes with the member: how many tokens of theirs are in force."""
    tokens = member.team.tokens.in_force().filter(user=member.user_id)
    return {"token_count": tokens.count()}
