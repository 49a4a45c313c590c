"""One address leads back from the provider, under the site's own name where it has one."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from tests.support.fixtures.single_sign_on import change_sso
from tests.support.identity_provider import CLIENT_ID, IdentityProvider


def asked(client: Client) -> dict[str, list[str]]:
    """What the browser is sent to the provider with."""
    return parse_qs(urlsplit(client.get(reverse("sso")).headers["Location"]).query)


def test_the_provider_is_asked_as_the_site_is_set_up(
    client: Client, provider: IdentityProvider, settings: Settings
) -> None:
    change_sso(settings, scopes=("openid", "email", "groups"))
    said = asked(client)
    assert said["client_id"] == [CLIENT_ID]
    assert set(said["scope"][0].split()) == {"openid", "email", "groups"}
    assert said["code_challenge_method"] == ["S256"]
    assert said["redirect_uri"] == ["http://testserver/accounts/sso/callback/"]


def test_a_site_with_an_address_of_its_own_is_led_back_to_there(
    client: Client, provider: IdentityProvider, settings: Settings
) -> None:
    settings.EVALSITE_URL = "https://evals.example.org"
    assert asked(client)["redirect_uri"] == ["https://evals.example.org/accounts/sso/callback/"]
