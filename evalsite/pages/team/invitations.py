"""What an admin does about the ways into the team: invitations and the join link."""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse

from evalsite.access import team_access_for, team_for
from evalsite.pages.team.forms import InvitationForm, JoinLinkForm
from evalsite.pages.team.members import render_members
from evalsite.pages.web.decorators import post_action
from evalsite.pages.web.responses import SignedInRequest
from evalsite.site_links import site_link
from scoring.engine.team import invitations as engine
from scoring.models import Role
from scoring.models.team.outgoing_mail import LINK_KEY


@post_action
def invite(request: SignedInRequest, slug: str) -> HttpResponse:
    """Invite an address; the page then shows its link."""
    opened = team_access_for(request.user, slug, Role.ADMIN)
    form = InvitationForm(request.POST)
    if form.is_valid():
        email, role = form.cleaned_data["email"], form.cleaned_data["role"]
        try:
            engine.invite(opened.team, email, role, request.user, link_to_invitation(request))
        except engine.AlreadyMemberError:
            form.add_error("email", "This person is a member already.")
        else:
            is_mailed = engine.can_send_mail()
            todo = "The link is on its way there." if is_mailed else "Send them the link below."
            messages.success(request, f"{email} is invited. {todo}")
            return redirect("members", slug)
    return render_members(request, opened, invitation_form=form)


@post_action
def revoke_invitation(request: SignedInRequest, slug: str, uid: uuid.UUID) -> HttpResponse:
    team = team_for(request.user, slug, Role.ADMIN)
    invitation = get_object_or_404(team.invitations.select_related("team"), uuid=uid)
    invitation.revoke(request.user)
    messages.success(request, f"The invitation of {invitation.email} is revoked.")
    return redirect("members", slug)


@post_action
def join_link(request: SignedInRequest, slug: str) -> HttpResponse:
    """Create the join link, replace it by a new one, or remove it."""
    opened = team_access_for(request.user, slug, Role.ADMIN)
    if "remove" in request.POST:
        engine.remove_join_link(opened.team, request.user)
        messages.success(request, "The join link is removed: it lets nobody in any more.")
        return redirect("members", slug)
    form = JoinLinkForm(request.POST)
    if form.is_valid():
        domain, role = form.cleaned_data["domain"], form.cleaned_data["role"]
        engine.set_join_link(opened.team, domain, role, request.user)
        messages.success(request, f"Whoever has an address at {domain} can join by the link below.")
        return redirect("members", slug)
    return render_members(request, opened, join_form=form)


def link_to_invitation(request: HttpRequest) -> str:
    """The link of an invitation, without its key."""
    return site_link(request, reverse("invitation", args=[LINK_KEY]))
