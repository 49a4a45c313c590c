"""Batches: what is paid once, what stops the rest, and what a stop leaves."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from scoring.core.judge.caller import Caller
from scoring.core.judge.client import request_body
from scoring.core.judge.keys import reply_key
from scoring.core.services import Fault, Message, Question, Reply
from tests.core.asking import Bench, Purse
from tests.stub.wire import (
    Answer,
    completion,
    json_answer,
    quota,
    rate_limited,
    unsupported,
    verdict,
)


def question(text: str = "Hello", **settings: Any) -> Question:
    return Question("stub-1", (Message("user", text),), **settings)


def questions(count: int) -> list[Question]:
    return [question(f"Hello {number}") for number in range(count)]


def test_answers_come_in_the_order_of_the_questions(bench: Bench) -> None:
    bench.stub.play("echo", lambda asked: completion(asked.user))
    answers = bench.caller(bench.endpoint("echo")).ask(questions(50))
    assert [each.text for each in answers] == [f"Hello {number}" for number in range(50)]


def test_a_reply_tells_tokens_cost_model_and_where_it_is_kept(bench: Bench) -> None:
    bench.stub.play("paid", completion("Hi", tokens=(1_000_000, 100_000), model="stub-1-2026"))
    (reply,) = bench.caller(bench.endpoint("paid")).ask([question()])
    assert isinstance(reply, Reply)
    assert (reply.tokens_in, reply.tokens_out, reply.cost_usd) == (1_000_000, 100_000, 3.0)
    assert (reply.model, reply.ref, reply.attempts, reply.is_cached) == (
        "stub-1-2026",
        "1",
        1,
        False,
    )
    assert reply.latency_ms is not None


def test_equal_questions_are_paid_once(bench: Bench) -> None:
    answers = bench.caller(bench.endpoint("ok")).ask([question(), question(), question(sample=1)])
    assert len(bench.stub.asked("ok")) == 2
    assert [each.is_cached for each in answers] == [False, True, False]
    assert answers[1].cost_usd == 0.0
    assert answers[1].text == answers[0].text


def test_what_is_kept_is_not_asked_again(bench: Bench) -> None:
    caller = bench.caller(bench.endpoint("ok"))
    caller.ask(questions(3))
    caller.ask(questions(5))
    assert len(bench.stub.asked("ok")) == 5


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
    assert len({each.code for each in answers if isinstance(each, Fault)}) == 1
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


def test_a_missing_connection_is_a_fault_and_no_call(bench: Bench) -> None:
    missing = Fault("connection_missing", "there is no connection", attempts=0)
    assert bench.caller(missing).ask(questions(2)) == [missing, missing]
    assert not bench.stub.requests


def test_a_spent_budget_ends_the_calls(bench: Bench) -> None:
    purse = Purse(3)
    answers = bench.caller(bench.endpoint("ok"), purse).ask(questions(10))
    faults = [each for each in answers if isinstance(each, Fault)]
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
    assert bench.switchboard.line(endpoint).gate.limit < 8
    assert max(bench.clock.slept) == 30


def test_no_more_calls_are_under_way_than_the_connection_allows(bench: Bench) -> None:
    bench.stub.latency = 0.005
    purse = Purse(1000)
    bench.caller(bench.endpoint("ok", concurrency=3), purse).ask(questions(30))
    assert purse.most == 3


def test_a_place_is_held_until_its_reply_is_kept(bench: Bench) -> None:
    written = threading.Event()
    keep = bench.kept.keep

    def slow(*arguments: Any) -> str:
        written.wait(5)
        return keep(*arguments)

    bench.kept.keep = slow  # type: ignore[method-assign]
    caller = bench.caller(bench.endpoint("ok", concurrency=2))
    asking = threading.Thread(target=caller.ask, args=(questions(9),))
    asking.start()
    _until(lambda: len(bench.stub.asked("ok")) == 2)
    bench.switchboard.start(_turns(20)).result(5)
    assert len(bench.stub.asked("ok")) == 2  # a kill now repeats two paid calls, not nine
    written.set()
    asking.join(10)
    assert len(bench.stub.asked("ok")) == 9


def test_a_stop_lets_calls_under_way_end_and_begins_no_other(bench: Bench) -> None:
    caller: list[Caller] = []

    def script(asked: Any) -> Answer:
        if asked.number == 3:
            caller[0].stop()
        return completion("Hi")

    bench.stub.play("stopping", script)
    caller.append(bench.caller(bench.endpoint("stopping", concurrency=2)))
    answers = caller[0].ask(questions(20))
    asked = len(bench.stub.asked("stopping"))
    assert asked <= 4
    assert sum(isinstance(each, Reply) for each in answers) == asked
    assert {each.code for each in answers if isinstance(each, Fault)} == {"cancelled"}
    assert len(bench.kept.replies) == asked
    assert {each.code for each in caller[0].ask(questions(30)[20:])} == {"cancelled"}


def test_a_stop_wakes_who_waits_for_a_rate_limit(bench: Bench) -> None:
    caller: list[Caller] = []
    told: list[str] = []

    async def endless(seconds: float) -> None:
        told.append(caller[0].standstill)
        caller[0].stop()
        await _turns(5)
        raise AssertionError("the stop did not wake the sleeper")

    bench.clock.sleep = endless  # type: ignore[method-assign]
    caller.append(bench.caller(bench.endpoint("rate-limited", concurrency=1)))
    answers = caller[0].ask(questions(3))
    assert {each.code for each in answers if isinstance(each, Fault)} == {"cancelled"}
    assert told == ["rate-limited until 12:01 UTC"]


def test_a_reply_that_cannot_be_kept_stops_the_paying_and_is_raised(bench: Bench) -> None:
    def broken(*_: Any) -> str:
        raise OSError("the disk is full")

    bench.kept.keep = broken  # type: ignore[method-assign]
    with pytest.raises(OSError, match="disk is full"):
        bench.caller(bench.endpoint("ok", concurrency=2)).ask(questions(50))
    assert len(bench.stub.asked("ok")) <= 4


def test_many_threads_share_one_client_and_gate(bench: Bench) -> None:
    endpoint = bench.endpoint("ok", concurrency=4)
    purse = Purse(1000)
    caller = bench.caller(endpoint, purse)
    bench.stub.latency = 0.002
    threads = [
        threading.Thread(target=caller.ask, args=([question(f"{n} {m}") for m in range(10)],))
        for n in range(6)
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join(10)
    assert len(bench.stub.asked("ok")) == 60
    assert purse.most == 4


UNKNOWN: list[tuple[str, dict[str, Any], Callable[[dict[str, Any]], bool]]] = [
    ("response_format", {"schema": {"type": "object"}}, lambda body: "response_format" not in body),
    ("temperature", {"parameters": (("temperature", 0),)}, lambda body: "temperature" not in body),
    (
        "max_tokens",
        {"parameters": (("max_tokens", 9),), "purpose": "generate"},
        lambda body: body.get("max_completion_tokens") == 9 and "max_tokens" not in body,
    ),
]


@pytest.mark.parametrize(("name", "settings", "is_right"), UNKNOWN, ids=[row[0] for row in UNKNOWN])
def test_a_parameter_the_model_does_not_know_is_left_out_from_then_on(
    bench: Bench,
    name: str,
    settings: dict[str, Any],
    is_right: Callable[[dict[str, Any]], bool],
) -> None:
    def script(asked: Any) -> Answer:
        return unsupported(name) if name in asked.body else verdict("C")

    bench.stub.play("old", script)
    caller = bench.caller(bench.endpoint("old"))
    (first,) = caller.ask([question("a", **settings)])
    (second,) = caller.ask([question("b", **settings)])
    bodies = [asked.body for asked in bench.stub.asked("old")]
    assert [name in body for body in bodies] == [True, False, False]
    assert all(is_right(body) for body in bodies[1:])
    assert (first.attempts, second.attempts) == (1, 1)
    caller.ask([replace(question("c", **settings), model="stub-2")])
    assert name in bench.stub.asked("old")[3].body  # another model is asked as it should be


def test_a_temperature_somebody_chose_for_making_outputs_is_not_dropped(bench: Bench) -> None:
    made = question(parameters=(("temperature", 0.7),), purpose="generate")
    (fault,) = bench.caller(bench.endpoint("no-temperature")).ask([made])
    assert isinstance(fault, Fault)
    assert fault.code == "bad_request"
    assert "temperature" in fault.text


def test_nothing_of_the_environment_reaches_the_endpoint(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-environment")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-environment")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-environment")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Own: environment\nAuthorization: environment")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    bench.caller(bench.endpoint("ok", api_key="")).ask([question()])
    bench.caller(bench.endpoint("ok")).ask([question("again")])
    first, second = bench.stub.asked("ok")
    assert "environment" not in str(first.headers) + str(second.headers)
    assert "authorization" not in first.headers
    assert second.headers["authorization"] == "Bearer sk-secret-1234"


def test_the_request_is_the_documented_one() -> None:
    schema = {"type": "object"}
    asked = question("Hi", schema=schema, parameters=(("temperature", 0), ("seed", 7)))
    assert request_body(asked) == {
        "model": "stub-1",
        "messages": [{"role": "user", "content": "Hi"}],
        "temperature": 0,
        "seed": 7,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "reply", "strict": True, "schema": schema},
        },
    }


BASE = question(schema={"a": 1}, parameters=(("seed", 1), ("temperature", 0)))


@pytest.mark.parametrize(
    "other",
    [
        replace(BASE, model="stub-2"),
        replace(BASE, messages=(Message("user", "hello"),)),
        replace(BASE, messages=(Message("system", "Hello"),)),
        replace(BASE, schema={"a": 2}),
        replace(BASE, parameters=(("seed", 2), ("temperature", 0))),
        replace(BASE, sample=1),
    ],
)
def test_everything_that_decides_a_reply_is_in_its_key(other: Question) -> None:
    assert reply_key("https://a.example/v1", BASE) != reply_key("https://a.example/v1", other)


def test_nothing_else_is_in_the_key() -> None:
    same = replace(BASE, connection="other", parameters=(("temperature", 0), ("seed", 1)))
    assert reply_key("https://a.example/v1", BASE) == reply_key("https://a.example/v1/", same)
    assert reply_key("https://a.example/v1", BASE) != reply_key("https://b.example/v1", BASE)


def test_a_fault_of_one_batch_does_not_outlast_a_new_caller(bench: Bench) -> None:
    bench.stub.play("topped-up", [quota(), completion("Hi")])
    endpoint = bench.endpoint("topped-up", concurrency=1)
    (fault,) = bench.caller(endpoint).ask([question()])
    (reply,) = bench.caller(endpoint).ask([question()])
    assert (isinstance(fault, Fault), isinstance(reply, Reply)) == (True, True)


async def _turns(count: int) -> None:
    import asyncio

    for _ in range(count):
        await asyncio.sleep(0)


def _until(is_so: Callable[[], bool]) -> None:
    waiting = threading.Event()
    for _ in range(500):
        if is_so():
            return
        waiting.wait(0.01)
    raise AssertionError("it never came about")
