"""Questions asked at once: what is paid once, and how a stop answers the rest."""

from __future__ import annotations

import threading
from typing import Any

from scoring.core.llm.judge_client import JudgeClient
from scoring.core.services import CallFailure, Reply
from tests.stub.wire import Answer, completion, quota
from tests.support.judges import Bench, Purse, question, questions
from tests.support.waiting import DEADLINE_SECONDS


def test_answers_come_in_the_order_of_the_questions(bench: Bench) -> None:
    bench.stub.play("echo", lambda asked: completion(asked.user))
    answers = bench.caller(bench.endpoint("echo")).ask(questions(50))
    assert [each.text for each in answers] == [f"Hello {number}" for number in range(50)]


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


def test_a_missing_connection_is_a_fault_and_no_call(bench: Bench) -> None:
    missing = CallFailure("connection_missing", "there is no connection", attempts=0)
    assert bench.caller(missing).ask(questions(2)) == [missing, missing]
    assert not bench.stub.requests


def test_a_stop_lets_calls_under_way_end_and_begins_no_other(bench: Bench) -> None:
    caller: list[JudgeClient] = []

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
    assert {each.code for each in answers if isinstance(each, CallFailure)} == {"cancelled"}
    assert len(bench.kept.replies) == asked
    assert {each.code for each in caller[0].ask(questions(30)[20:])} == {"cancelled"}


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
        each.join(DEADLINE_SECONDS)
    assert len(bench.stub.asked("ok")) == 60
    assert purse.most == 4


def test_a_fault_of_one_batch_does_not_outlast_a_new_caller(bench: Bench) -> None:
    bench.stub.play("topped-up", [quota(), completion("Hi")])
    endpoint = bench.endpoint("topped-up", concurrency=1)
    (fault,) = bench.caller(endpoint).ask([question()])
    (reply,) = bench.caller(endpoint).ask([question()])
    assert (isinstance(fault, CallFailure), isinstance(reply, Reply)) == (True, True)
