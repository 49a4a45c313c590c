"""Calls of an endpoint, shared out to several processes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.llm import client_pool, limit_sharing
from scoring.core.llm.client_pool import ClientPool
from scoring.core.llm.endpoint import Endpoint
from scoring.core.llm.limit_sharing import (
    EXPIRE_SECONDS,
    Allowance,
    Share,
    Usage,
    allow_calls,
    divide_calls,
)
from scoring.core.llm.rate_limiter import TAKEN
from tests.support.judges import FakeClock
from tests.support.waiting import DEADLINE_SECONDS, wait_until

ENDPOINT = Endpoint("main", "https://models.example.org/v1", concurrency=4)
OTHER = replace(ENDPOINT, name="other")


@pytest.mark.parametrize(
    ("calls", "demands", "shares"),
    [
        (8, {"a": 8}, {"a": 8}),
        (8, {"a": 8, "b": 8}, {"a": 4, "b": 4}),
        (8, {"a": 1, "b": 8}, {"a": 1, "b": 7}),
        (8, {"a": 0, "b": 3}, {"a": 0, "b": 3}),
        (7, {"a": 9, "b": 9, "c": 9}, {"a": 3, "b": 2, "c": 2}),
        (2, {"a": 9, "b": 9, "c": 9}, {"a": 1, "b": 1, "c": 0}),
        (8, {}, {}),
        (0, {"a": 1}, {"a": 0}),
    ],
)
def test_calls_are_divided_by_what_is_wanted(
    calls: int, demands: dict[str, int], shares: dict[str, int]
) -> None:
    assert divide_calls(calls, demands) == shares


def test_what_cannot_be_divided_goes_round() -> None:
    demands = {"a": 5, "b": 5, "c": 5}
    had = [name for turn in range(3) for name, n in divide_calls(1, demands, turn).items() if n]
    assert had == ["a", "b", "c"]


@given(
    calls=st.integers(0, 300),
    demands=st.dictionaries(st.text("abcdef", max_size=3), st.integers(0, 300), max_size=9),
    turn=st.integers(0, 10**9),
)
def test_nothing_is_left_while_it_is_wanted(calls: int, demands: dict[str, int], turn: int) -> None:
    shares = divide_calls(calls, demands, turn)
    assert sum(shares.values()) == min(calls, sum(demands.values()))
    assert all(0 <= shares[name] <= demands[name] for name in demands)
    wanting = [shares[name] for name in demands if shares[name] < demands[name]]
    if wanting:  # who wants more has no less than anybody, but for the rest of the division
        assert max(shares.values()) <= min(wanting) + 1


@given(
    concurrency=st.integers(1, 16),
    steps=st.lists(
        st.tuples(st.sampled_from("abcd"), st.integers(0, 20), st.integers(0, 20)), max_size=60
    ),
)
def test_all_together_are_never_allowed_more_than_the_endpoint_takes(
    concurrency: int, steps: list[tuple[str, int, int]]
) -> None:
    """Each step is one process that has begun or ended calls as it may, and says so."""
    shares: dict[str, Share] = {}
    for turn, (name, demand, begun) in enumerate(steps):
        in_flight = min(demand, begun, shares[name].allowed if name in shares else 0)
        others = {other: share for other, share in shares.items() if other != name}
        allowed = allow_calls(concurrency, others, name, Usage(in_flight, demand), turn)
        assert allowed >= in_flight
        shares[name] = Share(demand, allowed)
        assert sum(share.allowed for share in shares.values()) <= concurrency


@pytest.mark.parametrize("turn", range(6))
def test_all_agree_whose_turn_it_is(turn: int) -> None:
    wanting = {name: Share(5, 0) for name in "abc"}
    got = []
    for name in "abc":
        others = {other: share for other, share in wanting.items() if other != name}
        if allow_calls(1, others, name, Usage(0, 5), turn):
            got.append(name)
    assert got == ["abc"[turn % 3]]


class Store:
    """A store that allows what the test says, and remembers what it was told."""

    def __init__(self) -> None:
        self.calls, self.pause_seconds = 2, 0.0
        self.told: list[tuple[int, Usage]] = []
        self.fault: Exception | None = None

    def exchange(self, endpoint: Endpoint, caller: int, usage: Usage) -> Allowance:
        assert endpoint in {ENDPOINT, OTHER}
        self.told.append((caller, usage))
        if self.fault:
            raise self.fault
        return Allowance(self.calls, self.pause_seconds)


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def pool(store: Store, clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> Iterator[ClientPool]:
    monkeypatch.setattr(limit_sharing, "EXCHANGE_SECONDS", 0.02)
    pool = ClientPool(clock, store)
    yield pool
    close(pool)


def begin_calls(pool: ClientPool, count: int, endpoint: Endpoint = ENDPOINT) -> Callable[[], int]:
    """Callers who keep what they get; returns how many have got it so far."""
    limiter = pool.start(client_of(pool, endpoint)).result(DEADLINE_SECONDS).limiter

    async def begin() -> None:
        for _ in range(count):
            callers.add(asyncio.create_task(limiter.acquire(), name="caller"))

    callers: set[asyncio.Task[int]] = set()
    pool.start(begin()).result(DEADLINE_SECONDS)
    return lambda: limiter.in_flight


def close(pool: ClientPool) -> None:
    """Close it after its callers have given up."""

    async def give_up() -> None:
        others = [task for task in asyncio.all_tasks() if task.get_name() == "caller"]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    pool.start(give_up()).result(DEADLINE_SECONDS)
    pool.close()


async def client_of(pool: ClientPool, endpoint: Endpoint = ENDPOINT) -> client_pool.PooledClient:
    return pool.client_for(endpoint)


def test_as_many_calls_begin_as_are_allowed(pool: ClientPool, store: Store) -> None:
    in_flight = begin_calls(pool, 4)
    wait_until(lambda: in_flight() == 2)
    store.calls = 3
    wait_until(lambda: in_flight() == 3)
    assert store.told[0] == (0, Usage(0, 4))
    assert store.told[-1][1] in {Usage(2, 4), Usage(3, 4)}


def test_a_first_call_does_not_wait_for_the_next_exchange(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limit_sharing, "EXCHANGE_SECONDS", DEADLINE_SECONDS)
    pool = ClientPool(None, store)
    in_flight = begin_calls(pool, 1)
    wait_until(lambda: in_flight() == 1)
    close(pool)


def test_who_has_no_calls_any_more_says_it_once(pool: ClientPool, store: Store) -> None:
    in_flight = begin_calls(pool, 1)
    wait_until(lambda: in_flight() == 1)
    store.calls = 0

    async def end() -> None:
        pool.client_for(ENDPOINT).limiter.release()

    pool.start(end()).result(DEADLINE_SECONDS)
    wait_until(lambda: store.told[-1][1] == Usage(0, 0))
    said = len(store.told)
    begin_calls(pool, 1, OTHER)
    wait_until(lambda: len(store.told) >= said + 5)
    assert {caller for caller, _ in store.told[said:]} == {1}  # the other one, round after round


def test_a_pause_of_another_process_is_kept(
    pool: ClientPool, store: Store, clock: FakeClock
) -> None:
    store.pause_seconds = 90
    in_flight = begin_calls(pool, 1)
    wait_until(lambda: in_flight() == 1)
    assert clock.seconds >= 90


def test_who_gets_nothing_says_why(pool: ClientPool, store: Store) -> None:
    store.calls = 0
    begin_calls(pool, 1)
    limiter = pool.start(client_of(pool)).result(DEADLINE_SECONDS).limiter
    assert limiter.stall_reason == ""  # until others have said so
    wait_until(lambda: limiter.stall_reason == TAKEN)
    store.calls = 1
    wait_until(lambda: limiter.stall_reason == "")


def test_while_the_store_is_out_of_reach_the_last_word_counts_for_a_while(
    pool: ClientPool, store: Store, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    in_flight = begin_calls(pool, 1)
    wait_until(lambda: in_flight() == 1)
    limiter = pool.start(client_of(pool)).result(DEADLINE_SECONDS).limiter
    store.fault = ConnectionError("the server is gone")
    said = len(store.told)
    wait_until(lambda: len(store.told) > said + 2)
    wait_until(lambda: limiter.allowed == 2)
    clock.seconds += EXPIRE_SECONDS
    wait_until(lambda: limiter.allowed == 0)
    assert "calls of main are not shared out: the server is gone" in caplog.text
    store.fault = None
    wait_until(lambda: limiter.allowed == 2)


def test_a_pool_of_one_process_alone_asks_nobody() -> None:
    pool = ClientPool()
    in_flight = begin_calls(pool, 5)
    wait_until(lambda: in_flight() == ENDPOINT.concurrency)
    close(pool)


def test_the_pool_of_the_process_shares_what_it_was_told_to(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_pool, "_shared", [])
    monkeypatch.setattr(client_pool, "_limits", [])
    client_pool.share_limits(store)
    pool = client_pool.shared_pool()
    in_flight = begin_calls(pool, 4)
    wait_until(lambda: in_flight() == 2)
    close(pool)


def test_a_caller_who_gives_up_wants_nothing(clock: FakeClock) -> None:
    async def story() -> tuple[int, int]:
        limiter = limit_sharing.RateLimiter(1, clock)
        limiter.allow(0)
        waiting = asyncio.create_task(limiter.acquire())
        await asyncio.sleep(0)
        before = limiter.demand
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        return before, limiter.demand

    assert asyncio.run(story()) == (1, 0)
