"""New teams, and the name of one."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect

from evalsite.access import team_access_for
from evalsite.pages.web.decorators import form_page
from evalsite.pages.web.fields import NameField
from evalsite.pages.web.responses import SignedInRequest, render_page
from scoring.engine.team import teams
from scoring.models import Role, Team


class TeamForm(forms.Form):
    """A team's name."""

    name = NameField(max_length=100)


@form_page
def new_team(request: SignedInRequest) -> HttpResponse:
    """Create a team; its creator is its admin."""
    if not teams.may_create_teams(request.user):
        raise PermissionDenied("Only admins of a team, and superusers, create teams.")
    form = TeamForm(request.POST or None)
    if form.is_valid():
        team = teams.create_team(form.cleaned_data["name"], request.user)
        messages.success(request, f"Team {team.name} created. Invite its members.")
        return redirect("members", team.slug)
    return _answer(request, form, {"team": None})


@form_page
def rename_team(request: SignedInRequest, slug: str) -> HttpResponse:
    """Give the team another name; its addresses stay."""
    opened = team_access_for(request.user, slug, Role.ADMIN)
    old = opened.team.name
    form = TeamForm(request.POST or None, initial={"name": old})
    if form.is_valid():
        teams.rename_team(opened.team, form.cleaned_data["name"], request.user)
        messages.success(request, f"{old} is called {opened.team.name} now.")
        return redirect("members", slug)
    # A refused name changes neither the bar nor the title.
    return _answer(request, form, {"team": Team.objects.get(pk=opened.team.pk)})


def _answer(request: SignedInRequest, form: TeamForm, context: dict[str, Any]) -> HttpResponse:
    status = 422 if form.errors else 200
    return render_page(request, "team/name.html", context | {"form": form}, status=status)
