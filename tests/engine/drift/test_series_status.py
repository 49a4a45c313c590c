"""Where a team's series stand."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.engine.drift import measure_series, series_status
from scoring.engine.drift.series_status import SeriesStatus, series_statuses
from scoring.models import Dataset, DatasetVersion, Run, RunState, Team
from tests.conftest import MakeDataset
from tests.support.drift_runs import run_again, run_in_week, scorer_of

STEADY = [0.80, 0.82, 0.81, 0.80, 0.82, 0.80, 0.81, 0.82]


def weeks(version: DatasetVersion, means: list[float], first: int = 0, **fields: Any) -> None:
    for week, mean in enumerate(means, start=first):
        run_in_week(version, week, mean, **fields)


def all_of(team: Team) -> list[SeriesStatus]:
    """With everything measured."""
    for found in series_statuses(team):
        measure_series(Dataset.objects.get(uuid=found.dataset), found.series)
    return series_statuses(team)


def the_one(team: Team) -> SeriesStatus:
    (found,) = all_of(team)
    return found


def test_a_standing_for_each_series_of_each_dataset(
    team: Team, version: DatasetVersion, make_dataset: MakeDataset
) -> None:
    run_in_week(version, 1)
    run_in_week(version, 1, series="b")
    run_in_week(make_dataset([{}], name="Others"), 1)
    found = {(each.dataset_name, each.series) for each in series_statuses(team)}
    assert found == {("Answers", "a"), ("Answers", "b"), ("Others", "a")}


def test_the_worst_comes_first_and_then_the_larger_drop(
    team: Team, version: DatasetVersion
) -> None:
    weeks(version, STEADY, letters="pppp", series="level")
    weeks(version, STEADY, letters="pppp", series="dropped")
    run_in_week(version, 9, 0.81, "ppff", series="dropped")
    weeks(version, [*STEADY, 0.3, *STEADY[:7]], letters="pppp", series="mended")
    weeks(version, [*STEADY, 0.3], letters="pppp", series="drifting")
    found = all_of(team)
    assert [each.series for each in found] == ["drifting", "mended", "dropped", "level"]
    assert [each.is_drifting for each in found] == [True, False, False, False]
    assert found[2].delta == -0.5


def test_the_rate_is_of_all_cases_and_errors_do_not_pass(
    team: Team, version: DatasetVersion
) -> None:
    run_in_week(version, 2, letters="pfes")
    run_in_week(version, 1, letters="ppps")
    run_in_week(version, 3)
    found = the_one(team)
    assert [(stop.name, stop.rate, stop.cases) for stop in found.stops] == [
        ("w1", 0.75, 4),
        ("w2", 0.25, 4),
        ("w3", None, 0),
    ]
    assert found.delta is None


def test_scorers_of_which_the_same_is_said_share_a_sentence(
    team: Team, version: DatasetVersion
) -> None:
    both = [scorer_of(version, "close"), scorer_of(version, "same")]
    weeks(version, [*STEADY, 0.3], scorers=both)
    found = the_one(team)
    assert found.sentences == ["close and same decreased with w8: 0.810 → 0.300."]


def test_means_before_a_break_do_not_count(
    team: Team, version: DatasetVersion, make_dataset: MakeDataset
) -> None:
    weeks(version, [*STEADY, 0.3])
    assert the_one(team).is_drifting
    scorer_of(version).revise({"case_sensitive": True}, by=None)
    run_in_week(version, 10, 0.3)
    assert (the_one(team).news, the_one(team).comparable) == ((), 1)
    later = make_dataset([{"key": f"q{number}"} for number in range(4)])
    weeks(later, [0.3] * 8 + [0.1], 11)
    assert the_one(team).sentences == ["close decreased with w19: 0.300 → 0.100."]


def test_a_scorer_that_the_latest_run_has_not_is_no_news(
    team: Team, version: DatasetVersion
) -> None:
    weeks(version, [*STEADY, 0.3], scorers=[scorer_of(version, "old")])
    run_in_week(version, 10, scorers=[scorer_of(version, "new")])
    assert the_one(team).news == ()


def test_outputs_that_were_scored_again_are_one_stop(team: Team, version: DatasetVersion) -> None:
    first = run_in_week(version, 1, letters="ffff")
    run_in_week(version, 2, letters="pppp")
    run_again(first.output_set, 0.5, "ppff")
    assert the_one(team).rates == [0.5, 1.0]


def test_unfinished_runs_and_other_teams_have_no_part(team: Team, version: DatasetVersion) -> None:
    run = run_in_week(version, 1)
    assert series_statuses(Team.objects.create(name="Other", slug="other")) == []
    Run.objects.filter(pk=run.pk).update(state=RunState.RUNNING)
    assert series_statuses(team) == []


def test_it_takes_one_query_however_much_there_is(
    team: Team, make_dataset: MakeDataset, django_assert_num_queries: Any
) -> None:
    for number in range(3):
        version = make_dataset([{}], name=f"dataset {number}")
        weeks(version, STEADY, scorers=[scorer_of(version, name) for name in "xyz"])
    with django_assert_num_queries(1):
        assert len(series_statuses(team)) == 3


@pytest.mark.parametrize(
    "means",
    [
        pytest.param([*STEADY, *STEADY, *STEADY, 0.3], marks=pytest.mark.slow),
        pytest.param([*[0.2] * 9, *STEADY, *STEADY, 0.3, 0.8], marks=pytest.mark.slow),
        pytest.param([*STEADY, *[0.2] * 3, *STEADY, *STEADY], marks=pytest.mark.slow),
        [*[0.2] * 9, *STEADY, *[0.5] * 3],
    ],
)
def test_of_a_long_series_the_same_is_said_as_if_every_run_was_read(
    team: Team, version: DatasetVersion, monkeypatch: pytest.MonkeyPatch, means: list[float]
) -> None:
    weeks(version, means, letters="ppff")
    every = the_one(team)
    monkeypatch.setattr(series_status, "MAX_RUNS_PER_SERIES", 12)
    (found,) = series_statuses(team)
    assert (found.sentences, found.severity) == (every.sentences, every.severity)
    assert (found.latest, found.delta) == (every.latest, every.delta)
    assert (found.is_judged, found.run_count) == (True, len(means))
    assert found.stops == every.stops[-12:]


def test_outputs_scored_twice_count_as_one_run_of_a_long_series(
    team: Team, version: DatasetVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = run_in_week(version, 1, letters="ffff")
    weeks(version, [0.8] * 3, 2)
    run_again(first.output_set, 0.5, "ppff")
    monkeypatch.setattr(series_status, "MAX_RUNS_PER_SERIES", 2)
    (found,) = series_statuses(team)
    assert (found.run_count, len(found.stops)) == (4, 2)
