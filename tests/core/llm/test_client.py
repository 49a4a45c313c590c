"""The request as the provider documents it, and the reply it gives."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scoring.core.llm.client import request_body
from scoring.core.services import CallFailure, Reply
from tests.stub.wire import Answer, completion, json_answer, unsupported, verdict
from tests.support.judges import Bench, question
from tests.support.tls import self_signed_server


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
    assert isinstance(fault, CallFailure)
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


#: What an endpoint says it used, and the tokens in and out that are believed.
USAGES: list[tuple[object, tuple[int | None, int | None]]] = [
    (None, (None, None)),
    ([], (None, None)),
    ({}, (None, None)),
    ({"prompt_tokens": 7, "completion_tokens": 2}, (7, 2)),
    ({"prompt_tokens": -7, "completion_tokens": -2}, (None, None)),
    ({"prompt_tokens": 0, "completion_tokens": 0}, (None, None)),
    ({"prompt_tokens": 9 * 10**18, "completion_tokens": 9 * 10**18}, (None, None)),
    ({"prompt_tokens": 10**400, "completion_tokens": 3}, (None, 3)),
    ({"prompt_tokens": 1.5, "completion_tokens": "20"}, (None, None)),
    ({"prompt_tokens": True, "completion_tokens": False}, (None, None)),
    ({"prompt_tokens": 100_000_000, "completion_tokens": 100_000_001}, (100_000_000, None)),
]


@pytest.mark.parametrize(("usage", "believed"), USAGES)
def test_impossible_usage_is_none_and_its_cost_an_estimate(
    bench: Bench, usage: object, believed: tuple[int | None, int | None]
) -> None:
    body = json.loads(completion("four").body) | {"usage": usage}
    bench.stub.play("odd", json_answer(body))
    (reply,) = bench.caller(bench.endpoint("odd")).ask([question("12345678")])
    assert isinstance(reply, Reply)
    assert (reply.tokens_in, reply.tokens_out) == believed
    tokens_in, tokens_out = believed
    cost = (2 if tokens_in is None else tokens_in) * 2e-6
    cost += (1 if tokens_out is None else tokens_out) * 10e-6
    if None in believed:
        assert reply.cost_usd is None
        assert reply.estimated_cost_usd == pytest.approx(cost)
    else:
        assert (reply.cost_usd, reply.estimated_cost_usd) == (pytest.approx(cost), None)


def test_no_cost_is_estimated_where_the_price_is_unknown(bench: Bench) -> None:
    body = json.loads(completion("four").body) | {"usage": None}
    bench.stub.play("odd", json_answer(body))
    (reply,) = bench.caller(bench.endpoint("odd", prices={})).ask([question()])
    assert isinstance(reply, Reply)
    assert reply.estimated_cost_usd is None


@pytest.mark.parametrize("code", [-1, 0, 10**18, True, "500", None])
def test_an_error_behind_a_200_needs_a_status_to_have_another_one(
    bench: Bench, code: object
) -> None:
    bench.stub.play("relay", json_answer({"error": {"message": "no", "code": code}}))
    (fault,) = bench.caller(bench.endpoint("relay")).ask([question()])
    assert isinstance(fault, CallFailure)
    assert (fault.code, "(500)" in fault.text) == ("endpoint_failed", True)


@pytest.mark.parametrize("purpose", ["judge", "generate"])
def test_a_second_reply_is_counted(bench: Bench, purpose: str) -> None:
    body = json.loads(completion("one").body)
    bench.stub.play("two", json_answer(body | {"choices": body["choices"] * 2}))
    (reply,) = bench.caller(bench.endpoint("two")).ask([question(purpose=purpose)])
    assert isinstance(reply, Reply)
    assert reply.choice_count == 2
    assert [(key, code) for key, _, code in bench.kept.written] == [(None, "several_verdicts")]


def test_a_certificate_that_nobody_vouches_for_is_named(bench: Bench, tmp_path: Path) -> None:
    with self_signed_server(tmp_path) as host:
        endpoint = bench.endpoint(base_url=f"https://{host}/v1")
        (fault,) = bench.caller(endpoint).ask([question()])
    assert isinstance(fault, CallFailure)
    assert (fault.code, fault.attempts) == ("endpoint_unreachable", 1)
    assert "encrypted connection is not to be trusted (self-signed certificate)" in fault.text
