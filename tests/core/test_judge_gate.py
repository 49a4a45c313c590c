"""The gate halves once for a burst, grows slowly, and says how long it is shut."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from itertools import pairwise

import pytest

from scoring.core.judge.gate import Gate, clock_time
from tests.core.asking import NOON, FakeClock


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


async def _entered(gate: Gate, count: int) -> list[int]:
    return [await gate.enter() for _ in range(count)]


def test_a_burst_of_refusals_halves_the_limit_once(clock: FakeClock) -> None:
    async def story() -> list[float]:
        gate = Gate(32, clock)
        limits = []
        for _ in range(3):
            rounds = await _entered(gate, int(gate.limit))
            for each in rounds:
                gate.press(each)
                gate.leave()
            limits.append(gate.limit)
        return limits

    assert asyncio.run(story()) == [16, 8, 4]


def test_the_limit_never_falls_below_one_call(clock: FakeClock) -> None:
    async def story() -> float:
        gate = Gate(3, clock)
        for _ in range(10):
            gate.press(await gate.enter())
            gate.leave()
        return gate.limit

    assert asyncio.run(story()) == 1


def test_a_round_of_successes_adds_one_place_up_to_the_wanted_number(clock: FakeClock) -> None:
    async def story() -> list[float]:
        gate = Gate(8, clock)
        gate.press(await gate.enter())
        gate.leave()
        limits = [gate.limit]
        for _ in range(7):
            for _ in range(int(gate.limit)):
                gate.grow()
            limits.append(gate.limit)
        return limits

    limits = asyncio.run(story())
    steps = [after - before for before, after in pairwise(limits)]
    assert (limits[0], limits[-1]) == (4, 8)
    assert all(0 <= step <= 1 for step in steps)
    assert all(step > 0.7 for step in steps[:4])


def test_no_more_are_inside_than_the_limit_and_all_get_in(clock: FakeClock) -> None:
    most = 0

    async def visit(gate: Gate) -> None:
        nonlocal most
        in_round = await gate.enter()
        most = max(most, gate.in_flight)
        await asyncio.sleep(0)
        gate.press(in_round) if gate.limit > 2 else gate.grow()
        gate.leave()

    async def story() -> int:
        gate = Gate(5, clock)
        await asyncio.gather(*(visit(gate) for _ in range(200)))
        return gate.in_flight

    assert asyncio.run(story()) == 0
    assert most == 5


def test_who_gives_up_waiting_passes_the_turn_on(clock: FakeClock) -> None:
    async def story() -> bool:
        gate = Gate(1, clock)
        await gate.enter()
        first, second = (asyncio.create_task(gate.enter()) for _ in range(2))
        await asyncio.sleep(0)
        gate.leave()  # the turn is the first's …
        first.cancel()  # … who is called off in the same moment
        await asyncio.wait_for(second, 1)
        return first.cancelled() and gate.in_flight == 1

    assert asyncio.run(story())


def test_the_older_batch_comes_first_then_who_came_first(clock: FakeClock) -> None:
    async def story() -> list[str]:
        gate, entered = Gate(1, clock), []
        await gate.enter()

        async def wait(name: str, rank: int) -> None:
            await gate.enter(rank)
            entered.append(name)
            gate.leave()

        asked = [("new", 2), ("old", 1), ("old, too", 1), ("newest", 3)]
        waiting = [asyncio.create_task(wait(*each)) for each in asked]
        await asyncio.sleep(0)
        gate.leave()
        await asyncio.wait_for(asyncio.gather(*waiting), 1)
        return entered

    assert asyncio.run(story()) == ["old", "old, too", "new", "newest"]


def test_a_pause_stops_everybody_until_its_end(clock: FakeClock) -> None:
    async def story() -> list[float]:
        gate = Gate(4, clock)
        gate.pause(90)
        gate.pause(30)
        entered = []
        for _ in range(3):
            await gate.enter()
            entered.append(clock.monotonic())
        return entered

    assert asyncio.run(story()) == [90, 90, 90]


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
    gate = Gate(4, clock)
    assert gate.standstill == ""
    gate.pause(seconds)
    assert gate.standstill == text
    clock.seconds += seconds
    assert gate.standstill == ""


@pytest.mark.parametrize(
    ("moment", "text"),
    [(NOON, "12:00 UTC"), (NOON + timedelta(seconds=0.1), "12:01 UTC")],
)
def test_a_moment_is_told_to_the_minute_that_is_not_before_it(moment: datetime, text: str) -> None:
    assert clock_time(moment) == text
