"""Setting up a new site: the one-time link makes its first person."""

from __future__ import annotations

from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from evalsite.pages.forms.setup import FirstPersonForm
from evalsite.pages.fragments import show
from scoring.models import User
from scoring.models.team import SETUP_LINK_HOURS, setup_token_is_good


@never_cache
@sensitive_post_parameters()
def setup(request: HttpRequest, token: str) -> HttpResponse:
    """Make the superuser and sign in; a link that was used or is too old says so."""
    if not setup_token_is_good(token):
        is_set_up = User.objects.exists()
        context = {"is_set_up": is_set_up, "hours": SETUP_LINK_HOURS}
        return show(request, "setup/closed.html", context, status=410)
    form = FirstPersonForm(request.POST or None)
    if form.is_valid():
        login(request, form.save())
        return redirect("home")
    return show(request, "setup/open.html", {"form": form}, status=422 if form.errors else 200)
