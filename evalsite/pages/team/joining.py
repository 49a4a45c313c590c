"""The pages behind the links that lead into a team, for people with and without an account."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from evalsite.middleware.client_address import client_address
from evalsite.pages.team.forms import InvitedPersonForm, JoinForm
from evalsite.pages.team.invitations import link_to_invitation
from evalsite.pages.web.error_pages import too_many_attempts
from evalsite.pages.web.responses import render_page
from scoring.engine.team import invitations as engine
from scoring.engine.team.invitations import InvitationEndedError
from scoring.models import AttemptCounter, Invitation, JoinLink, User
from scoring.models.team.attempt_counter import TooManyAttemptsError, limits_for

METHODS = ["GET", "HEAD", "POST"]


@never_cache
@require_http_methods(METHODS)
@sensitive_post_parameters()
def invitation(request: HttpRequest, invitation_key: str) -> HttpResponse:
    """Accept an invitation: with a new account, or as the person who is signed in."""
    found = Invitation.objects.of_key(invitation_key)
    if found is None or not found.is_open:
        return _ended(request, found)
    if isinstance(request.user, User):
        return _join_signed_in(request, found, request.user)
    sso = settings.EVALSITE_SSO
    if User.objects.filter(email=found.email).exists() or (sso and sso.is_only):
        context = {"invitation": found, "path": request.path, "sso": sso}
        return render_page(request, "team/sign_in_to_join.html", context)
    form = InvitedPersonForm(request.POST or None, email=found.email)
    if form.is_valid():
        name, password = form.cleaned_data["name"], form.cleaned_data["password"]
        try:
            login(request, engine.create_account(found, name, password))
        except InvitationEndedError:
            return _ended(request, found)
        return redirect("team_home", found.team.slug)
    context = {"invitation": found, "form": form, "path": request.path, "sso": sso}
    status = 422 if form.errors else 200
    return render_page(request, "team/new_account.html", context, status=status)


def _join_signed_in(request: HttpRequest, found: Invitation, user: User) -> HttpResponse:
    """An invitation is for one address: whoever is signed in with another one is not let in."""
    is_theirs = user.email == found.email
    if is_theirs and request.method == "POST":
        try:
            engine.accept_invitation(found, user)
        except InvitationEndedError:
            return _ended(request, found)
        return redirect("team_home", found.team.slug)
    context = {"invitation": found, "is_theirs": is_theirs, "path": request.path}
    status = 200 if is_theirs else 403
    return render_page(request, "team/accept.html", context, status=status)


def _ended(request: HttpRequest, found: Invitation | None) -> HttpResponse:
    """Say why the link lets nobody in; one that was never made gives away nothing."""
    return render_page(request, "team/ended_invitation.html", {"invitation": found}, status=410)


@never_cache
@require_http_methods(METHODS)
def join(request: HttpRequest, join_key: str) -> HttpResponse:
    """Mail an invitation to an address of the team's domain.

    The answer is the same for everybody: whoever has no mailbox there learns nothing.
    """
    join_link = get_object_or_404(JoinLink.objects.select_related("team"), key=join_key)
    form = JoinForm(request.POST or None, join_link=join_link)
    context = {"join_link": join_link, "form": form}
    if not form.is_valid():
        status = 422 if form.errors else 200
        return render_page(request, "team/join.html", context, status=status)
    email = form.cleaned_data["email"]
    try:
        AttemptCounter.objects.take(limits_for("join", email, client_address(request)))
    except TooManyAttemptsError as error:
        return too_many_attempts(error.wait_seconds)
    if AttemptCounter.objects.take_mail(email):
        by = request.user if isinstance(request.user, User) else None
        engine.request_invitation(join_link, email, link_to_invitation(request), by)
    return render_page(request, "team/join_sent.html", context | {"email": email})
