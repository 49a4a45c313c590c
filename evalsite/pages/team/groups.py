"""What groups of single sign-on may do in a team."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect

from evalsite.access import team_access_for, team_for
from evalsite.pages.team.forms import GroupRoleForm
from evalsite.pages.team.members import render_members
from evalsite.pages.web.decorators import post_action
from evalsite.pages.web.responses import SignedInRequest
from scoring.engine.team import groups as engine
from scoring.models import Role


@post_action
def group_roles(request: SignedInRequest, slug: str) -> HttpResponse:
    """Give a group a role, or another one."""
    opened = team_access_for(request.user, slug, Role.ADMIN)
    form = GroupRoleForm(request.POST)
    if not form.is_valid():
        return render_members(request, opened, group_form=form)
    group, role = form.cleaned_data["group"], form.cleaned_data["role"]
    engine.set_group_role(opened.team, group, role, request.user)
    messages.success(request, f"{group} has the role {role.label}, from the next sign-in on.")
    return redirect("members", slug)


@post_action
def remove_group_role(request: SignedInRequest, slug: str, group_role: int) -> HttpResponse:
    """Whoever is a member by the group alone leaves the team at the next sign-in."""
    team = team_for(request.user, slug, Role.ADMIN)
    row = get_object_or_404(team.group_roles.select_related("team"), pk=group_role)
    engine.remove_group_role(row, request.user)
    messages.success(request, f"{row.group} has no role any more.")
    return redirect("members", slug)
