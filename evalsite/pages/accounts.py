"""How people come to have an account: by the set-up link or an invitation, never by signing up."""

from __future__ import annotations

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest


class InvitedOnly(DefaultAccountAdapter):  # type: ignore[misc]  # allauth carries no types
    """Closes the public sign-up page."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:  # noqa: ARG002
        return False
