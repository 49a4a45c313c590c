"""The client's address is what the trusted proxies say, and nothing that a client claims."""

from __future__ import annotations

from ipaddress import ip_network

import pytest
from django.test import RequestFactory
from pytest_django.fixtures import Settings

from evalsite.middleware.client_address import client_address
from scoring.models import User
from scoring.models.team.attempt_counter import MAX_PER_ACCOUNT
from tests.conftest import PASSWORD
from tests.pages.account.steps import sign_in


@pytest.mark.parametrize(
    ("proxies", "forwarded", "address"),
    [
        (0, None, "127.0.0.1"),
        (0, "203.0.113.9", "127.0.0.1"),
        (1, None, "127.0.0.1"),
        (1, "", "127.0.0.1"),
        (1, "203.0.113.9", "203.0.113.9"),
        (1, "198.51.100.7, 203.0.113.9", "203.0.113.9"),
        (2, "198.51.100.7, 203.0.113.9", "198.51.100.7"),
        (2, "203.0.113.9", "203.0.113.9"),
        (9, "198.51.100.7, 203.0.113.9", "198.51.100.7"),
        (1, "203.0.113.9:4711", "203.0.113.9"),
        (1, "[2001:db8::1]:80", "2001:db8::1"),
        (1, "fe80::1%eth0", "fe80::1"),
        (1, "2001:db8::1", "2001:db8::1"),
        (1, "unknown", "127.0.0.1"),
    ],
)
def test_the_address_is_as_many_hops_away_as_there_are_proxies(
    rf: RequestFactory, settings: Settings, proxies: int, forwarded: str | None, address: str
) -> None:
    settings.EVALSITE_TRUSTED_PROXIES = proxies
    headers = {} if forwarded is None else {"X-Forwarded-For": forwarded}
    assert client_address(rf.get("/", headers=headers, REMOTE_ADDR="127.0.0.1")) == address


@pytest.mark.parametrize(
    ("direct", "forwarded", "address"),
    [
        ("10.0.0.5", None, "10.0.0.5"),
        ("10.0.0.5", "203.0.113.9", "203.0.113.9"),
        ("10.0.0.5", "198.51.100.7, 203.0.113.9", "203.0.113.9"),
        ("10.0.0.5", "203.0.113.9, 172.18.3.4", "203.0.113.9"),
        ("10.0.0.5", "172.18.9.9, 172.18.3.4", "172.18.9.9"),
        ("10.0.0.5", "203.0.113.9, unknown", "10.0.0.5"),
        ("10.0.0.5", "203.0.113.9, unknown, 172.18.3.4", "172.18.3.4"),
        ("::ffff:10.0.0.5", "203.0.113.9", "203.0.113.9"),
        ("10.0.0.6", "203.0.113.9", "10.0.0.6"),
        ("127.0.0.1", "203.0.113.9", "127.0.0.1"),
        ("", "203.0.113.9", ""),
    ],
)
def test_named_proxies_are_believed_from_wherever_they_are(
    rf: RequestFactory, settings: Settings, direct: str, forwarded: str | None, address: str
) -> None:
    settings.EVALSITE_TRUSTED_PROXIES = (ip_network("10.0.0.5"), ip_network("172.18.0.0/16"))
    headers = {} if forwarded is None else {"X-Forwarded-For": forwarded}
    assert client_address(rf.get("/", headers=headers, REMOTE_ADDR=direct)) == address


@pytest.mark.parametrize(
    ("direct", "is_believed"),
    [
        ("127.0.0.1", True),
        ("::1", True),
        ("", True),  # through a socket's file
        ("::ffff:127.0.0.1", True),
        ("10.0.0.5", False),
        ("192.0.2.1", False),
    ],
)
def test_a_number_of_proxies_believes_this_machine_alone(
    rf: RequestFactory, settings: Settings, direct: str, is_believed: bool
) -> None:
    settings.EVALSITE_TRUSTED_PROXIES = 1
    headers = {"X-Forwarded-For": "203.0.113.9"}
    told = client_address(rf.get("/", headers=headers, REMOTE_ADDR=direct))
    assert (told == "203.0.113.9") is is_believed


def test_a_server_that_knows_no_address_says_none(rf: RequestFactory) -> None:
    assert client_address(rf.get("/", REMOTE_ADDR="")) == ""


@pytest.mark.parametrize(
    ("proxies", "forwarded", "expected"),
    [
        (0, "203.0.113.{}", 429),  # anybody may send the header
        (1, "203.0.113.{}", 200),  # the proxy's word
        (1, "203.0.113.{}, 198.51.100.7", 429),  # the client's word, and then the proxy's
        (2, "198.51.100.7, 203.0.113.{}", 429),
        (2, "203.0.113.{}, 198.51.100.7", 200),
    ],
)
def test_only_trusted_proxies_name_the_address(
    settings: Settings, alice: User, proxies: int, forwarded: str, expected: int
) -> None:
    settings.EVALSITE_TRUSTED_PROXIES = proxies
    for number in range(MAX_PER_ACCOUNT):
        sign_in(alice.email, ip="127.0.0.1", headers={"X-Forwarded-For": forwarded.format(number)})
    last = sign_in(alice.email, ip="127.0.0.1", headers={"X-Forwarded-For": forwarded.format(99)})
    assert last.status_code == expected


@pytest.mark.parametrize("forwarded", ["", "unknown", "203.0.113.9:4711", "[2001:db8::1]:80"])
def test_odd_forwarded_addresses_are_no_failure(
    settings: Settings, alice: User, forwarded: str
) -> None:
    settings.EVALSITE_TRUSTED_PROXIES = 1
    assert sign_in(alice.email, PASSWORD, headers={"X-Forwarded-For": forwarded}).status_code == 302
