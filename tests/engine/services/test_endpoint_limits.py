"""Shares of an endpoint's calls, as rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from scoring.core.llm.endpoint import Endpoint
from scoring.core.llm.limit_sharing import EXPIRE_SECONDS, Allowance, Usage
from scoring.engine.jobs import lease
from scoring.engine.services.endpoint_limits import EndpointLimits, delete_unused_limits
from scoring.models import EndpointLimit
from tests.support.concurrency import call_all_at_once

pytestmark = pytest.mark.django_db

ENDPOINT = Endpoint("main", "https://models.example.org/v1", "sk-secret", concurrency=8)

Exchange = Callable[..., Allowance]


@pytest.fixture
def exchange(monkeypatch: pytest.MonkeyPatch) -> Exchange:
    """What a process of this name is allowed."""
    monkeypatch.setattr("scoring.engine.services.endpoint_limits.close_old_connections", int)

    def by(name: str, *usage: float, endpoint: Endpoint = ENDPOINT, caller: int = 0) -> Allowance:
        monkeypatch.setattr(lease, "own_name", lambda: f"{name}:1")
        given = Usage(int(usage[0]), int(usage[1]), *usage[2:])
        return EndpointLimits().exchange(endpoint, caller, given)

    return by


def expire() -> None:
    """Let so much time pass that every share has run out."""
    row = EndpointLimit.objects.get()
    for share in row.shares.values():
        share["expires_at"] -= EXPIRE_SECONDS
    row.save()


def test_one_process_alone_may_have_all(exchange: Exchange) -> None:
    assert exchange("one", 0, 20) == (8, 0.0)


def test_who_comes_later_gets_what_others_give_up(exchange: Exchange) -> None:
    assert exchange("one", 0, 20).calls == 8
    assert exchange("two", 0, 20).calls == 0  # all are taken
    assert exchange("one", 6, 20).calls == 6  # so many are under way
    assert exchange("two", 0, 20).calls == 2
    assert exchange("one", 3, 20).calls == 4
    assert exchange("two", 2, 20).calls == 4


def test_what_one_does_not_want_others_get(exchange: Exchange) -> None:
    assert exchange("one", 0, 2).calls == 2
    assert exchange("two", 0, 20).calls == 6
    assert exchange("one", 0, 0).calls == 0
    assert exchange("two", 6, 20).calls == 8
    assert list(EndpointLimit.objects.get().shares) == ["two:1#0"]


def test_what_a_dead_process_had_is_free_once_it_expires(exchange: Exchange) -> None:
    exchange("one", 8, 20)
    assert exchange("two", 0, 20).calls == 0
    expire()
    assert exchange("two", 0, 20).calls == 8


def test_of_this_machine_it_is_free_at_once(exchange: Exchange) -> None:
    exchange("one", 8, 20)
    row = EndpointLimit.objects.get()
    row.shares = {f"{lease.machine_name()}:999999999#0": row.shares.pop("one:1#0")}
    row.save()
    assert exchange("two", 0, 20).calls == 8


def test_callers_of_one_process_share_as_well(exchange: Exchange) -> None:
    """After a connection was changed, calls as it was before may still be under way."""
    exchange("one", 5, 5, caller=0)
    assert exchange("one", 0, 20, caller=1).calls == 3


def test_a_pause_is_everybodys_until_it_ends(exchange: Exchange) -> None:
    exchange("one", 0, 20, 60.0)
    first = exchange("two", 0, 20).pause_seconds
    assert 0 < first <= 60
    assert exchange("three", 0, 20, 5.0).pause_seconds <= first
    EndpointLimit.objects.update(opens_at=timezone.now() - timedelta(seconds=1))
    assert exchange("two", 0, 20).pause_seconds == 0


@pytest.mark.parametrize(("turn", "has_it"), [(1000, "one"), (1001, "two"), (1002, "one")])
def test_a_single_call_goes_round(
    exchange: Exchange, monkeypatch: pytest.MonkeyPatch, turn: int, has_it: str
) -> None:
    single = replace(ENDPOINT, concurrency=1)
    seconds = timezone.now().timestamp() / (turn + 0.5)  # so many turns are over
    monkeypatch.setattr(f"{EndpointLimits.__module__}.TURN_SECONDS", seconds)
    for _ in range(2):  # what one gives up the other gets in the next exchange
        had = [name for name in ("one", "two") if exchange(name, 0, 5, endpoint=single).calls]
    assert had == [has_it]


@pytest.mark.parametrize(
    "other",
    [
        replace(ENDPOINT, name="other"),
        replace(ENDPOINT, base_url="https://other.example.org/v1"),
        replace(ENDPOINT, api_key="sk-other"),
    ],
)
def test_another_connection_has_its_own_limit(exchange: Exchange, other: Endpoint) -> None:
    exchange("one", 8, 20)
    assert exchange("two", 0, 20, endpoint=other).calls == 8


def test_a_row_tells_nothing_of_the_key(exchange: Exchange) -> None:
    exchange("one", 0, 1)
    row = EndpointLimit.objects.get()
    assert "secret" not in f"{row.key}{row.shares}"
    assert len(row.key) == 64


def test_what_nobody_asks_is_forgotten(exchange: Exchange) -> None:
    exchange("one", 0, 1)
    delete_unused_limits()
    assert EndpointLimit.objects.exists()
    EndpointLimit.objects.update(used_at=timezone.now() - timedelta(days=2))
    delete_unused_limits()
    assert not EndpointLimit.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_processes_that_come_at_once_are_never_allowed_more() -> None:
    def come(caller: int) -> Callable[[], int]:
        return lambda: EndpointLimits().exchange(ENDPOINT, caller, Usage(0, 20)).calls

    allowed = call_all_at_once([come(caller) for caller in range(6)])
    assert sum(allowed) == ENDPOINT.concurrency
    assert len(EndpointLimit.objects.get().shares) >= 1
