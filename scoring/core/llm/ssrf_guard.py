"""The addresses a connection may lead to; a URL cannot make the site call its own network.

`check_url` checks the URL as written, when it is saved. `resolve_target` checks the addresses of a
name when the connection is made, and the client connects to what it returns: DNS rebinding gains
nothing. Hosts the operator lists are allowed.

An entry of that list is `host`, `host:port`, an address (`[::1]:8000` with a port) or a network
(`10.1.0.0/16`).
"""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from functools import lru_cache
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from typing import Final, NamedTuple
from urllib.parse import SplitResult, urlsplit

MAX_URL_CHARS: Final = 500
PORTS: Final = {"http": 80, "https": 443}

Ip = IPv4Address | IPv6Address
Lookup = Callable[[str, int], Awaitable[Sequence[str]]]


class GuardError(Exception):
    """Why the guard let nothing through; `code` is that of the fault a judge's result bears."""

    code = "endpoint_unreachable"

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class RefusedError(GuardError):
    """A URL or an address that may not be called.

    `allow` is the entry of the operator's list that would let it through, "" where none would.
    """

    def __init__(self, text: str, allow: str = "") -> None:
        super().__init__(text)
        self.allow = allow


class Target(NamedTuple):
    """The host of a URL as it is looked up, IPv6 without brackets."""

    scheme: str
    host: str
    port: int

    @property
    def entry(self) -> str:
        """How the operator's list would name it."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def check_url(url: str, allowed_hosts: Iterable[str] = (), *, is_base: bool = True) -> Target:
    """What the URL leads to. Raises RefusedError; asks no name server.

    A base URL, to which paths are added, has no query.
    """
    target = _target(_split(url, is_base=is_base))
    if _is_listed(target.host, target.port, frozenset(allowed_hosts)):
        return target
    if _literal(target.host):
        _refuse_address(target, target.host, frozenset())
    elif "." not in target.host or target.host.endswith(INNER_NAMES):
        raise RefusedError(f"{target.host} is a name of the local network.", target.entry)
    if target.scheme == "http":
        raise RefusedError(
            "Use https: over http the key and the texts go unencrypted.", target.entry
        )
    return target


async def lookup_addresses(host: str, port: int) -> Sequence[str]:
    """The addresses of a name, in the resolver's order."""
    loop = asyncio.get_running_loop()
    entries = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in entries))


async def resolve_target(
    host: str, port: int, allowed_hosts: Iterable[str] = (), lookup: Lookup = lookup_addresses
) -> list[str]:
    """The addresses to connect to. Raises RefusedError when any of them is not allowed.

    Raises OSError when the name has no address.
    """
    allowed = frozenset(allowed_hosts)
    addresses = [host] if _literal(host) else await lookup(host, port)
    if not addresses:
        raise OSError(f"{host} has no address")
    if not _is_listed(host, port, allowed):
        for address in addresses:
            _refuse_address(Target("", host, port), address, allowed)
    return list(addresses)


def _split(url: str, *, is_base: bool) -> SplitResult:
    """The parts of a URL. Refuses whatever two parsers could read differently."""
    if len(url) > MAX_URL_CHARS:
        raise RefusedError(f"The URL is longer than {MAX_URL_CHARS} characters.")
    if not url.isascii():
        raise RefusedError(
            "Write the URL in plain ASCII; a name in other letters begins with xn--."
        )
    if re.search(r"[\s\\\x00-\x1f\x7f]", url):
        raise RefusedError("The URL has a space, a backslash or a control character in it.")
    try:
        parts = urlsplit(url)
    except ValueError:
        raise RefusedError(
            "This is no URL; it should look like https://api.openai.com/v1."
        ) from None
    if parts.scheme not in PORTS or not url[len(parts.scheme) :].startswith("://"):
        raise RefusedError("The URL has to begin with https:// (or http:// for a listed host).")
    if "@" in parts.netloc:
        raise RefusedError(
            "The URL holds a user name or password. Leave it out; the key has its field."
        )
    if is_base and ("?" in url or "#" in url):
        raise RefusedError("The base URL ends with its path: leave out ? and #.")
    if "#" in url:
        raise RefusedError("What follows # is never sent: leave it out.")
    return parts


def _target(parts: SplitResult) -> Target:
    try:
        port = 0 if parts.netloc.endswith(":") else parts.port
    except ValueError:
        port = 0
    if port == 0:
        raise RefusedError("The port is a number from 1 to 65535.")
    host = (parts.hostname or "").lower()
    _check_spelling(host, is_bracketed=parts.netloc.startswith("["))
    return Target(parts.scheme, host, port or PORTS[parts.scheme])


def _check_spelling(host: str, *, is_bracketed: bool) -> None:
    """Only one spelling of each host: one resolver's odd name is another's 127.0.0.1."""
    if not host:
        raise RefusedError("The URL names no host.")
    literal = _literal(host)
    if is_bracketed:
        if not isinstance(literal, IPv6Address) or literal.scope_id:
            raise RefusedError(f"[{host}] is no IPv6 address without a zone.")
        if _embedded(literal):
            raise RefusedError("Write an IPv4 address as four plain numbers, like 192.0.2.10.")
    if literal:
        return
    labels = host.split(".")
    if labels[-1] == "":
        raise RefusedError("Write the host without the dot at its end.")
    if re.fullmatch(r"\d+|0x[0-9a-f]*", labels[-1]):
        raise RefusedError("Write an IPv4 address as four plain numbers, like 192.0.2.10.")
    if len(host) > 253 or not all(re.fullmatch(_LABEL, label) for label in labels):
        raise RefusedError(f"{host} is no host name.")


_LABEL = r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?"


#: Ends of names that are never public (RFC 6761, 6762, 8375; .internal is reserved by ICANN).
INNER_NAMES: Final = (
    ".localhost",
    ".local",
    ".localdomain",
    ".internal",
    ".intranet",
    ".lan",
    ".home",
    ".corp",
    ".home.arpa",
    ".in-addr.arpa",
    ".ip6.arpa",
)

#: Not public, although `is_global` says so on some versions of Python.
NOT_PUBLIC: Final = [
    ip_network(text)
    for text in (
        "0.0.0.0/8",
        "100.64.0.0/10",  # carrier-grade NAT, and a metadata address in it
        "168.63.129.16/32",  # a cloud's host agent
        "192.0.0.0/24",
        "192.88.99.0/24",
        "224.0.0.0/3",
        "2001::/23",
        "2001:db8::/32",
        "3fff::/20",
    )
]
PUBLIC_IPV6: Final = ip_network("2000::/3")
NAT64: Final = ip_network("64:ff9b::/96")


def _refuse_address(target: Target, address: str, allowed: frozenset[str]) -> None:
    ip = ip_address(address.partition("%")[0])
    if _is_public(ip) or _is_listed(address, target.port, allowed):
        return
    where = "" if target.host == address else f"{target.host} leads to "
    raise RefusedError(f"{where}{address}, an address of the local network.", target.entry)


def _is_public(ip: Ip) -> bool:
    if inner := _embedded(ip):
        return _is_public(inner)
    if ip.version == 6 and ip not in PUBLIC_IPV6:
        return False
    return ip.is_global and not ip.is_multicast and not any(ip in net for net in NOT_PUBLIC)


def _embedded(ip: Ip) -> IPv4Address | None:
    """The IPv4 address an IPv6 one stands for: mapped, 6to4 or NAT64."""
    if not isinstance(ip, IPv6Address):
        return None
    if ip in NAT64:
        return IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip.ipv4_mapped or ip.sixtofour


def _literal(host: str) -> Ip | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


class AllowedHost(NamedTuple):
    """One entry of the operator's list, read; `port` is None for every port."""

    name: str
    network: IPv4Network | IPv6Network | None
    port: int | None


def _is_listed(host: str, port: int, allowed: frozenset[str]) -> bool:
    literal = _literal(host.partition("%")[0])
    for entry in _entries(allowed):
        if entry.port not in (None, port):
            continue
        if entry.name == host or (literal and entry.network and literal in entry.network):
            return True
    return False


@lru_cache(maxsize=64)
def _entries(allowed: frozenset[str]) -> tuple[AllowedHost, ...]:
    entries = []
    for text in allowed:
        with suppress(ValueError):  # an invalid entry allows nothing; `manage.py check` reports it
            entries.append(read_allowed_host(text))
    return tuple(entries)


def read_allowed_host(text: str) -> AllowedHost:
    """An entry of the operator's list. Raises ValueError when it is none."""
    text = text.strip().lower()
    if "/" in text:
        return AllowedHost("", ip_network(text), None)
    match = re.fullmatch(r"\[(?P<v6>[^]]+)\](:(?P<p6>\d+))?|(?P<host>[^:]+)(:(?P<p>\d+))?", text)
    if match is None:
        return AllowedHost("", ip_network(text), None)  # an IPv6 address without brackets
    host, digits = match["v6"] or match["host"], match["p6"] or match["p"]
    port = int(digits) if digits else None
    if literal := _literal(host):
        return AllowedHost("", ip_network(literal), port)
    if not all(re.fullmatch(_LABEL, label) for label in host.split(".")):
        raise ValueError(f"{host!r} is no host name, address or network")
    return AllowedHost(host, None, port)
