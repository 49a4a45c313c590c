"""The sign-in page, with whatever ways in the site has."""

from __future__ import annotations

from typing import Any

from allauth.account.views import LoginView
from django.conf import settings


class SignIn(LoginView):  # type: ignore[misc]  # allauth carries no types
    def get_context_data(self, **context: Any) -> dict[str, Any]:
        found: dict[str, Any] = super().get_context_data(**context)
        return found | {"sso": settings.EVALSITE_SSO}
