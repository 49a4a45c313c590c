"""The client's address is what the trusted proxies say, and nothing that a client claims."""

from __future__ import annotations

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
        (0, None, "192.0.2.1"),
        (0, "203.0.113.9", "192.0.2.1"),
        (1, None, "192.0.2.1"),
        (1, "", "192.0.2.1"),
        (1, "203.0.113.9", "203.0.113.9"),
        (1, "198.51.100.7, 203.0.113.9", "203.0.113.9"),
        (2, "198.51.100.7, 203.0.113.9", "198.51.100.7"),
        (2, "203.0.113.9", "203.0.113.9"),
        (9, "198.51.100.7, 203.0.113.9", "198.51.100.7"),
        (1, "203.0.113.9:4711", "203.0.113.9"),
        (1, "[2001:db8::1]:80", "2001:db8::1"),
        (1, "2001:db8::1", "2001:db8::1"),
        (1, "unknown", "192.0.2.1"),
    ],
)
def test_the_address_is_as_many_hops_away_as_there_are_proxies(
    rf: RequestFactory, settings: Settings, proxies: int, forwarded: str | None, address: str
) -> None:
    settings.EVALSITE_TRUSTED_PROXIES = proxies
    headers = {} if forwarded is None else {"X-Forwarded-For": forwarded}
    assert client_address(rf.get("/", headers=headers, REMOTE_ADDR="192.0.2.1")) == address


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
        sign_in(alice.email, headers={"X-Forwarded-For": forwarded.format(number)})
    last = sign_in(alice.email, headers={"X-Forwarded-For": forwarded.format(99)})
    assert last.status_code == expected


@pytest.mark.parametrize("forwarded", ["", "unknown", "203.0.113.9:4711", "[2001:db8::1]:80"])
def test_odd_forwarded_addresses_are_no_failure(
    settings: Settings, alice: User, forwarded: str
) -> None:
    settings.EVALSITE_TRUSTED_PROXIES = 1
    assert sign_in(alice.email, PASSWORD, headers={"X-Forwarded-For": forwarded}).status_code == 302
