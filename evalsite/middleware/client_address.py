"""The address a request comes from, seen through the proxies the site trusts."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

from django.conf import settings
from django.http import HttpRequest
from django.http.request import split_domain_port

from evalsite.env import Proxies


def client_address(request: HttpRequest) -> str:
    """The IP address of the client; "" where the server knows none.

    A proxy appends the address it was called from to X-Forwarded-For. The header is read where it
    comes from a trusted proxy: a number of proxies trusts whoever connects from this machine, and
    the client is as many entries from the end; of named proxies, the client is the last entry that
    is none of them. Entries before it are the client's own claim.
    """
    direct = _address(request.META.get("REMOTE_ADDR", ""))
    trusted: Proxies = settings.EVALSITE_TRUSTED_PROXIES
    hops = [hop for hop in request.headers.get("X-Forwarded-For", "").split(",") if hop.strip()]
    if not (trusted and hops and _is_trusted(direct, trusted)):
        return direct
    if isinstance(trusted, int):
        return _address(hops[-min(trusted, len(hops))]) or direct
    return _last_untrusted(direct, hops, trusted)


def _last_untrusted(direct: str, hops: Sequence[str], trusted: Proxies) -> str:
    client = direct
    for hop in reversed(hops):
        address = _address(hop)
        if not address:
            break
        client = address
        if not _is_trusted(address, trusted):
            break
    return client


def _is_trusted(address: str, trusted: Proxies) -> bool:
    if isinstance(trusted, int):
        return not address or ipaddress.ip_address(address).is_loopback  # "": a socket's file
    return bool(address) and any(ipaddress.ip_address(address) in network for network in trusted)


def _address(text: str) -> str:
    """An address without its port and its zone; "" for what is none."""
    host = split_domain_port(text.strip())[0] or text.strip()
    try:
        address = ipaddress.ip_address(host.strip("[]").partition("%")[0])
    except ValueError:
        return ""
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address)
