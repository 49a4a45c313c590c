"""Sums by case are kept for the next run, and hold only while no run of them changes."""

from __future__ import annotations

from django.utils import timezone

from scoring.engine.drift import drift_lines, measure_series
from scoring.engine.drift.level_sums import PartSums
from scoring.models import DatasetVersion, DriftResult, Run
from tests.conftest import MakeDataset
from tests.engine.drift.test_levels import DOWN, about, add_run, version
from tests.support.finished_runs import Given, run_with

__all__ = ["version"]


def test_what_is_decided_does_not_depend_on_when_it_was(version: DatasetVersion) -> None:
    """Judged after each run, or all at once."""
    levels = [*DOWN, *about(0.85, 3), *[0.9, 0.7] * 3]
    for week, level in enumerate(levels):
        add_run(version, week, level)
        measure_series(version.dataset, "a")
    (line,) = drift_lines(version.dataset)
    one_by_one = line.decided
    assert DriftResult.objects.all().delete()[0] == len(levels)
    measure_series(version.dataset, "a")
    (line,) = drift_lines(version.dataset)
    assert line.decided == one_by_one


def test_a_run_that_comes_late_or_is_taken_away_is_judged_with_those_after_it(
    version: DatasetVersion,
) -> None:
    levels = about(0.85, 12)
    for week in (*range(5), *range(6, 12)):
        add_run(version, week, levels[week])
    measure_series(version.dataset, "a")
    late = add_run(version, 5, 0.5)
    (line,) = drift_lines(version.dataset)
    assert (line.is_measured, line.standing.status) == (False, "untested")
    assert "w11 is not tested against earlier runs yet." in line.sentences
    measure_series(version.dataset, "a")
    (line,) = drift_lines(version.dataset)
    assert [each.place for each in line.outside] == [5]
    Run.objects.filter(pk=late.pk).update(deleted_at=timezone.now())
    measure_series(version.dataset, "a")
    (line,) = drift_lines(version.dataset)
    assert (line.is_measured, line.outside, line.changes) == (True, [], [])


def test_trials_of_a_case_are_one_unit_by_their_mean(make_dataset: MakeDataset) -> None:
    scores: list[Given] = [0.0, 1.0, 0.5, 0.5, "error", 1.0, "error", "error"]
    run = run_with(make_dataset([{}] * 4), {"close": scores}, trials=2)
    sums = PartSums(run.output_set.version.dataset, "a", [run.scorers.get()])([0])
    assert (sums.n, sums.totals.tolist(), sums.counts.tolist()) == (3, [0.5, 0.5, 1.0], [1, 1, 1])
