"""How people come to have an account, and sign in: one page for the site and Django's admin."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlencode

from allauth.account.adapter import DefaultAccountAdapter
from django.conf import settings
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, resolve_url
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache

from evalsite.middleware.client_address import client_address
from evalsite.pages.account.forms import refuse_too_many_attempts
from evalsite.pages.account.sessions import NO_ADDRESS
from scoring.models import User

SSO_SESSION_SECONDS: Final = 12 * 3600


class ClosedSignupAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth carries no types
    """Closes the public sign-up page, and answers 429 beyond the limits of sign-in."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:  # noqa: ARG002
        return False

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:  # noqa: ARG002
        return reverse("home")

    def get_client_ip(self, request: HttpRequest) -> str:
        return client_address(request) or NO_ADDRESS

    def is_safe_url(self, url: str | None) -> bool:
        """Only this very host, not every host the site answers to."""
        return _is_own(self.request, url)

    def post_login(self, request: HttpRequest, user: User, **login: Any) -> HttpResponse:
        """Sessions by single sign-on are short: whoever leaves the company is soon out here."""
        if "sociallogin" in (login["signal_kwargs"] or {}):
            request.session.set_expiry(SSO_SESSION_SECONDS)
        answer: HttpResponse = super().post_login(request, user, **login)
        return answer

    def authenticate(self, request: HttpRequest, **credentials: Any) -> User | None:
        with refuse_too_many_attempts():
            user: User | None = super().authenticate(request, **credentials)
        return user


@never_cache
def sign_in_to_admin(request: HttpRequest, extra_context: Any = None) -> HttpResponse:  # noqa: ARG001
    """Replace the admin's own sign-in by the site's, which leads back to the admin."""
    target = request.GET.get(REDIRECT_FIELD_NAME, "")
    if not _is_own(request, target):
        target = reverse("admin:index")
    if not request.user.is_authenticated:
        query = urlencode({REDIRECT_FIELD_NAME: target})
        return redirect(f"{resolve_url(settings.LOGIN_URL)}?{query}")
    if not request.user.is_staff:
        raise PermissionDenied("Your account has no access to the administration.")
    return HttpResponseRedirect(target)  # never the name of a view


def change_admin_password(request: HttpRequest, extra_context: Any = None) -> HttpResponse:  # noqa: ARG001
    """Replace the admin's own page, which neither limits guesses nor audits the change."""
    return redirect("account_change_password")


def page_not_found(request: HttpRequest) -> HttpResponse:  # noqa: ARG001
    """Replace those of allauth's pages that the site does not use."""
    raise Http404


def _is_own(request: HttpRequest, url: str | None) -> bool:
    hosts = {request.get_host()}
    return url_has_allowed_host_and_scheme(url, hosts, require_https=request.is_secure())
