"""The runs before and after a run in its series, and its baseline."""

from __future__ import annotations

import pytest

from scoring.engine.runs.neighbours import next_run, previous_run, run_baseline
from scoring.models import Baseline, DatasetVersion, Run, RunState
from tests.conftest import MakeDataset
from tests.support.drift_runs import run_in_week


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset([{"key": "q"}])


def test_neighbours_are_finished_runs_of_the_series_in_time(version: DatasetVersion) -> None:
    week_3, week_1 = run_in_week(version, 3), run_in_week(version, 1)
    run_in_week(version, 2, series="b")
    unfinished = run_in_week(version, 2)
    Run.objects.filter(pk=unfinished.pk).update(state=RunState.RUNNING)
    week_5 = run_in_week(version, 5)
    assert (previous_run(week_3), next_run(week_3)) == (week_1, week_5)
    assert (previous_run(week_1), next_run(week_5)) == (None, None)
    again = run_in_week(version, 3)  # the later of two at the same time
    assert (previous_run(again), next_run(again)) == (week_3, week_5)
    assert (previous_run(week_3), next_run(week_3)) == (week_1, again)


def test_the_baseline_is_the_pinned_run_else_the_previous_one(version: DatasetVersion) -> None:
    runs = [run_in_week(version, week, letters="p") for week in range(3)]
    other = run_in_week(version, 3, letters="p", series="b")
    assert run_baseline(runs[2]) == runs[1]
    Baseline.objects.pin(runs[0], by=None)
    assert run_baseline(runs[2]) == runs[0]
    assert run_baseline(runs[0]) is None  # it is the baseline, and there is no earlier run
    assert run_baseline(other) is None  # which has a series of its own
    Baseline.objects.get().unpin(by=None)
    assert run_baseline(runs[2]) == runs[1]
