"""Setting up a new site: the one-time link makes its first person."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth import login
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.text import slugify
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from evalsite.middleware.client_address import client_address
from evalsite.pages.web.fields import NameField
from evalsite.pages.web.responses import render_page
from scoring.engine.demo import DEMO_SLUG
from scoring.models import AuditEntry, Member, Role, Team, User
from scoring.models.team.team import (
    SETUP_LINK_HOURS,
    AlreadySetUpError,
    has_accounts,
    is_setup_token_valid,
    lock_setup,
)

NEW_PASSWORD = forms.PasswordInput(attrs={"autocomplete": "new-password"})


class FirstPersonForm(forms.Form):
    """An e-mail address, a password twice, and a team where there is none yet."""

    email = forms.EmailField(
        label="E-mail", max_length=254, widget=forms.EmailInput(attrs={"autocomplete": "username"})
    )
    password = forms.CharField(
        strip=False,
        widget=NEW_PASSWORD,
        help_text="At least 8 characters, not only digits, and not a commonly used password.",
    )
    password_again = forms.CharField(label="Confirm password", strip=False, widget=NEW_PASSWORD)
    team_name = NameField(
        label="Team",
        max_length=100,
        help_text="Who shares the datasets and runs. The name can be changed later.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if Team.objects.exists():
            del self.fields["team_name"]

    def clean(self) -> dict[str, Any]:
        cleaned = self.cleaned_data
        if password := cleaned.get("password"):
            if password != cleaned.get("password_again", password):
                text = "The two passwords differ. Type the same one twice."
                self.add_error("password_again", text)
            try:
                validate_password(password, User(email=cleaned.get("email", "")))
            except ValidationError as error:
                self.add_error("password", error)
        return cleaned

    def save(self, address: str) -> User:
        """Create the superuser, an admin of every team there is. Raises AlreadySetUpError."""
        from scoring.engine.demo.reviews import draw_own_queue

        cleaned = self.cleaned_data
        with transaction.atomic():
            lock_setup()
            user = User.objects.create_superuser(cleaned["email"], cleaned["password"])
            AuditEntry.objects.record(None, user, "site.set_up", user, new={"address": address})
            if name := cleaned.get("team_name"):
                first = Team.objects.create(name=name, slug=slugify(name)[:60] or "team")
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
