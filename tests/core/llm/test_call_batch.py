"""Batches: what ends them, what is written, and what a stop leaves."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from typing import Any

import pytest

from scoring.core.llm import call_batch
from scoring.core.llm.judge_client import JudgeClient
from scoring.core.services import Answer as Told
from scoring.core.services import CallFailure, Reply
from tests.stub.wire import Answer, completion, json_answer, rate_limited
from tests.support.judges import Bench, Purse, question, questions
from tests.support.waiting import DEADLINE_SECONDS, wait_until


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (completion("", finish="length"), "reply_truncated"),
        (completion(None, refusal="No."), "refused"),
        (completion(" "), "reply_empty"),
    ],
)
def test_a_useless_reply_is_written_down_and_asked_for_again(
    bench: Bench, answer: Answer, code: str
) -> None:
    bench.stub.play("useless", answer)
    caller = bench.caller(bench.endpoint("useless"))
    caller.ask([question()])
    caller.ask([question()])
    assert [(key, fault) for key, _, fault in bench.kept.written] == [(None, code)] * 2
    assert all(reply.tokens_in == 100 for _, reply, _ in bench.kept.written)


@pytest.mark.parametrize("scenario", ["key-refused", "quota", "model-missing"])
def test_what_no_call_escapes_ends_the_batch(bench: Bench, scenario: str) -> None:
    answers = bench.caller(bench.endpoint(scenario, concurrency=4)).ask(questions(100))
    assert len({each.code for each in answers if isinstance(each, CallFailure)}) == 1
    assert len(bench.stub.asked(scenario)) <= 4
    assert sum(each.attempts for each in answers) == len(bench.stub.asked(scenario))


def test_a_missing_model_stops_only_that_model(bench: Bench) -> None:
    def script(asked: Any) -> Answer:
        is_known = asked.body["model"] == "stub-1"
        return completion("Hi") if is_known else json_answer({"error": "no such model"}, 404)

    bench.stub.play("one-model", script)
    other = [replace(each, model="stub-9") for each in questions(20)]
    answers = bench.caller(bench.endpoint("one-model")).ask([*other, *questions(20)])
    assert [isinstance(each, Reply) for each in answers] == [False] * 20 + [True] * 20


def test_a_spent_budget_ends_the_calls(bench: Bench) -> None:
    purse = Purse(3)
    answers = bench.caller(bench.endpoint("ok"), purse).ask(questions(10))
    faults = [each for each in answers if isinstance(each, CallFailure)]
    assert [each.code for each in faults] == ["budget_reached"] * 7
    assert len(bench.stub.asked("ok")) == 3
    assert purse.under_way == 0


def test_a_rate_limit_slows_all_down_and_loses_nobody(bench: Bench) -> None:
    def script(asked: Any) -> Answer:
        return rate_limited("30") if asked.number in range(5, 13) else completion("Hi")

    bench.stub.play("strained", script)
    endpoint = bench.endpoint("strained", concurrency=8)
    answers = bench.caller(endpoint).ask(questions(16))
    assert all(isinstance(each, Reply) for each in answers)
    assert len(bench.stub.asked("strained")) == 24
    assert sum(each.attempts for each in answers) == 24
    assert bench.pool.client_for(endpoint).limiter.limit < 8
    assert max(bench.clock.slept) == 30


def test_a_place_is_held_until_its_reply_is_kept(bench: Bench) -> None:
    written = threading.Event()
    keep = bench.kept.keep

    def slow(*arguments: Any) -> str:
        written.wait(DEADLINE_SECONDS)
        return keep(*arguments)

    bench.kept.keep = slow  # type: ignore[method-assign]
    caller = bench.caller(bench.endpoint("ok", concurrency=2))
    asking = threading.Thread(target=caller.ask, args=(questions(9),))
    asking.start()
    wait_until(lambda: len(bench.stub.asked("ok")) == 2)
    bench.pool.start(_turns(20)).result(DEADLINE_SECONDS)
    assert len(bench.stub.asked("ok")) == 2  # a kill now repeats two paid calls, not nine
    written.set()
    asking.join(DEADLINE_SECONDS)
    assert len(bench.stub.asked("ok")) == 9


def test_a_stop_wakes_who_waits_for_a_rate_limit(bench: Bench) -> None:
    caller: list[JudgeClient] = []
    told: list[str] = []

    async def endless(seconds: float) -> None:
        told.append(caller[0].stall_reason)
        caller[0].stop()
        await _turns(5)
        raise AssertionError("the stop did not wake the sleeper")

    bench.clock.sleep = endless  # type: ignore[method-assign]
    caller.append(bench.caller(bench.endpoint("rate-limited", concurrency=1)))
    answers = caller[0].ask(questions(3))
    assert {each.code for each in answers if isinstance(each, CallFailure)} == {"cancelled"}
    assert told == ["rate-limited until 12:01 UTC"]


def test_a_reply_that_cannot_be_kept_stops_the_paying_and_is_raised(bench: Bench) -> None:
    def broken(*_: Any) -> str:
        raise OSError("the disk is full")

    bench.kept.keep = broken  # type: ignore[method-assign]
    with pytest.raises(OSError, match="disk is full"):
        bench.caller(bench.endpoint("ok", concurrency=2)).ask(questions(50))
    assert len(bench.stub.asked("ok")) <= 4


async def _turns(count: int) -> None:

    for _ in range(count):
        await asyncio.sleep(0)


def test_a_stop_breaks_off_a_call_that_hangs(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_batch, "STOP_SECONDS", 0.05)
    purse = Purse(9)
    caller = bench.caller(bench.endpoint("hang", timeout_seconds=3600), purse)
    answers: list[Told] = []
    asking = threading.Thread(target=lambda: answers.extend(caller.ask(questions(3))))
    asking.start()
    wait_until(lambda: len(bench.stub.asked("hang")) == 3)
    caller.stop()
    asking.join(DEADLINE_SECONDS)
    assert [each.code for each in answers if isinstance(each, CallFailure)] == ["cancelled"] * 3
    assert purse.under_way == 0


def test_a_stop_waits_for_a_reply_that_is_coming(bench: Bench) -> None:
    """It is paid for, and so it is kept."""
    bench.stub.play("slow", replace(completion("Hi"), latency=0.2))
    caller = bench.caller(bench.endpoint("slow"))
    answers: list[Told] = []
    asking = threading.Thread(target=lambda: answers.extend(caller.ask(questions(3))))
    asking.start()
    wait_until(lambda: len(bench.stub.asked("slow")) == 3)
    caller.stop()
    asking.join(DEADLINE_SECONDS)
    assert [isinstance(each, Reply) for each in answers] == [True] * 3
    assert len(bench.kept.written) == 3
