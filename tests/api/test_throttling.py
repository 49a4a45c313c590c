"""Requests that one person makes in a minute, counted in a process or in Redis."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.cache import caches
from django.test import override_settings
from rest_framework.test import APIRequestFactory
from rest_framework.views import APIView

from evalsite import env
from evalsite.api import throttling
from evalsite.api.throttling import RequestThrottle
from scoring.models import User
from tests.support.broker_server import Broker
from tests.support.concurrency import call_at_once
from tests.support.fixtures.brokers import redis

__all__ = ["redis"]

LIMIT = 30


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(RequestThrottle, "get_rate", lambda _: f"{LIMIT}/min")
    monkeypatch.setattr(RequestThrottle, "timer", lambda _: 1_000_025.0)
    monkeypatch.setattr(RequestThrottle, "_redis_rests_until", 0.0)
    caches["requests"].clear()
    yield
    caches["requests"].clear()


def is_allowed(person: int = 1) -> bool:
    request: Any = APIRequestFactory().get("/")
    request.user = User(pk=person)
    return RequestThrottle().allow_request(request, APIView())


def test_each_person_has_as_many_requests_a_minute() -> None:
    assert [is_allowed() for _ in range(LIMIT + 2)] == [True] * LIMIT + [False] * 2
    assert is_allowed(person=2)


def test_the_next_minute_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    while is_allowed():
        pass
    seconds = RequestThrottle().wait()
    assert seconds == 55
    monkeypatch.setattr(RequestThrottle, "timer", lambda _: 1_000_025.0 + seconds)
    assert is_allowed()


@pytest.fixture
def shared(redis: Broker, monkeypatch: pytest.MonkeyPatch) -> Iterator[Broker]:
    """Redis counts requests, and has counted none."""
    monkeypatch.setenv("REDIS_URL", redis.url)
    with override_settings(CACHES=env.read_caches("REDIS_URL")):
        caches["redis"].clear()
        yield redis


class TestRedis:
    def test_all_processes_count_together(self, shared: Broker) -> None:
        """Each thread has caches and connections of its own, as each process has."""
        allowed = call_at_once(lambda: sum(is_allowed() for _ in range(LIMIT)))
        assert sum(allowed) == LIMIT
        caches["requests"].clear()
        assert not is_allowed()

    def test_nothing_stays_there(self, shared: Broker) -> None:
        is_allowed()
        client = caches["redis"]._cache.get_client()
        (key,) = client.keys()
        assert key.startswith(b"evalsite:")
        assert 60 < client.ttl(key) <= 120

    def test_without_it_each_process_counts(
        self, shared: Broker, caplog: pytest.LogCaptureFixture
    ) -> None:
        shared.stop(signal.SIGKILL)
        try:
            assert [is_allowed() for _ in range(LIMIT + 1)] == [True] * LIMIT + [False]
        finally:
            shared.start()
        (told,) = caplog.messages
        assert "not counted in Redis" in told
        assert shared.url.partition("@")[0] not in told
        assert not is_allowed()  # it is left alone for a while
        RequestThrottle._redis_rests_until = 0.0
        assert is_allowed()

    def test_one_that_hangs_is_waited_for_once(self, shared: Broker) -> None:
        assert is_allowed()
        shared.signal(signal.SIGSTOP)
        try:
            began = time.monotonic()
            assert is_allowed()
            rests_until = RequestThrottle._redis_rests_until
            assert is_allowed()
        finally:
            shared.signal(signal.SIGCONT)
        assert rests_until > began + throttling.RETRY_SECONDS
        assert RequestThrottle._redis_rests_until == rests_until
