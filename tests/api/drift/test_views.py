"""Drift lines through the API."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.engine.drift import jobs
from scoring.engine.thresholds.relabelling import relabel_run
from scoring.models import Baseline, DatasetVersion, Job, Run
from tests.api.conftest import MISSING, Api, codes
from tests.api.openapi.test_schema import check_answer
from tests.conftest import MakeDataset
from tests.support.drift_runs import run_in_week, scorer_of
from tests.support.fixtures.weeks import version
from tests.support.suite_runs import entry_of, suite_run
from tests.support.undone import undone

__all__ = ["version"]


def line(api: Api, version: DatasetVersion, **query: Any) -> Any:
    response = api.get("drift/", dataset=str(version.dataset.uuid), **query)
    assert response.status_code == 200, response.content
    return response.json()


def test_a_line_has_the_contracts_shape(alices: Api, version: DatasetVersion) -> None:
    first = run_in_week(version, 0, 0.8, "ppff")
    second = run_in_week(version, 1, 0.75, "pfpf", threshold=0.6)
    Baseline.objects.pin(first, by=None)
    body = line(alices, version, scorer="close", series="a")
    assert set(body) >= {"points", "change_points", "limits"}
    low, high = second.scorers.get().summary.mean_estimate.interval
    assert body["points"][1] == {
        "run": str(second.uuid),
        "dated": "2015-01-12T09:00:00Z",
        "n": 4,
        "mean": 0.75,
        "interval": [low, high],
        "pass_rate": 0.75,
        "fixed": 1,
        "broke": 1,
        "cases_fixed": 1,
        "cases_broke": 1,
        "scorer_version": 1,
        "dataset_version": 1,
        "threshold": 0.6,
        "relabel": None,
        "similarity": 1.0,
        "distinct": 1.0,
    }
    assert body["points"][0]["fixed"] is None
    assert body["baseline"] == str(first.uuid)
    assert (body["change_points"], body["limits"], body["outside"]) == ([], None, [])
    assert body["limits_reason"].startswith(
        "Not enough runs for control limits: 2 runs, 8 are needed."
    )
    assert body["level"] == {
        "status": "steady",
        "since": str(first.uuid),
        "runs": 2,
        "p": pytest.approx(0.0060, abs=0.0001),
        "detectable_drop": pytest.approx(0.73625),
    }
    assert body["sentences"][0].startswith("close is at 0.750 in w1 (n = 4)")
    assert body["is_measured"] is True


def test_limits_changes_and_runs_outside_are_named(alices: Api, version: DatasetVersion) -> None:
    low = [0.6, 0.62, 0.61, 0.6, 0.62, 0.6, 0.61]
    means = [0.8, 0.82, 0.81, 0.8, 0.82, 0.8, *low, 0.2, *low]
    runs = [run_in_week(version, week, mean) for week, mean in enumerate(means)]
    body = line(alices, version)
    assert set(body["limits"]) == {"centre", "low", "high", "n"}
    assert (body["limits"]["n"], body["limits"]["centre"]) == (14, pytest.approx(sum(low) / 7))
    (change,) = body["change_points"]
    assert change["run"] == str(runs[6].uuid)
    assert change["before"] == pytest.approx(0.808333, abs=1e-6)
    assert change["after"] == pytest.approx(sum(low) / 7, abs=1e-6)
    assert 0 < change["p"] < 0.0025
    assert body["outside"] == [str(runs[13].uuid)]
    assert (body["level"]["status"], body["level"]["runs"]) == ("steady", 14)
    assert body["level"]["since"] == str(runs[6].uuid)


def test_a_decreased_level_is_told_until_it_is_the_usual_one(
    alices: Api, version: DatasetVersion
) -> None:
    runs = [run_in_week(version, week, 0.8 - 0.2 * (week > 7)) for week in range(10)]
    body = line(alices, version)
    assert (body["level"]["status"], body["level"]["since"]) == ("decreased", str(runs[8].uuid))
    for week in range(10, 16):
        run_in_week(version, week, 0.6)
    assert line(alices, version)["level"]["status"] == "steady"


def test_what_is_ambiguous_is_asked_for(alices: Api, version: DatasetVersion) -> None:
    both = [scorer_of(version, "close"), scorer_of(version, "same")]
    run_in_week(version, 0, scorers=both)
    run_in_week(version, 1, scorers=both, series="b")
    dataset = str(version.dataset.uuid)
    response = alices.get("drift/", dataset=dataset, series="a")
    assert (response.status_code, response.json()["code"]) == (400, "scorer_required")
    assert "close, same" in response.json()["message"]
    response = alices.get("drift/", dataset=dataset, scorer="close")
    assert (response.status_code, response.json()["code"]) == (400, "series_required")
    assert line(alices, version, scorer="same", series="b")["points"][0]["mean"] == 0.8


def test_what_cannot_be_answered_is_refused(
    alices: Api, version: DatasetVersion, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[dict[str, str], tuple[str, str]]] = [
        ({"scorer": "nobody"}, ("scorer", "invalid_choice")),
        ({"series": "nobody"}, ("series", "invalid_choice")),
        ({"dataset": "x"}, ("dataset", "invalid")),
        ({"since": "2026"}, ("since", "unknown_field")),
    ]
    for query, fault in cases:
        with subtests.test(query=query, fault=fault), undone():
            run_in_week(version, 0)
            response = alices.get("drift/", **{"dataset": str(version.dataset.uuid), **query})
            assert response.status_code in {400, 422}
            assert fault in codes(response)


def test_a_dataset_must_be_named(alices: Api) -> None:
    assert codes(alices.get("drift/")) == [("dataset", "required")]


def test_without_runs_there_are_no_points(alices: Api, version: DatasetVersion) -> None:
    body = line(alices, version, scorer="close", series="a")
    assert (body["points"], body["limits"], body["change_points"]) == ([], None, [])
    assert body["limits_reason"] == "The dataset has no finished run."


def test_a_stranger_finds_no_dataset(charlies: Api, version: DatasetVersion) -> None:
    run_in_week(version, 0)
    there = charlies.get("drift/", dataset=str(version.dataset.uuid))
    nowhere = charlies.get("drift/", dataset=MISSING)
    assert there.status_code == nowhere.status_code == 404
    assert there.json() == nowhere.json()


def test_a_viewer_sees_it(bobs: Api, version: DatasetVersion) -> None:
    run: Run = run_in_week(version, 0)
    assert line(bobs, version)["points"][0]["run"] == str(run.uuid)


def test_large_runs_are_measured_by_the_worker(
    alices: Api, version: DatasetVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "MAX_INLINE_OUTPUTS", 3)
    for week in range(2):
        run_in_week(version, week, 0.8, "pppp")
    body = line(alices, version)
    assert body["is_measured"] is False
    assert [point["fixed"] for point in body["points"]] == [None, None]
    assert Job.objects.count() == 1


def test_a_relabelled_run_is_told(alices: Api, make_dataset: MakeDataset) -> None:
    version = make_dataset([{}] * 2)
    run = suite_run(version, {"close": [0.9, 0.6]})
    entry_of().change_threshold(0.7, by=None, reason="x")
    relabel_run(run, by=None)
    (point,) = line(alices, version)["points"]
    assert point["relabel"]["thresholds"] == {"close": 0.7}
    assert point["relabel"]["passed"] == {"close": 1}
    assert (point["pass_rate"], point["threshold"]) == (1, 0.5)
    response = alices.get("drift/", dataset=str(version.dataset.uuid))
    check_answer(response, "drift/", "get")
