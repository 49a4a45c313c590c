"""API tokens of a team and its service accounts."""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect

from evalsite.access import team_access_for, team_for
from evalsite.pages.team.forms import ServiceAccountForm, TokenForm
from evalsite.pages.web.decorators import form_page, get_page, post_action
from evalsite.pages.web.one_time_secret import keep_secret, take_secret
from evalsite.pages.web.responses import SignedInRequest, render_page
from scoring.engine.team import tokens as engine
from scoring.engine.team.members import remove_member
from scoring.models import Member, Role, Token


@get_page
def tokens(request: SignedInRequest, slug: str) -> HttpResponse:
    """The team's tokens and service accounts; a secret that was just made is shown once."""
    return _render(request, slug, ServiceAccountForm())


def _render(request: SignedInRequest, slug: str, form: ServiceAccountForm) -> HttpResponse:
    opened = team_access_for(request.user, slug, Role.ADMIN)
    team = opened.team
    rows = list(Token.objects.for_list(team))
    context = {
        "team": team,
        "tab": "tokens",
        **opened.permissions,
        "active": [token for token in rows if token.is_in_force],
        "ended": [token for token in rows if not token.is_in_force],
        "accounts": Member.objects.service_accounts().filter(team=team),
        "form": form,
        "secret": take_secret(request, _secret_key(slug)),
    }
    return render_page(request, "team/tokens.html", context, status=422 if form.errors else 200)


@form_page
def new_token(request: SignedInRequest, slug: str) -> HttpResponse:
    """Create a token for oneself or for a service account."""
    opened = team_access_for(request.user, slug, Role.ADMIN)
    form = TokenForm(request.POST or None, team=opened.team, user=request.user)
    if form.is_valid():
        cleaned = form.cleaned_data
        token, secret = engine.create_token(
            cleaned["member"],
            cleaned["name"],
            cleaned["role"],
            cleaned["scopes"],
            cleaned["days"],
            request.user,
        )
        keep_secret(request, _secret_key(slug), secret)
        messages.success(request, f"Token {token.name} created.")
        return redirect("tokens", slug)
    context = {"team": opened.team, "form": form, "tab": "tokens", **opened.permissions}
    status = 422 if form.errors else 200
    return render_page(request, "team/new_token.html", context, status=status)


@post_action
def revoke_token(request: SignedInRequest, slug: str, uid: uuid.UUID) -> HttpResponse:
    team = team_for(request.user, slug, Role.ADMIN)
    token = get_object_or_404(team.tokens.select_related("team"), uuid=uid)
    token.revoke(request.user)
    messages.success(request, f"Token {token.name} is revoked.")
    return redirect("tokens", slug)


@post_action
def service_accounts(request: SignedInRequest, slug: str) -> HttpResponse:
    """Create a service account."""
    team = team_for(request.user, slug, Role.ADMIN)
    form = ServiceAccountForm(request.POST)
    if not form.is_valid():
        return _render(request, slug, form)
    name, role = form.cleaned_data["name"], form.cleaned_data["role"]
    engine.create_service_account(team, name, role, request.user)
    messages.success(request, f"Service account {name} created. Create a token for it.")
    return redirect("tokens", slug)


@post_action
def remove_service_account(request: SignedInRequest, slug: str, account: int) -> HttpResponse:
    """Take the account out of the team, and revoke its tokens."""
    team = team_for(request.user, slug, Role.ADMIN)
    accounts = Member.objects.service_accounts().select_related("team")
    member = get_object_or_404(accounts, team=team, pk=account)
    remove_member(member, request.user)
    messages.success(request, f"{member.user} is removed, and its tokens are revoked.")
    return redirect("tokens", slug)


def _secret_key(slug: str) -> str:
    return f"token_secret:{slug}"
