"""Which latest runs are said to have broken cases, and against what."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from scoring.engine.drift import measure_series
from scoring.engine.drift.broken_cases import Regression, latest_regressions
from scoring.engine.drift.series_status import series_statuses
from scoring.models import Baseline, DatasetVersion, Run, Team
from tests.conftest import MakeDataset
from tests.support.drift_runs import run_again, run_in_week


def of(team: Team) -> list[Regression]:
    return latest_regressions(series_statuses(team))


def told(team: Team) -> list[tuple[str, str, int, int, int]]:
    return [
        (each.standing.latest.name, each.baseline_name, each.broke, each.fixed, each.pairs)
        for each in of(team)
    ]


def test_without_a_pinned_run_it_is_the_run_before(team: Team, version: DatasetVersion) -> None:
    run_in_week(version, 1, letters="pppp")
    before = run_in_week(version, 2, letters="fppp")
    run_in_week(version, 3, letters="pffp")
    measure_series(version.dataset, "a")
    assert told(team) == [("w3", "w2", 2, 1, 4)]
    assert of(team)[0].baseline == before.uuid


def test_the_pinned_run_wins_over_the_run_before(team: Team, version: DatasetVersion) -> None:
    pinned = run_in_week(version, 1, letters="pppp")
    run_in_week(version, 2, letters="pfff")
    latest = run_in_week(version, 3, letters="pfff")
    Baseline.objects.pin(pinned, by=None)
    measure_series(version.dataset, "a")
    assert told(team) == [("w3", "w1", 3, 0, 4)]
    assert of(team)[0].run == latest.uuid


def test_pinned_later_it_is_told_once_measured(team: Team, version: DatasetVersion) -> None:
    first = run_in_week(version, 1, letters="pppp")
    run_in_week(version, 2, letters="pppf")
    run_in_week(version, 3, letters="ppff")
    measure_series(version.dataset, "a")
    assert told(team) == [("w3", "w2", 1, 0, 4)]
    Baseline.objects.pin(first, by=None)
    assert told(team) == []
    measure_series(version.dataset, "a")
    assert told(team) == [("w3", "w1", 2, 0, 4)]


def test_the_latest_run_pinned_is_the_measure_itself(team: Team, version: DatasetVersion) -> None:
    run_in_week(version, 1, letters="pppp")
    Baseline.objects.pin(run_in_week(version, 2, letters="ffff"), by=None)
    measure_series(version.dataset, "a")
    assert told(team) == []


def test_a_baseline_of_another_series_is_none(team: Team, version: DatasetVersion) -> None:
    Baseline.objects.pin(run_in_week(version, 1, letters="pppp", series="b"), by=None)
    run_in_week(version, 2, letters="ffff")
    for series in "ab":
        measure_series(version.dataset, series)
    assert told(team) == []


def test_another_trial_of_the_same_outputs_is_the_latest_run(
    team: Team, version: DatasetVersion
) -> None:
    pinned = run_in_week(version, 1, letters="pppp")
    latest = run_in_week(version, 2, letters="pppp")
    Baseline.objects.pin(pinned, by=None)
    measure_series(version.dataset, "a")
    run_again(latest.output_set, 0.2, "pfff", name="stricter")
    measure_series(version.dataset, "a")
    assert told(team) == [("stricter", "w1", 3, 0, 4)]


@pytest.mark.parametrize("letters", ["pppp", "fppp"])
def test_a_run_that_broke_nothing_is_not_named(
    team: Team, version: DatasetVersion, letters: str
) -> None:
    run_in_week(version, 1, letters=letters)
    run_in_week(version, 2, letters="pppp")
    measure_series(version.dataset, "a")
    assert told(team) == []


@pytest.mark.parametrize("side", ["before", "after"])
def test_what_was_scored_again_since_is_not_named(
    team: Team, version: DatasetVersion, side: str
) -> None:
    runs = {
        "before": run_in_week(version, 1, letters="pppp"),
        "after": run_in_week(version, 2, letters="ffff"),
    }
    measure_series(version.dataset, "a")
    assert told(team) == [("w2", "w1", 4, 0, 4)]
    Run.objects.filter(pk=runs[side].pk).update(finished_at=timezone.now())
    assert told(team) == []


def test_most_broken_cases_come_first_in_one_query(
    team: Team, make_dataset: MakeDataset, django_assert_num_queries: Any
) -> None:
    for name, letters in {"one": "pppf", "three": "pfff", "two": "ppff"}.items():
        version = make_dataset([{"key": f"q{number}"} for number in range(4)], name=name)
        run_in_week(version, 1, letters="pppp")
        run_in_week(version, 2, letters=letters)
        measure_series(version.dataset, "a")
    found = series_statuses(team)
    with django_assert_num_queries(1):
        named = latest_regressions(found)
    assert [each.standing.dataset_name for each in named] == ["three", "two", "one"]
