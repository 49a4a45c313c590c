"""One client for each endpoint, as long as it is used."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scoring.core.llm import client_pool
from tests.support.judges import Bench
from tests.support.waiting import DEADLINE_SECONDS


def test_an_endpoint_has_one_client_until_its_settings_change(bench: Bench) -> None:
    endpoint = bench.endpoint()
    first = bench.pool.client_for(endpoint)
    assert bench.pool.client_for(replace(endpoint)) is first
    assert bench.pool.client_for(replace(endpoint, api_key="sk-new")) is not first


def test_the_client_that_was_idle_longest_makes_room(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_pool, "MAX_CLIENTS", 2)
    busy, old, new = (bench.endpoint(base_url=f"https://{n}.example.org") for n in range(3))

    async def fill() -> list[bool]:
        await bench.pool.client_for(busy).limiter.acquire()
        clients = [bench.pool.client_for(endpoint) for endpoint in (busy, old, new)]
        return [bench.pool.client_for(busy) is clients[0], bench.pool.client_for(old) is clients[1]]

    assert bench.pool.start(fill()).result(DEADLINE_SECONDS) == [True, False]


def test_a_client_is_added_where_all_others_are_busy(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_pool, "MAX_CLIENTS", 1)

    async def fill() -> bool:
        await bench.pool.client_for(bench.endpoint()).limiter.acquire()
        other = bench.endpoint(base_url="https://other.example.org")
        return bench.pool.client_for(other) is bench.pool.client_for(other)

    assert bench.pool.start(fill()).result(DEADLINE_SECONDS)


def test_a_process_has_one_pool_and_a_forked_child_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = client_pool.shared_pool()
    assert client_pool.shared_pool() is pool
    monkeypatch.setattr(pool, "pid", pool.pid + 1)
    child = client_pool.shared_pool()
    assert child is not pool
    pool.close()
