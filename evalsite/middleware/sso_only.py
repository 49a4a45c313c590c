"""Where single sign-on is the only way in, no page takes a password or a passkey."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase

#: Other ways in, and what belongs to them, by the names of their addresses.
OTHER_WAYS: Final = frozenset(
    {
        "account_change_password",
        "account_reset_password",
        "account_reset_password_done",
        "account_reset_password_from_key",
        "account_reset_password_from_key_done",
        "mfa_login_webauthn",
    }
)


class SsoOnly:
    """Middleware: hides the other ways in where there is one alone."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self._get_response(request)

    def process_view(self, request: HttpRequest, *_: Any) -> None:
        sso = settings.EVALSITE_SSO
        if sso is None or not sso.is_only or request.resolver_match is None:
            return
        name = request.resolver_match.url_name
        if name in OTHER_WAYS:
            raise Http404
        if name == "account_login" and request.method == "POST":
            raise PermissionDenied(f"This site lets people in through {sso.name} alone.")
