"""The sign-in page names the ways in that the site has."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from evalsite.env import SingleSignOn
from tests.support.fixtures.single_sign_on import set_sso


@pytest.mark.django_db
def test_single_sign_on_stands_beside_the_password(client: Client, settings: Settings) -> None:
    url = reverse("account_login")
    assert "Sign in with Example ID" not in client.get(url).text
    set_sso(settings, SingleSignOn("https://id.example", "evalsite", "", "Example ID"))
    page = client.get(url).text
    assert "Sign in with Example ID" in page
    assert f'href="{reverse("sso")}"' in page
    assert 'type="password"' in page
