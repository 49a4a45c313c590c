"""One prompt of a recipe tried through the worker."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.engine.jobs import job_queue
from scoring.models import Connection, Job, JobKind, JobState, ModelCall, Team, User
from tests.stub import Stub, wire

pytestmark = pytest.mark.django_db(transaction=True)

REQUEST: dict[str, Any] = {
    "model": "stub-1",
    "system": "Be brief.",
    "parameters": {"temperature": 0.5},
    "prompt": "Number 7.",
}


@pytest.fixture
def own(team: Team, stub: Stub) -> Connection:
    stub.play("model", wire.completion("seven"))
    price = {"name": "stub-1", "usd_per_million_in": 100.0, "usd_per_million_out": 0.0}
    return Connection.objects.define(team, "own", stub.url("model"), offered=[price], by=None)


def tried(team: Team, by: User, connection: Any) -> Job:
    request = REQUEST | {"connection": connection and str(connection.uuid)}
    job = job_queue.enqueue_once(JobKind.TRY_PROMPT, team, by, request)
    job_queue.run_job(job)
    job.refresh_from_db()
    return job


def test_the_model_s_reply_is_told_with_what_it_cost(
    team: Team, alice: User, own: Connection, stub: Stub
) -> None:
    call = tried(team, alice, own).answer["call"]
    assert (call["is_ok"], call["reply"], call["cost_usd"]) == (True, "seven", 0.01)
    assert call["tokens_in"] == 100
    assert call["latency_ms"] > 0
    (asked,) = stub.requests
    assert (asked.system, asked.user) == ("Be brief.", "Number 7.")
    assert asked.body["temperature"] == 0.5
    assert ModelCall.objects.get().purpose == "try"


def test_trying_again_asks_again(team: Team, alice: User, own: Connection, stub: Stub) -> None:
    tried(team, alice, own)
    tried(team, alice, None)
    assert len(stub.requests) == 2


def test_a_call_that_fails_says_why(team: Team, alice: User, own: Connection, stub: Stub) -> None:
    stub.play("model", wire.key_refused())
    call = tried(team, alice, own).answer["call"]
    assert (call["is_ok"], call["code"]) == (False, "key_refused")


def test_a_connection_that_is_gone_or_another_team_s_is_not_asked(
    team: Team, alice: User, charlie: User, own: Connection, stub: Stub
) -> None:
    elsewhere = Team.objects.get(slug="elsewhere")
    job = tried(elsewhere, charlie, own)
    assert job.state == JobState.FAILED
    assert job.problem == "the connection is no longer there"
    assert stub.requests == []
