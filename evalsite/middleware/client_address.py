"""The address a request comes from, seen through the proxies the site trusts."""

from __future__ import annotations

import ipaddress

from django.conf import settings
from django.http import HttpRequest
from django.http.request import split_domain_port


def client_address(request: HttpRequest) -> str:
    """The IP address of the client; "" where the server knows none.

    Each trusted proxy appends the address it was called from to X-Forwarded-For, so the client's
    is as many entries from the end as there are proxies. Entries before it are the client's own
    claim. Without trusted proxies the header is ignored.
    """
    direct = request.META.get("REMOTE_ADDR", "")
    proxies: int = settings.EVALSITE_TRUSTED_PROXIES
    forwarded = request.headers.get("X-Forwarded-For", "").split(",") if proxies else []
    hops = [*forwarded, direct] if forwarded != [""] else [direct]
    return _address(hops[-min(proxies + 1, len(hops))]) or _address(direct)


def _address(text: str) -> str:
    """An address without its port; "" for what is none."""
    host = split_domain_port(text.strip())[0] or text.strip()
    try:
        return str(ipaddress.ip_address(host.strip("[]")))
    except ValueError:
        return ""
