"""A probe of the site's health comes past the proxy and names the machine, not the site."""

from __future__ import annotations

import pytest
from django.test import Client
from pytest_django.fixtures import Settings


@pytest.mark.parametrize("host", ["10.0.0.7:8000", "127.0.0.1:8000", "evil.example", "a b"])
@pytest.mark.parametrize("allowed", ["evals.example.org", ".example.org"])
def test_a_probe_may_name_any_host(
    client: Client, db: None, settings: Settings, host: str, allowed: str
) -> None:
    settings.ALLOWED_HOSTS = [allowed]
    settings.SECURE_SSL_REDIRECT = True
    answer = client.get("/healthz", headers={"Host": host, "X-Forwarded-Host": host})
    assert answer.json()["database"] is True


def test_nothing_else_may(client: Client, db: None, settings: Settings) -> None:
    settings.ALLOWED_HOSTS = ["evals.example.org"]
    client.raise_request_exception = False
    for path in ("/", "/healthz/", "/accounts/login/"):
        assert client.get(path, headers={"Host": "evil.example"}).status_code == 400
