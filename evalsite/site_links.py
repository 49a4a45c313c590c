"""Whole links into the site, for mails and for people to pass on."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest


def site_link(request: HttpRequest, path: str) -> str:
    """The path under the site's own address, else under that of the request."""
    site: str = settings.EVALSITE_URL
    return f"{site.rstrip('/')}{path}" if site else request.build_absolute_uri(path)
