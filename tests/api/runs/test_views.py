"""A run is made with its outputs, at once or in parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from scoring.models import (
    AuditEntry,
    Dataset,
    Member,
    Output,
    OutputSet,
    OutputSetState,
    Role,
    Run,
    Scorer,
    Suite,
    Team,
    User,
)
from tests.api.conftest import API, MISSING, Api, ApiOf, body, codes, outputs, run_of
from tests.api.openapi.test_schema import check_answer
from tests.support.fixtures.runs import finish
from tests.support.undone import undone


def test_the_contracts_example_comes_out_as_written(
    alices: Api, dataset: str, suite: Suite
) -> None:
    sent = {
        "dataset": dataset,
        "suite": str(suite.uuid),
        "name": "2026-w47",
        "series": "gpt-4o",
        "dated": "2016-11-20",
        "labels": {"commit": "ab12"},
        "outputs": [
            {
                "key": "q1",
                "output": "…",
                "trial": 0,
                "latency_ms": 412,
                "tokens_in": 30,
                "tokens_out": 55,
                "cost_usd": 0.0004,
            }
        ],
        "final": True,
    }
    response = alices.post("runs/", sent)
    assert response.status_code == 202
    made = response.json()
    assert made == {
        "id": made["id"],
        "state": "queued",
        "progress": {"done": 0, "total": 1},
        "url": f"http://testserver/runs/{made['id']}/",
    }
    output_set = OutputSet.objects.get()
    assert (output_set.series, output_set.labels) == ("gpt-4o", {"commit": "ab12"})
    assert output_set.dated.isoformat() == "2016-11-20T00:00:00+00:00"
    assert output_set.state == OutputSetState.READY
    output = Output.objects.get()
    assert (output.text, output.latency_ms, output.cost_usd) == ("…", 412, 0.0004)
    assert AuditEntry.objects.get(action="run.created").actor


def test_outputs_may_come_in_parts(alices: Api, dataset: str, suite: Suite) -> None:
    run = run_of(alices.post("runs/", body(dataset, suite, "a", final=False)))
    path = f"runs/{run.uuid}/"
    assert alices.get(path).json()["cause"] == "waiting for outputs"
    more = alices.post(f"{path}outputs/", {"outputs": outputs("b", first=2), "final": False})
    assert (more.status_code, more.json()) == (200, {"accepted": 1, "unmatched": []})
    sent = [*outputs("c", first=3), {"key": "q77", "output": "x"}]
    last = alices.post(f"{path}outputs/", {"outputs": sent, "final": True})
    assert last.json() == {"accepted": 1, "unmatched": ["q77"]}
    assert alices.get(path).json()["progress"] == {"done": 0, "total": 3}
    finish(run)
    assert alices.get(path).json()["progress"] == {"done": 3, "total": 3}


def test_without_outputs_a_run_waits_for_them(alices: Api, dataset: str, suite: Suite) -> None:
    sent = body(dataset, suite)
    del sent["outputs"]
    run = run_of(alices.post("runs/", sent))
    assert run.output_set.state == OutputSetState.LOADING


def test_unmatched_keys_are_named_when_a_run_is_made(
    alices: Api, dataset: str, suite: Suite
) -> None:
    sent = [*outputs("a"), {"key": "q77", "output": "x"}]
    response = alices.post("runs/", body(dataset, suite, outputs=sent))
    assert response.json()["unmatched"] == ["q77"]
    assert "did_you_mean" not in response.json()


def test_the_cases_that_were_probably_meant_are_named(
    alices: Api, dataset: str, suite: Suite
) -> None:
    sent = [*outputs("a"), {"key": "Q02", "output": "x"}]
    answer = alices.post("runs/", body(dataset, suite, outputs=sent, final=False))
    check_answer(answer, "runs/", "post")
    assert answer.json()["did_you_mean"] == {"Q02": "q2"}
    path = f"runs/{answer.json()['id']}/outputs/"
    more = alices.post(path, {"outputs": [{"key": " q3", "output": "x"}], "final": True})
    check_answer(more, "runs/{uid}/outputs/", "post")
    assert more.json() == {"accepted": 0, "unmatched": [" q3"], "did_you_mean": {" q3": "q3"}}


def test_an_output_may_be_any_json_value(
    alices: Api, dataset: str, suite: Suite, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[Any, str, bool]] = [
        ("plain", "plain", False),
        ("", "", False),
        ({"a": [1, None]}, '{"a":[1,null]}', True),
        (3.0, "3.0", True),
        (False, "false", True),
    ]
    for value, text, is_json in cases:
        with subtests.test(value=value, text=text, is_json=is_json), undone():
            run = run_of(alices.post("runs/", body(dataset, suite, value)))
            assert Output.objects.values_list("text", "is_json").get() == (text, is_json)
            finish(run)
            (result,) = alices.get(f"runs/{run.uuid}/results/").json()["results"]
            assert result["output"] == value


def test_what_was_not_produced_is_an_error(alices: Api, dataset: str, suite: Suite) -> None:
    sent = [{"key": "q1", "error": "timeout"}, {"key": "q2", "output": None, "error": "429"}]
    run = run_of(alices.post("runs/", body(dataset, suite, outputs=sent)))
    finish(run)
    first, second = alices.get(f"runs/{run.uuid}/results/").json()["results"]
    assert (first["verdict"], second["verdict"]) == ("error", "error")
    assert first["output"] is None
    assert first["scores"][0]["metadata"]["code"] == "no_output"
    assert "timeout" in first["scores"][0]["reason"]


def test_trials_are_kept_apart(alices: Api, dataset: str, suite: Suite) -> None:
    sent = [{"key": "q1", "output": "a", "trial": n} for n in range(3)]
    run = run_of(alices.post("runs/", body(dataset, suite, outputs=sent)))
    finish(run)
    results = alices.get(f"runs/{run.uuid}/results/").json()["results"]
    assert [(result["key"], result["trial"]) for result in results] == [
        ("q1", 0),
        ("q1", 1),
        ("q1", 2),
    ]


def test_scorers_may_stand_in_for_a_suite(
    alices: Api, dataset: str, suite: Suite, close_enough: Scorer
) -> None:
    sent = body(dataset, suite, "a", scorers=[str(close_enough.uuid)])
    del sent["suite"]
    run = run_of(alices.post("runs/", sent))
    assert [(scorer.name, scorer.threshold) for scorer in run.scorers.all()] == [
        ("close enough", 0.7)
    ]


def test_the_datasets_own_suite_is_used_where_none_is_named(
    alices: Api, dataset: str, suite: Suite
) -> None:
    sent = body(dataset, suite, "a")
    del sent["suite"]
    response = alices.post("runs/", sent)
    assert (response.status_code, codes(response)) == (422, [("suite", "suite_required")])
    of_run = run_of(alices.post("runs/", body(dataset, suite, "a"))).output_set.version.dataset
    of_run.suite = suite
    of_run.save()
    assert run_of(alices.post("runs/", sent)).suite == suite


def test_the_series_is_the_models_label_unless_given(
    alices: Api, dataset: str, suite: Suite, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"series": "s", "labels": {"model": "m"}, "name": "n"}, "s"),
        ({"labels": {"model": "m"}, "name": "n"}, "m"),
        ({"name": "n"}, "n"),
        ({}, "Answers"),
    ]
    for changed, series in cases:
        with subtests.test(changed=changed, series=series), undone():
            run = run_of(alices.post("runs/", body(dataset, suite, "a", **changed)))
            assert run.output_set.series == series


def test_a_date_is_in_utc_unless_it_says_otherwise(
    alices: Api, dataset: str, suite: Suite, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[str, str]] = [
        ("2016-11-20", "2016-11-20T00:00:00+00:00"),
        ("2016-11-20T09:30:00Z", "2016-11-20T09:30:00+00:00"),
        ("2016-11-20T09:30:00+02:00", "2016-11-20T07:30:00+00:00"),
        ("2016-11-20T09:30", "2016-11-20T09:30:00+00:00"),
    ]
    for text, moment in cases:
        with subtests.test(text=text, moment=moment), undone():
            run = run_of(alices.post("runs/", body(dataset, suite, "a", dated=text)))
            assert run.output_set.dated.isoformat() == moment
            (listed,) = alices.get("runs/").json()["results"]
            assert listed["dated"] == moment.replace("+00:00", "Z")


def test_a_date_in_the_future_can_be_meant(alices: Api, dataset: str, suite: Suite) -> None:
    run = run_of(
        alices.post("runs/", body(dataset, suite, "a", dated="2262-11-20", allow_future_date=True))
    )
    assert run.output_set.dated.year == 2262
    assert run.output_set.series_time == run.output_set.created_at


def one(**changed: Any) -> list[dict[str, Any]]:
    return [{"key": "q1", "output": "a"} | changed]


def test_a_bad_run_is_refused_and_nothing_is_stored(
    alices: Api, dataset: str, suite: Suite, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[dict[str, Any], int, list[tuple[str, str]]]] = [
        ({"dataset": "x"}, 400, [("dataset", "invalid")]),
        ({"dataset": MISSING}, 404, [("dataset", "not_found")]),
        ({"suite": MISSING}, 404, [("suite", "not_found")]),
        ({"scorers": [MISSING]}, 422, [("scorers", "suite_or_scorers")]),
        ({"scorers": []}, 422, [("scorers", "empty")]),
        ({"dated": "yesterday"}, 400, [("dated", "invalid")]),
        ({"dated": "2026-02-30"}, 400, [("dated", "invalid")]),
        ({"dated": "0001-01-01T00:00:00+14:00"}, 400, [("dated", "invalid")]),
        ({"dated": 20261120}, 400, [("dated", "invalid")]),
        ({"dated": "2262-11-20"}, 422, [("dated", "future_date")]),
        ({"dated": "2262-11-20", "allow_future_date": False}, 422, [("dated", "future_date")]),
        ({"labels": ["a"]}, 400, [("labels", "invalid")]),
        ({"final": "yes"}, 400, [("final", "invalid")]),
        ({"final": None}, 400, [("final", "null")]),
        ({"outputs": []}, 422, [("outputs", "no_outputs")]),
        ({"outputs": {}}, 400, [("outputs", "not_a_list")]),
        ({"outputs": one(text="a")}, 400, [("outputs[0].text", "unknown_field")]),
        ({"outputs": [{"output": "a"}]}, 400, [("outputs[0].key", "required")]),
        ({"outputs": one(trial=-1)}, 422, [("outputs[0].trial", "min_value")]),
        ({"outputs": one(trial=40_000)}, 422, [("outputs[0].trial", "max_value")]),
        ({"outputs": one(trial=1.0)}, 400, [("outputs[0].trial", "invalid")]),
        ({"outputs": one(trial=True)}, 400, [("outputs[0].trial", "invalid")]),
        ({"outputs": one(tokens_in=10**30)}, 422, [("outputs[0].tokens_in", "max_value")]),
        ({"outputs": one(latency_ms="412")}, 400, [("outputs[0].latency_ms", "invalid")]),
        ({"outputs": one(latency_ms=-1)}, 422, [("outputs[0].latency_ms", "min_value")]),
        ({"outputs": one(cost_usd=10**400)}, 422, [("outputs[0].cost_usd", "not_finite")]),
        ({"outputs": one() + one()}, 422, [("outputs[1].key", "duplicate_case")]),
        ({"outputs": one(key="q77")}, 422, [("outputs", "no_outputs")]),
        ({"outputs": one() * 10_001}, 413, [("outputs", "too_many_rows")]),
    ]
    for changed, status, errors in cases:
        with subtests.test(changed=changed, status=status, errors=errors), undone():
            response = alices.post("runs/", body(dataset, suite) | changed)
            assert (response.status_code, codes(response)) == (status, errors)
            assert not Run.objects.exists()
            assert not OutputSet.objects.exists()
            assert not Output.objects.exists()


def test_the_same_output_twice_is_refused_in_another_part_too(
    alices: Api, dataset: str, suite: Suite
) -> None:
    run = run_of(alices.post("runs/", body(dataset, suite, "a", final=False)))
    again = {"outputs": [*outputs("b", first=2), *outputs("a")]}
    response = alices.post(f"runs/{run.uuid}/outputs/", again)
    assert (response.status_code, codes(response)) == (422, [("outputs[1].key", "duplicate_case")])
    assert Output.objects.count() == 1


def test_a_repeated_part_with_its_key_counts_once(alices: Api, dataset: str, suite: Suite) -> None:
    run = run_of(alices.post("runs/", body(dataset, suite, "a", final=False)))
    part = {"outputs": outputs("b", first=2)}
    for _ in range(2):
        response = alices.post(f"runs/{run.uuid}/outputs/", part, Idempotency_Key="part-2")
        assert response.json() == {"accepted": 1, "unmatched": []}
    assert Output.objects.count() == 2


def test_a_run_sent_twice_with_its_key_starts_once(alices: Api, dataset: str, suite: Suite) -> None:
    first, again = (
        alices.post("runs/", body(dataset, suite), Idempotency_Key="run-1") for _ in range(2)
    )
    assert first.json() == again.json()
    assert Run.objects.count() == 1


def test_a_run_of_a_dataset_that_still_loads_has_to_wait(alices: Api, suite: Suite) -> None:
    loading = Dataset.objects.create(team=suite.team, name="loading")
    response = alices.post("runs/", body(str(loading.uuid), suite))
    assert (response.status_code, response.json()["code"]) == (409, "dataset_loading")
    assert response["Retry-After"] == "1"


def test_a_suite_of_another_team_of_the_person_is_not_there(
    browser_of: Callable[[User], Client], alice: User, dataset: str, suite: Suite
) -> None:
    elsewhere = Team.objects.create(name="Elsewhere", slug="elsewhere")
    Member.objects.create(team=elsewhere, user=alice, role=Role.ADMIN)
    theirs = Suite.objects.define(elsewhere, "theirs", [])
    sent = body(dataset, theirs)
    refused = browser_of(alice).post(f"{API}runs/", sent, content_type="application/json")
    assert (refused.status_code, codes(refused)) == (404, [("suite", "not_found")])


@pytest.mark.parametrize("role", [Role.VIEWER, Role.REVIEWER])
def test_only_editors_make_runs(
    api_of: ApiOf, alice: User, dataset: str, suite: Suite, role: Role
) -> None:
    assert api_of(alice, role).post("runs/", body(dataset, suite)).status_code == 403
    assert not Run.objects.exists()
