"""Scorers tried out through a model, as jobs that are run at once."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.core.services import Answer, CallFailure, Message, Question, Reply
from scoring.engine.jobs import job_queue
from scoring.engine.tryout import model_tryout
from scoring.models import CallPurpose, JobKind, ModelCall, Team
from tests.engine.tryout.test_connection_test import asked, connected
from tests.stub import wire
from tests.stub.server import Stub


class Judge:
    """Services that answer every question alike."""

    def __init__(self, team: Team, run: Any = None, purpose: Any = None) -> None:
        assert purpose == CallPurpose.TRY

    def ask(self, questions: list[Question]) -> list[Answer]:
        return [REPLIES[question.model] for question in questions]


REPLIES: dict[str, Answer] = {
    "good": Reply('{"choice": "yes\x00"}', tokens_in=9, tokens_out=2, cost_usd=0.01, latency_ms=5),
    "bad": CallFailure("rate_limited", "the endpoint is busy"),
}


def test_a_scorer_is_tried_without_being_saved(team: Team) -> None:
    request = {
        "type": "levenshtein",
        "config": {},
        "threshold": 0.4,
        "case": {"output": "abcd", "expected": "abxx"},
    }
    answer = asked(team, request, JobKind.TRY_SCORER).answer
    result = answer["result"]
    assert (result["status"], result["score"], result["verdict"]) == ("scored", 0.5, "pass")
    assert answer["calls"] == []


@pytest.mark.django_db(transaction=True)  # replies are kept by another thread
def test_a_judge_is_tried_through_the_teams_default_connection(team: Team, stub: Stub) -> None:
    stub.play("judge", wire.verdict("C", "Same facts."))
    connected(team, stub.url("judge"))
    case = {"input": "Capital?", "output": "Paris", "expected": "It is Paris"}
    request = {"type": "factuality", "config": {"model": "stub-1"}, "case": case}
    job = asked(team, request, JobKind.TRY_SCORER)
    assert (job.state, job.problem) == ("done", "")
    (call,) = job.answer["calls"]
    assert job.answer["result"]["verdict"] == "pass"
    assert "Same facts." in call["reply"]
    assert "It is Paris" in call["messages"][-1]["content"]
    assert (call["tokens_in"], call["tokens_out"], call["is_cached"]) == (100, 20, False)
    assert call["cost_usd"] == pytest.approx(2e-4)
    assert ModelCall.objects.get().purpose == CallPurpose.TRY


@pytest.mark.django_db(transaction=True)
def test_a_judge_that_cannot_be_asked_is_told(team: Team, stub: Stub) -> None:
    connected(team, stub.url("key-refused"))
    case = {"input": "Capital?", "output": "Paris", "expected": "It is Paris"}
    request = {"type": "factuality", "config": {"model": "stub-1"}, "case": case}
    answer = asked(team, request, JobKind.TRY_SCORER).answer
    assert (answer["result"]["status"], answer["result"]["code"]) == ("error", "key_refused")
    assert [(call["is_ok"], call["code"]) for call in answer["calls"]] == [(False, "key_refused")]


def test_a_config_that_cannot_be_used_is_told_by_field(team: Team) -> None:
    request = {"type": "levenshtein", "config": {"nonsense": 1}, "case": {"output": "a"}}
    job = asked(team, request, JobKind.TRY_SCORER)
    assert job.state == "failed"
    assert list(job.answer["errors"]) == ["nonsense"]
    assert "nonsense" in job.problem


def test_what_a_judge_was_asked_and_answered_is_told(team: Team) -> None:
    recorder = model_tryout.RecordingServices(Judge(team, purpose=CallPurpose.TRY))  # type: ignore[arg-type]
    message = Message("user", "is it?")
    recorder.ask([Question("good", (message,)), Question("bad", (message,))])
    good, bad = (
        job_queue.without_nul(model_tryout._describe_call(*call)) for call in recorder.calls
    )
    assert good["messages"] == [{"role": "user", "content": "is it?"}]
    assert (good["reply"], good["tokens_in"], good["cost_usd"]) == ('{"choice": "yes�"}', 9, 0.01)
    assert (good["is_ok"], bad["is_ok"]) == (True, False)
    assert (bad["code"], bad["reply"]) == ("rate_limited", "the endpoint is busy")


def test_a_case_is_read_as_the_api_takes_it() -> None:
    given = {"output": {"a": 1}, "expected": "b", "references": ["c"], "tags": ["t"], "id": 7}
    case = model_tryout.case_from_json(given)
    assert (case.output, case.expected, case.references) == ({"a": 1}, "b", ("c",))
    assert (case.id, case.tags, case.input) == ("7", ("t",), None)
