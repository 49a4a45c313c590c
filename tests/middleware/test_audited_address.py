"""Audit entries tell where a change came from."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from scoring.models import AuditEntry, Team, User
from scoring.models.team.audit_chain import Chain, verify_chain


@pytest.mark.parametrize("address", ["192.0.2.7", "2001:db8::1", ""])
def test_a_change_is_recorded_with_the_clients_address(
    browser_of: Callable[[User], Client], team: Team, alice: User, address: str
) -> None:
    url = reverse("rename_team", args=[team.slug])
    browser_of(alice).post(url, {"name": "Helpdesk"}, REMOTE_ADDR=address)
    assert AuditEntry.objects.get().address == (address or None)
    verify_chain(Chain(str(team.uuid)))


def test_behind_a_proxy_it_is_the_clients_own(
    browser_of: Callable[[User], Client], team: Team, alice: User, settings: Settings
) -> None:
    settings.EVALSITE_TRUSTED_PROXIES = 1
    browser_of(alice).post(
        reverse("rename_team", args=[team.slug]),
        {"name": "Helpdesk"},
        headers={"X-Forwarded-For": "198.51.100.4"},
    )
    assert AuditEntry.objects.get().address == "198.51.100.4"


def test_what_no_request_does_has_none(team: Team, alice: User) -> None:
    AuditEntry.objects.record(team, alice, "team.renamed", team)
    assert AuditEntry.objects.get().address is None
