"""A run is followed, started, cancelled and retried; who may do it, and at what cost."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from scoring.engine.runs import planning
from scoring.models import (
    AuditEntry,
    Output,
    OutputSet,
    OutputSetState,
    Run,
    Scorer,
    Shard,
    Suite,
    User,
    Worker,
)
from tests.api.conftest import MISSING, Api, body, codes, outputs, run_of
from tests.conftest import MakeDataset
from tests.support.fixtures.runs import finish
from tests.support.suite_runs import entry_of, suite_run
from tests.support.undone import undone


def test_a_finished_run_shows_its_figures(alices: Api, dataset: str, suite: Suite) -> None:
    run = run_of(alices.post("runs/", body(dataset, suite)))
    finish(run)
    response = alices.get(f"runs/{run.uuid}/")
    assert response.status_code == 200
    low, high = response.json()["scorers"][0].pop("interval")
    assert response.json() | {"scorers": []} == {
        "id": str(run.uuid),
        "state": "finished",
        "stage": None,
        "progress": {"done": 3, "total": 3},
        "cause": None,
        "verdicts": {"pass": 2, "fail": 1, "error": 0, "skipped": 0},
        "relabel": None,
        "scorers": [],
        "thresholds_note": "",
        "missing_expected": 0,
        "empty_expected": 0,
        "missing_outputs": 0,
        "cost_usd": None,
        "estimated_cost_usd": None,
        "latencies_ms": {},
        "judges": None,
    }
    (figures,) = alices.get(f"runs/{run.uuid}/").json()["scorers"]
    scores = [0.92, 0.8, 0.23]
    mean = sum(scores) / 3
    deviation = (sum((score - mean) ** 2 for score in scores) / 2) ** 0.5
    reach = 4.302652729911275 * deviation / 3**0.5  # Student's t with 2 degrees, 97.5 %
    assert figures == {
        "name": "close enough",
        "version": 1,
        "n": 3,
        "scored": 3,
        "errors": 0,
        "skipped": 0,
        "mean": pytest.approx(mean),
        "interval": [pytest.approx(max(0.0, mean - reach)), pytest.approx(min(1.0, mean + reach))],
        "pass_rate": pytest.approx(2 / 3),
        "threshold": 0.8,
        "problems": {},
    }
    assert low < mean < high


def test_before_the_end_figures_are_null_and_a_cause_is_named(
    alices: Api, dataset: str, suite: Suite
) -> None:
    run = run_of(alices.post("runs/", body(dataset, suite)))
    state = alices.get(f"runs/{run.uuid}/").json()
    assert (state["state"], state["stage"]) == ("queued", "scoring")
    assert "no worker" in state["cause"]
    assert set(state["verdicts"].values()) == {None}
    assert state["scorers"][0]["mean"] is None
    assert state["scorers"][0]["scored"] is None
    assert not Worker.objects.exists()


def test_what_judges_were_paid_and_how_long_outputs_took_is_told(
    alices: Api, dataset: str, suite: Suite
) -> None:
    run = run_of(alices.post("runs/", body(dataset, suite)))
    taken = {"p50": 120.0, "p90": 150.0, "p95": 160.0, "p99": 170.0}
    Run.objects.filter(pk=run.pk).update(
        latencies_ms=taken, judge_calls=3, judge_tokens_in=30, judge_cost_usd=0.5
    )
    state = alices.get(f"runs/{run.uuid}/").json()
    assert state["latencies_ms"] == taken
    paid = {"calls": 3, "tokens_in": 30, "tokens_out": None, "cost_usd": 0.5}
    assert state["judges"] == paid


def test_costs_are_summed(alices: Api, dataset: str, suite: Suite) -> None:
    sent = [output | {"cost_usd": 0.25} for output in outputs("a", "b")] + outputs("c", first=3)
    run = run_of(alices.post("runs/", body(dataset, suite, outputs=sent)))
    finish(run)
    assert alices.get(f"runs/{run.uuid}/").json()["cost_usd"] == 0.5


def test_start_is_the_other_way_to_say_that_all_is_there(
    alices: Api, dataset: str, suite: Suite
) -> None:
    run = run_of(alices.post("runs/", body(dataset, suite, outputs=[], final=False)))
    empty = alices.post(f"runs/{run.uuid}/start/")
    assert (empty.status_code, empty.json()["code"]) == (422, "no_outputs")
    alices.post(f"runs/{run.uuid}/outputs/", {"outputs": outputs("a")})
    for _ in range(2):
        assert alices.post(f"runs/{run.uuid}/start/").json()["state"] == "queued"
    assert OutputSet.objects.get().state == OutputSetState.READY
    finish(run)
    assert alices.post(f"runs/{run.uuid}/start/").json()["state"] == "finished"
    assert Shard.objects.count() == 1


def test_a_started_run_takes_no_more_outputs(alices: Api, dataset: str, suite: Suite) -> None:
    run = run_of(alices.post("runs/", body(dataset, suite, "a")))
    response = alices.post(f"runs/{run.uuid}/outputs/", {"outputs": outputs("b", first=2)})
    assert (response.status_code, response.json()["code"]) == (409, "already_started")
    assert response.json()["id"] == str(run.uuid)
    assert Output.objects.count() == 1


def test_a_cancelled_run_stays_cancelled_until_retried(
    alices: Api, dataset: str, suite: Suite
) -> None:
    run = run_of(alices.post("runs/", body(dataset, suite)))
    for _ in range(2):
        response = alices.post(f"runs/{run.uuid}/cancel/")
        assert (response.status_code, response.json()["state"]) == (200, "cancelled")
    assert AuditEntry.objects.filter(action="run.cancelled").count() == 1
    response = alices.post(f"runs/{run.uuid}/retry/")
    assert (response.status_code, response.json()["state"]) == (200, "queued")


def test_a_run_cancelled_before_its_start_is_not_started(
    alices: Api, dataset: str, suite: Suite
) -> None:
    run = run_of(alices.post("runs/", body(dataset, suite, "a", final=False)))
    alices.post(f"runs/{run.uuid}/cancel/")
    assert alices.post(f"runs/{run.uuid}/start/").json()["state"] == "cancelled"
    assert OutputSet.objects.get().state == OutputSetState.LOADING


def test_a_finished_run_stays_finished(alices: Api, dataset: str, suite: Suite) -> None:
    run = run_of(alices.post("runs/", body(dataset, suite)))
    finish(run)
    assert alices.post(f"runs/{run.uuid}/cancel/").json()["state"] == "finished"


def test_a_retry_needs_errors(alices: Api, dataset: str, suite: Suite) -> None:
    run = run_of(alices.post("runs/", body(dataset, suite)))
    finish(run)
    refused = alices.post(f"runs/{run.uuid}/retry/")
    assert (refused.status_code, refused.json()["code"]) == (409, "nothing_to_retry")
    assert refused.json()["id"] == str(run.uuid)


def test_a_retry_opens_the_errors_again(alices: Api, dataset: str, suite: Suite) -> None:
    sent = [*outputs("a"), {"key": "q2", "error": "timeout"}]
    run = run_of(alices.post("runs/", body(dataset, suite, outputs=sent)))
    finish(run)
    response = alices.post(f"runs/{run.uuid}/retry/")
    assert (response.status_code, response.json()["state"]) == (200, "queued")
    assert response.json()["progress"] == {"done": 0, "total": 1}


def test_runs_are_listed_with_what_they_are(alices: Api, dataset: str, suite: Suite) -> None:
    run = run_of(alices.post("runs/", body(dataset, suite, "a", name="w47", series="m")))
    (listed,) = alices.get("runs/").json()["results"]
    assert listed == {
        "id": str(run.uuid),
        "name": "w47",
        "state": "queued",
        "dataset": dataset,
        "version": 1,
        "series": "m",
        "dated": listed["dated"],
        "labels": {},
        "is_baseline": False,
        "created_at": listed["created_at"],
        "finished_at": None,
        "url": f"http://testserver/runs/{run.uuid}/",
    }
    assert listed["created_at"].endswith("Z")


def test_an_action_takes_no_fields(
    alices: Api, dataset: str, suite: Suite, subtests: pytest.Subtests
) -> None:
    cases: list[str] = ["start", "cancel", "retry"]
    for action in cases:
        with subtests.test(action=action), undone():
            run = run_of(alices.post("runs/", body(dataset, suite, final=False)))
            refused = alices.post(f"runs/{run.uuid}/{action}/", {"final": True})
            assert (refused.status_code, codes(refused)) == (400, [("final", "unknown_field")])
            run.refresh_from_db()
            assert run.state == "queued"


def test_every_address_of_a_run_knows_roles_and_strangers(
    alices: Api, bobs: Api, charlies: Api, dataset: str, suite: Suite
) -> None:
    run = run_of(alices.post("runs/", body(dataset, suite, final=False)))
    part = {"outputs": outputs("b", first=2)}
    for path in ("runs/{}/", "runs/{}/results/"):
        assert bobs.get(path.format(run.uuid)).status_code == 200
        theirs, none = charlies.get(path.format(run.uuid)), charlies.get(path.format(MISSING))
        assert (theirs.status_code, theirs.content) == (404, none.content)
    for action, sent in [("outputs", part), ("start", None), ("cancel", None), ("retry", None)]:
        path = f"runs/{{}}/{action}/"
        assert bobs.post(path.format(run.uuid), sent).status_code == 403
        theirs = charlies.post(path.format(run.uuid), sent)
        none = charlies.post(path.format(MISSING), sent)
        assert (theirs.status_code, theirs.content) == (404, none.content)
    run.refresh_from_db()
    assert (run.state, run.output_set.output_count) == ("queued", 0)


def test_ids_of_others_in_a_body_are_missing(
    alices: Api, bobs: Api, charlies: Api, dataset: str, suite: Suite
) -> None:
    assert bobs.post("runs/", body(dataset, suite)).status_code == 403
    theirs = charlies.post("runs/", body(dataset, suite))
    none = charlies.post("runs/", body(MISSING, suite))
    assert (theirs.status_code, theirs.content) == (404, none.content)
    own = charlies.post("datasets/", {"name": "d", "cases": [{"key": "q1", "input": 1}]}).json()
    for changed in ({}, {"suite": MISSING}):
        refused = charlies.post("runs/", body(own["id"], suite) | changed)
        assert (refused.status_code, codes(refused)) == (404, [("suite", "not_found")])


def test_reading_a_run_costs_the_same_for_one_case_and_for_fifty(
    alices: Api, make_dataset: MakeDataset, suite: Suite
) -> None:
    costs = []
    for count in (1, 50):
        version = make_dataset([{"key": f"q{n}", "expected": "a"} for n in range(1, count + 1)])
        sent = body(str(version.dataset.uuid), suite, *["a"] * count)
        run = run_of(alices.post("runs/", sent))
        finish(run)
        for path in (f"runs/{run.uuid}/", f"runs/{run.uuid}/results/", "runs/"):
            with CaptureQueriesContext(connection) as found:
                assert alices.get(path).status_code == 200
            costs.append(len(found))
    assert costs[:3] == costs[3:]
    assert costs[:3] == [5, 8, 4]


@pytest.fixture
def old_run(make_dataset: MakeDataset) -> Run:
    """A run of three cases, of which one fails by the suite's later threshold alone."""
    run = suite_run(make_dataset([{}] * 3), {"close": [0.6, 0.8, "error"]})
    entry_of().change_threshold(0.7, by=None, reason="Too lenient.")
    return run


def test_a_run_is_relabelled_and_shows_both_counts(
    alices: Api, bobs: Api, old_run: Run, alice: User
) -> None:
    path = f"runs/{old_run.uuid}/"
    state = alices.post(f"{path}relabel/")
    assert state.status_code == 200
    shown = bobs.get(path).json()
    assert shown == state.json()
    assert shown["verdicts"] == {"pass": 2, "fail": 0, "error": 1, "skipped": 0}
    created_at = shown["relabel"].pop("created_at")
    assert created_at.endswith("Z")
    assert shown["relabel"] == {
        "thresholds": {"close": 0.7},
        "verdicts": {"pass": 1, "fail": 1, "error": 1, "skipped": 0},
        "passed": {"close": 1},
        "by": str(alice),
    }
    again = alices.post(f"{path}relabel/")
    assert (again.status_code, again.json()["code"]) == (409, "nothing_to_relabel")
    assert again.json()["id"] == str(old_run.uuid)
    assert AuditEntry.objects.filter(action="run.relabelled").count() == 1


def test_later_labels_are_removed(alices: Api, old_run: Run) -> None:
    path = f"runs/{old_run.uuid}/"
    alices.post(f"{path}relabel/")
    for _ in range(2):
        assert alices.delete(f"{path}relabel/").status_code == 204
    assert alices.get(path).json()["relabel"] is None
    assert AuditEntry.objects.filter(action="run.labels_removed").count() == 1


def test_what_cannot_be_relabelled_says_why(alices: Api, dataset: str, suite: Suite) -> None:
    run = run_of(alices.post("runs/", body(dataset, suite)))
    answer = alices.post(f"runs/{run.uuid}/relabel/")
    assert (answer.status_code, answer.json()["message"]) == (
        409,
        "Only a finished run can be re-labelled.",
    )
    refused = alices.post(f"runs/{run.uuid}/relabel/", {"thresholds": {"close": 0.1}})
    assert refused.status_code == 400


def test_the_scorers_version_is_the_frozen_one(
    alices: Api, dataset: str, suite: Suite, close_enough: Scorer
) -> None:
    run = run_of(alices.post("runs/", body(dataset, suite)))
    close_enough.revise({"case_sensitive": True}, by=None)
    assert alices.get(f"runs/{run.uuid}/").json()["scorers"][0]["version"] == 1
    assert planning.plan_attempt(run).number == 1
