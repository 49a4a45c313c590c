"""A run that makes its outputs, and a run's budget, asked for through the API."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.engine.runs import planning
from scoring.models import Connection, Generation, OutputSet, OutputSetState, Run, Suite, Team, User
from tests.api.conftest import Api, body, codes, run_of
from tests.support.undone import undone

RECIPE: dict[str, Any] = {"model": "stub-1", "template": "Answer {{ input }}"}


@pytest.fixture
def own(team: Team) -> Connection:
    return Connection.objects.define(team, "own", "https://api.example.org/v1", by=None)


def wanted(dataset: str, suite: Suite, recipe: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"dataset": dataset, "suite": str(suite.uuid), "generate": RECIPE | recipe} | more


def test_the_run_is_queued_and_will_make_its_outputs(
    alices: Api, alice: User, dataset: str, suite: Suite, own: Connection
) -> None:
    asked = {
        "connection": "own",
        "system": "Be brief.",
        "parameters": {"temperature": 0.2, "seed": 7},
        "trials": 3,
    }
    more = {"name": "w47", "labels": {"commit": "ab12"}, "dated": "2016-11-20", "budget_usd": 2.5}
    answer = alices.post("runs/", wanted(dataset, suite, asked, **more))
    assert answer.status_code == 202
    assert answer.json()["state"] == "queued"
    assert "unmatched" not in answer.json()
    run = run_of(answer)
    outputs = run.output_set
    assert (run.name, run.budget_usd, run.created_by) == ("w47", 2.5, alice)
    assert (outputs.state, outputs.series) == (OutputSetState.GENERATING, "stub-1")
    assert outputs.labels == {"model": "stub-1", "commit": "ab12"}
    assert outputs.dated.isoformat() == "2016-11-20T00:00:00+00:00"
    made = outputs.generation
    assert (made.connection, made.system, made.trials) == (own, "Be brief.", 3)
    assert (made.template, made.parameters) == (
        "Answer {{ input }}",
        {"temperature": 0.2, "seed": 7},
    )
    assert planning.is_generating(run)
    assert planning.plan_attempt(run).shards.get().output_count == 9


def test_what_is_left_out_is_the_default(alices: Api, dataset: str, suite: Suite) -> None:
    run_of(alices.post("runs/", wanted(dataset, suite, {}, series="weekly")))
    made = Generation.objects.get()
    assert (made.connection, made.system, made.parameters, made.trials) == (None, "", {}, 1)
    assert OutputSet.objects.get().series == "weekly"
    assert Run.objects.get().budget_usd is None


def test_what_cannot_be_used_is_named_and_nothing_is_made(
    alices: Api, dataset: str, suite: Suite, own: Connection, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[dict[str, Any], dict[str, Any], int, list[tuple[str, str]]]] = [
        ({"model": ""}, {}, 422, [("generate.model", "blank")]),
        ({"template": ""}, {}, 422, [("generate.template", "blank")]),
        ({"template": "{{ q }}"}, {}, 422, [("generate.template", "config_error")]),
        ({"trials": 21}, {}, 422, [("generate.trials", "max_value")]),
        ({"trials": 0}, {}, 422, [("generate.trials", "min_value")]),
        ({"trials": "2"}, {}, 400, [("generate.trials", "invalid")]),
        ({"parameters": {"n": 2}}, {}, 422, [("generate.parameters", "config_error")]),
        ({"parameters": []}, {}, 400, [("generate.parameters", "invalid")]),
        ({"connection": "gone"}, {}, 422, [("generate.connection", "not_found")]),
        ({"key": "sk-1"}, {}, 400, [("generate.key", "unknown_field")]),
        ({}, {"outputs": []}, 422, [("generate", "outputs_or_generate")]),
        ({}, {"final": False}, 422, [("generate", "outputs_or_generate")]),
        ({}, {"budget_usd": -1}, 422, [("budget_usd", "min_value")]),
        ({}, {"budget_usd": "2"}, 400, [("budget_usd", "invalid")]),
    ]
    for recipe, more, status, faults in cases:
        with subtests.test(recipe=recipe, more=more, status=status, faults=faults), undone():
            answer = alices.post("runs/", wanted(dataset, suite, recipe, **more))
            assert (answer.status_code, codes(answer)) == (status, faults)
            assert not Run.objects.exists()
            assert not OutputSet.objects.exists()


def test_another_team_s_connection_is_no_connection(
    alices: Api, charlie: User, dataset: str, suite: Suite
) -> None:
    elsewhere = Team.objects.get(slug="elsewhere")
    Connection.objects.define(elsewhere, "theirs", "https://api.example.org/v1", by=None)
    answer = alices.post("runs/", wanted(dataset, suite, {"connection": "theirs"}))
    assert codes(answer) == [("generate.connection", "not_found")]


def test_a_run_with_outputs_takes_a_budget_too(alices: Api, dataset: str, suite: Suite) -> None:
    assert run_of(alices.post("runs/", body(dataset, suite, budget_usd=0))).budget_usd == 0
    assert run_of(alices.post("runs/", body(dataset, suite, budget_usd=None))).budget_usd is None


def test_a_run_that_makes_its_outputs_takes_none(alices: Api, dataset: str, suite: Suite) -> None:
    run = run_of(alices.post("runs/", wanted(dataset, suite, {})))
    sent = {"outputs": [{"key": "q1", "output": "mine"}]}
    answer = alices.post(f"runs/{run.uuid}/outputs/", sent)
    assert (answer.status_code, answer.json()["code"]) == (409, "already_started")
    assert alices.post(f"runs/{run.uuid}/start/").json()["state"] == "queued"
