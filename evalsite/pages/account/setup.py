"""Setting up a new site: the one-time link makes its first person."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth import login
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from evalsite.middleware.client_address import client_address
from evalsite.pages.account.new_account import NewAccountForm
from evalsite.pages.web.fields import NameField
from evalsite.pages.web.responses import render_page
from scoring.engine.demo import DEMO_SLUG
from scoring.engine.team.teams import free_slug
from scoring.models import AuditEntry, Member, Role, Team, User
from scoring.models.team.team import (
    SETUP_LINK_HOURS,
    AlreadySetUpError,
    has_accounts,
    is_setup_token_valid,
    lock_setup,
)


class FirstPersonForm(NewAccountForm):
    """An e-mail address, a password twice, and a team where there is none yet."""

    email = forms.EmailField(
        label="E-mail", max_length=254, widget=forms.EmailInput(attrs={"autocomplete": "username"})
    )
    team_name = NameField(
        label="Team",
        max_length=100,
        help_text="Who shares the datasets and runs. The name can be changed later.",
    )
    field_order = ("email", "password", "password_again", "team_name")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if Team.objects.exists():
            del self.fields["team_name"]

    def new_user(self) -> User:
        return User(email=self.cleaned_data.get("email", ""))

    def save(self, address: str) -> User:
        """Create the superuser, an admin of every team there is. Raises AlreadySetUpError."""
        from scoring.engine.demo.reviews import draw_own_queue

        cleaned = self.cleaned_data
        with transaction.atomic():
            lock_setup()
            user = User.objects.create_superuser(cleaned["email"], cleaned["password"])
            AuditEntry.objects.record(None, user, "site.set_up", user, new={"address": address})
            if name := cleaned.get("team_name"):
                first = Team.objects.create(name=name, slug=free_slug(name))
                AuditEntry.objects.record(first, user, "team.created", first)
            for team in Team.objects.all():
                member = Member.objects.create(team=team, user=user, role=Role.ADMIN)
                new = {"role": Role.ADMIN.label}
                AuditEntry.objects.record(team, user, "member.added", member, new=new)
                if team.slug == DEMO_SLUG:
                    draw_own_queue(team)
        return user


@never_cache
@sensitive_post_parameters()
def setup(request: HttpRequest, token: str) -> HttpResponse:
    """Make the superuser and sign in; a link that was used or is too old says so."""
    if not is_setup_token_valid(token):
        return _closed(request)
    form = FirstPersonForm(request.POST or None)
    if form.is_valid():
        try:
            login(request, form.save(client_address(request)))
        except AlreadySetUpError:
            return _closed(request)
        return redirect("home")
    return render_page(
        request, "account/setup/open.html", {"form": form}, status=422 if form.errors else 200
    )


def _closed(request: HttpRequest) -> HttpResponse:
    context = {"is_set_up": has_accounts(), "hours": SETUP_LINK_HOURS}
    return render_page(request, "account/setup/closed.html", context, status=410)
