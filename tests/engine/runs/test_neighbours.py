"""The runs before and after a run in its series, and its baseline."""

from __future__ import annotations

import pytest

from scoring.engine.review.carry_over import carry_over
from scoring.engine.runs.neighbours import next_run, previous_run, run_baseline
from scoring.models import Baseline, DatasetVersion, OutputSet, Run, RunState, User
from tests.conftest import MakeDataset
from tests.support.drift_runs import FIRST_DAY, run_again, run_in_week


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


def test_runs_over_the_same_outputs_are_no_neighbours(version: DatasetVersion) -> None:
    weeks = [run_in_week(version, week) for week in range(3)]
    again = [run_again(week.output_set, 0.8, name="again") for week in weeks]
    assert previous_run(again[1]) == previous_run(weeks[1]) == again[0]
    assert next_run(again[1]) == next_run(weeks[1]) == again[2]
    assert run_baseline(again[0]) is None
    assert run_baseline(again[1], "close") == again[0]
    assert run_baseline(again[1], "other") is None


def test_outputs_over_a_later_version_are_the_same_outputs(
    version: DatasetVersion, make_dataset: MakeDataset, alice: User
) -> None:
    weeks = [run_in_week(version, week, letters="p") for week in range(3)]
    later = make_dataset([{"key": "q"}])
    again = [run_again(carry_over(week.output_set, later, alice), 0.8) for week in weeks]
    assert [previous_run(run) for run in again] == [None, again[0], again[1]]
    assert [previous_run(run) for run in weeks] == [None, again[0], again[1]]
    assert [next_run(run) for run in weeks] == [again[1], again[2], None]


def test_a_date_in_the_future_hides_no_later_run(version: DatasetVersion) -> None:
    """Such as 2062 for 2026: its outputs stand where they came."""
    future = run_in_week(version, 52 * 60)
    OutputSet.objects.filter(pk=future.output_set_id).update(created_at=FIRST_DAY)
    future.output_set.refresh_from_db()
    later = run_in_week(version, 1)
    assert (run_baseline(later), next_run(future)) == (future, later)
    assert run_baseline(future) is None


def test_a_run_goes_on_against_what_an_alert_opened_with(version: DatasetVersion) -> None:
    first, second, third = (run_in_week(version, week) for week in range(3))
    assert run_baseline(third, "close", since=first) == first
    assert run_baseline(first, "close", since=third) is None
    assert run_baseline(second, since=run_again(second.output_set, 0.8)) == first
    first.deleted_at = first.finished_at
    assert run_baseline(third, since=first) != first


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
