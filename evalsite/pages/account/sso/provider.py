"""The site's provider of single sign-on, as allauth finds it."""

from __future__ import annotations

from typing import Any

from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.http import HttpRequest
from django.urls import reverse

from evalsite.site_links import site_link


class Client(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]  # allauth carries no types
    """Speaks with the provider; one address leads back, whoever the provider is."""

    def get_callback_url(self, request: HttpRequest, app: Any) -> str:  # noqa: ARG002
        return site_link(request, reverse("sso_callback"))


class Provider(OpenIDConnectProvider):  # type: ignore[misc]
    id = "sso"
    oauth2_adapter_class = Client

    def get_login_url(self, request: HttpRequest, **_: Any) -> str:  # noqa: ARG002
        return reverse("sso")

    def get_callback_url(self) -> str:
        return reverse("sso_callback")


provider_classes = [Provider]
