"""Tests of connections, as jobs that are run at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pytest_django.fixtures import Settings

from scoring.engine.jobs import job_queue
from scoring.engine.tryout import connection_test
from scoring.models import CallPurpose, Connection, Job, JobKind, JobState, ModelCall, Team, User
from tests.stub import wire
from tests.stub.scenarios import RIGHT_KEY
from tests.stub.server import Stub, closed_port
from tests.support.tls import self_signed_server

MODELS = [{"name": "stub-1", "usd_per_million_in": 1.0, "usd_per_million_out": 5.0}]


def connected(team: Team, url: str, key: str = RIGHT_KEY, models: Any = MODELS) -> Connection:
    return Connection.objects.define(team, "own", url, key=key, offered=models, by=None)


def everywhere(stub: Stub, name: str, answer: wire.Answer) -> None:
    """The stub's scenarios answer GET /models as they should; this one answers it like the rest."""
    stub._scripts[name] = lambda _: answer


def asked(team: Team, request: Any, kind: JobKind = JobKind.TEST_CONNECTION) -> Job:
    job = job_queue.enqueue_once(kind, team, None, request)
    job_queue.run_job(job)
    job.refresh_from_db()
    return job


def told_of(row: Connection) -> dict[str, Any]:
    job = asked(row.team, {"connection": str(row.uuid)})
    assert (job.state, job.problem) == (JobState.DONE, "")
    return dict(job.answer)


def test_a_connection_that_works_says_so(team: Team, stub: Stub) -> None:
    answer = told_of(connected(team, stub.url()))
    assert (answer["is_ok"], answer["model"]) == (True, "stub-1")
    assert answer["text"] == "Paris is the capital of France."
    assert 0 < answer["latency_ms"] < 10_000
    (request,) = stub.requests
    assert request.body["max_tokens"] == connection_test.REPLY_TOKENS
    assert request.headers["authorization"] == f"Bearer {RIGHT_KEY}"


def test_a_test_stands_in_the_ledger(team: Team, stub: Stub) -> None:
    told_of(connected(team, stub.url()))
    call = ModelCall.objects.get()
    assert (call.team, call.run, call.purpose) == (team, None, CallPurpose.TRY)
    assert (call.cache_key, call.connection_name, call.model) == (None, "own", "stub-1")
    assert (call.tokens_in, call.tokens_out) == (100, 20)
    assert call.cost_usd == pytest.approx(100 * 1e-6 + 20 * 5e-6)


def test_without_a_model_the_endpoint_is_asked_for_its_list(team: Team, stub: Stub) -> None:
    answer = told_of(connected(team, stub.url(), models=[]))
    assert (answer["is_ok"], answer["text"]) == (True, "it offers 2 models")
    assert answer["models"] == ["stub-1", "stub-2"]
    assert [(r.method, r.path) for r in stub.requests] == [("GET", "/models")]
    assert stub.requests[0].headers["authorization"] == f"Bearer {RIGHT_KEY}"
    assert not ModelCall.objects.exists()


FAULTS: list[tuple[str, Any, Any, str]] = [
    ("refused", wire.key_refused(), MODELS, "key"),
    ("refused", wire.key_refused(), [], "the key was refused (401)"),
    ("gone", wire.model_missing("stub-1"), MODELS, "stub-1"),
    ("page", wire.html(), MODELS, "base URL"),
    ("page", wire.html(), [], "no list of models"),
    ("odd", wire.json_answer({"data": 7}), [], "no list of models"),
    ("odd", wire.json_answer([1]), [], "no list of models"),
    ("odd", wire.json_answer({"data": [{"name": "x"}]}), [], "no list of models"),
    ("busy", wire.rate_limited("1"), MODELS, ""),
    ("full", wire.quota(), MODELS, ""),
    ("down", wire.overloaded(), [], "(503)"),
    ("cut", wire.Answer(200, b"{}" * 500, is_cut=True), [], "nobody answers"),
    ("big", wire.Answer(200, b"x" * 2**20, repeat=9), [], "larger than 8 MB"),
    ("off", wire.Answer(302, headers={"location": "http://169.254.169.254/"}), [], "answered 302"),
    ("off", wire.Answer(302, headers={"location": "http://169.254.169.254/"}), MODELS, "302"),
]


@pytest.mark.parametrize(("name", "answer", "models", "said"), FAULTS)
def test_a_connection_that_fails_says_why_after_one_call(
    team: Team, stub: Stub, name: str, answer: Any, models: Any, said: str
) -> None:
    everywhere(stub, name, answer)
    told = told_of(connected(team, stub.url(name), models=models))
    assert not told["is_ok"]
    assert told["text"]
    assert said in told["text"]
    assert len(stub.requests) == 1
    assert RIGHT_KEY not in str(told)


@pytest.mark.parametrize("models", [MODELS, []])
def test_an_endpoint_that_hangs_is_given_up(
    team: Team, stub: Stub, models: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_test, "TIMEOUT_SECONDS", 0.1)
    everywhere(stub, "slow", wire.Answer(latency=3600))
    told = told_of(connected(team, stub.url("slow"), models=models))
    assert "within 0.1 seconds" in told["text"]


@pytest.mark.parametrize("models", [MODELS, []])
def test_nobody_at_the_address_is_said(team: Team, settings: Settings, models: Any) -> None:
    settings.EVALSITE_MODEL_HOSTS = frozenset({"127.0.0.1"})
    told = told_of(connected(team, f"http://127.0.0.1:{closed_port()}/v1", models=models))
    assert (told["is_ok"], "base URL" in told["text"]) == (False, True)


@pytest.mark.parametrize("models", [MODELS, []])
def test_a_host_that_is_no_longer_listed_is_not_called(
    team: Team, stub: Stub, settings: Settings, models: Any
) -> None:
    row = connected(team, stub.url(), models=models)
    settings.EVALSITE_MODEL_HOSTS = frozenset()
    assert "address of the local network" in told_of(row)["text"]
    assert stub.requests == []


def test_a_key_that_does_not_open_is_said(team: Team, stub: Stub, settings: Settings) -> None:
    row = connected(team, stub.url())
    settings.EVALSITE_ENCRYPTION_KEY = "another one that is long enough to be taken for a key"
    assert "type the connection's key again" in told_of(row)["text"]
    assert stub.requests == []


def test_another_teams_connection_is_not_there(team: Team, charlie: User, stub: Stub) -> None:
    theirs = connected(Team.objects.get(slug="elsewhere"), stub.url())
    for uid in (theirs.uuid, uuid4()):
        job = asked(team, {"connection": str(uid)})
        assert (job.state, job.problem) == ("failed", "the connection is no longer there")
    assert stub.requests == []


def test_a_list_of_models_tells_no_key(team: Team, stub: Stub) -> None:
    names = {"data": [{"id": f"Bearer {RIGHT_KEY}"}, {"id": "m" * 999}, {"id": "a\nb\0"}]}
    everywhere(stub, "echo", wire.json_answer(names))
    answer = told_of(connected(team, stub.url("echo"), models=[]))
    assert answer["models"][:2] == ["Bearer [key]", "a b\N{REPLACEMENT CHARACTER}"]
    assert len(answer["models"][2]) == 200


def test_a_certificate_that_nobody_vouches_for_is_named(
    team: Team, settings: Settings, tmp_path: Path
) -> None:
    with self_signed_server(tmp_path) as host:
        settings.EVALSITE_MODEL_HOSTS = frozenset({host})
        answer = told_of(connected(team, f"https://{host}/v1", models=[]))
    text = "its encrypted connection is not to be trusted (self-signed certificate)"
    assert answer["text"] == text
