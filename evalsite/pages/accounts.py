"""How people come to have an account: by the set-up link or an invitation, never by signing up."""

from __future__ import annotations

from allauth.account.adapter import DefaultAccountAdapter
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse


class InvitedOnly(DefaultAccountAdapter):  # type: ignore[misc]  # allauth carries no types
    """Closes the public sign-up page."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:  # noqa: ARG002
        return False

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:  # noqa: ARG002
        return reverse("home")


def nothing_here(request: HttpRequest) -> HttpResponse:  # noqa: ARG001
    """In place of allauth's page of several addresses: an account has the one it signs in with."""
    raise Http404
