"""The limiter halves once for a burst, recovers slowly, and says how long calls pause."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest

from scoring.core.llm.rate_limiter import RateLimiter, backoff_seconds
from tests.support.judges import FakeClock


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


async def _entered(limiter: RateLimiter, count: int) -> list[int]:
    return [await limiter.acquire() for _ in range(count)]


def test_a_burst_of_refusals_halves_the_limit_once(clock: FakeClock) -> None:
    async def story() -> list[float]:
        limiter = RateLimiter(32, clock)
        limits = []
        for _ in range(3):
            rounds = await _entered(limiter, int(limiter.limit))
            for each in rounds:
                limiter.slow_down(each)
                limiter.release()
            limits.append(limiter.limit)
        return limits

    assert asyncio.run(story()) == [16, 8, 4]


def test_the_limit_never_falls_below_one_call(clock: FakeClock) -> None:
    async def story() -> float:
        limiter = RateLimiter(3, clock)
        for _ in range(10):
            limiter.slow_down(await limiter.acquire())
            limiter.release()
        return limiter.limit

    assert asyncio.run(story()) == 1


def test_a_round_of_successes_adds_one_place_up_to_the_wanted_number(clock: FakeClock) -> None:
    async def story() -> list[float]:
        limiter = RateLimiter(8, clock)
        limiter.slow_down(await limiter.acquire())
        limiter.release()
        limits = [limiter.limit]
        for _ in range(7):
            for _ in range(int(limiter.limit)):
                limiter.speed_up()
            limits.append(limiter.limit)
        return limits

    limits = asyncio.run(story())
    steps = [after - before for before, after in pairwise(limits)]
    assert (limits[0], limits[-1]) == (4, 8)
    assert all(0 <= step <= 1 for step in steps)
    assert all(step > 0.7 for step in steps[:4])


def test_no_more_are_inside_than_the_limit_and_all_get_in(clock: FakeClock) -> None:
    most = 0

    async def visit(limiter: RateLimiter) -> None:
        nonlocal most
        in_round = await limiter.acquire()
        most = max(most, limiter.in_flight)
        await asyncio.sleep(0)
        limiter.slow_down(in_round) if limiter.limit > 2 else limiter.speed_up()
        limiter.release()

    async def story() -> int:
        limiter = RateLimiter(5, clock)
        await asyncio.gather(*(visit(limiter) for _ in range(200)))
        return limiter.in_flight

    assert asyncio.run(story()) == 0
    assert most == 5


def test_who_gives_up_waiting_passes_the_turn_on(clock: FakeClock) -> None:
    async def story() -> bool:
        limiter = RateLimiter(1, clock)
        await limiter.acquire()
        first, second = (asyncio.create_task(limiter.acquire()) for _ in range(2))
        await asyncio.sleep(0)
        limiter.release()  # the turn is the first's …
        first.cancel()  # … who is called off in the same moment
        await asyncio.wait_for(second, 1)
        return first.cancelled() and limiter.in_flight == 1

    assert asyncio.run(story())


def test_the_older_batch_comes_first_then_who_came_first(clock: FakeClock) -> None:
    async def story() -> list[str]:
        limiter, entered = RateLimiter(1, clock), []
        await limiter.acquire()

        async def wait(name: str, rank: int) -> None:
            await limiter.acquire(rank)
            entered.append(name)
            limiter.release()

        asked = [("new", 2), ("old", 1), ("old, too", 1), ("newest", 3)]
        waiting = [asyncio.create_task(wait(*each)) for each in asked]
        await asyncio.sleep(0)
        limiter.release()
        await asyncio.wait_for(asyncio.gather(*waiting), 1)
        return entered

    assert asyncio.run(story()) == ["old", "old, too", "new", "newest"]


def test_a_pause_stops_everybody_until_its_end(clock: FakeClock) -> None:
    async def story() -> list[float]:
        limiter = RateLimiter(4, clock)
        limiter.pause(90)
        limiter.pause(30)
        entered = []
        for _ in range(3):
            await limiter.acquire()
            entered.append(clock.monotonic())
        return entered

    assert asyncio.run(story()) == [90, 90, 90]


@pytest.mark.parametrize("attempt", [1, 2, 5])
def test_each_pause_may_be_twice_as_long(attempt: int) -> None:
    pauses = [backoff_seconds(attempt) for _ in range(200)]
    longest = 0.5 * 2 ** (attempt - 1)
    assert longest / 2 <= min(pauses) < max(pauses) <= longest


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (300, "rate-limited until 12:05 UTC"),
        (61, "rate-limited until 12:02 UTC"),
        (1, "rate-limited until 12:01 UTC"),
        (43_200, "rate-limited until 00:00 UTC"),
    ],
)
def test_a_standstill_names_its_end(clock: FakeClock, seconds: float, text: str) -> None:
    limiter = RateLimiter(4, clock)
    assert limiter.stall_reason == ""
    limiter.pause(seconds)
    assert limiter.stall_reason == text
    clock.seconds += seconds
    assert limiter.stall_reason == ""
