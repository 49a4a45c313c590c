"""Links name the site as it is known outside, where somebody says how."""

from __future__ import annotations

import pytest
from django.test import RequestFactory
from pytest_django.fixtures import Settings

from evalsite.site_links import site_link


@pytest.mark.parametrize(
    ("site", "link"),
    [
        ("", "http://testserver/a/"),
        ("https://evals.example.org", "https://evals.example.org/a/"),
        ("https://example.org/evals/", "https://example.org/evals/a/"),
    ],
)
def test_a_link_is_whole(settings: Settings, site: str, link: str) -> None:
    settings.EVALSITE_URL = site
    assert site_link(RequestFactory().get("/b/"), "/a/") == link
