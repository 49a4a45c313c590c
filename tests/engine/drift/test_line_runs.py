"""Which runs are on a line, in which order, and what they are called."""

from __future__ import annotations

from datetime import timedelta

from scoring.engine.drift import drift_lines
from scoring.engine.review.carry_over import carry_over
from scoring.models import DatasetVersion, Run, RunState, User
from tests.conftest import MakeDataset
from tests.engine.drift.test_line import the_line
from tests.support.drift_runs import FIRST_DAY, run_again, run_in_week, scorer_of


def test_a_line_for_each_series_and_scorer(version: DatasetVersion) -> None:
    both = [scorer_of(version, "close"), scorer_of(version, "same")]
    run_in_week(version, 2, scorers=both)
    run_in_week(version, 1, scorers=both[:1], series="b")
    lines = drift_lines(version.dataset)
    assert [(line.series, line.scorer) for line in lines] == [
        ("a", "close"),
        ("a", "same"),
        ("b", "close"),
    ]
    (chosen,) = drift_lines(version.dataset, scorers=["close"], series=["b"])
    assert [point.label for point in chosen.points] == ["w1"]
    assert drift_lines(version.dataset, scorers=["nobody"]) == []


def test_points_follow_the_dates_of_the_outputs_not_of_the_runs(version: DatasetVersion) -> None:
    for week in (3, 1, 2):
        run_in_week(version, week, 0.8)
    (line,) = drift_lines(version.dataset)
    assert [point.label for point in line.points] == ["w1", "w2", "w3"]
    assert line.points[0].dated == FIRST_DAY + timedelta(weeks=1)


def test_only_finished_runs_of_the_dataset_are_points(
    version: DatasetVersion, make_dataset: MakeDataset
) -> None:
    run_in_week(version, 1)
    running = run_in_week(version, 2)
    Run.objects.filter(pk=running.pk).update(state=RunState.RUNNING)
    run_in_week(make_dataset([{}], name="Others"), 3)
    (line,) = drift_lines(version.dataset)
    assert [point.label for point in line.points] == ["w1"]


def test_outputs_that_were_scored_again_are_one_point(version: DatasetVersion) -> None:
    first = run_in_week(version, 1, 0.5, "pppp")
    run_in_week(version, 2, 0.6, "pppp")
    again = run_again(first.output_set, 0.7, "pfpp")
    line = the_line(version.dataset)
    assert [(point.label, point.mean) for point in line.points] == [("again", 0.7), ("w2", 0.6)]
    assert line.points[0].run == str(again.uuid)
    assert (line.points[1].fixed, line.points[1].broke) == (1, 0)


def test_names_that_several_runs_have_come_with_a_date(version: DatasetVersion) -> None:
    run_in_week(version, 0, name="nightly")
    run_in_week(version, 1, name="nightly")
    run_in_week(version, 2, name="release")
    (line,) = drift_lines(version.dataset)
    assert [point.label for point in line.points] == [
        "nightly (2015-01-05)",
        "nightly (2015-01-12)",
        "release",
    ]


def test_outputs_that_were_scored_again_over_a_later_version_are_one_point(
    version: DatasetVersion, make_dataset: MakeDataset, alice: User
) -> None:
    """The line stays comparable, and says where it was scored again."""
    older = [run_in_week(version, week, 0.5 + week / 10, "pppp") for week in range(3)]
    cases = [{"key": case.key, "input": case.input} for case in version.cases.order_by("position")]
    later = make_dataset(cases)
    for run in older:
        run_again(carry_over(run.output_set, later, alice), 0.9, "pppp")
    line = the_line(later.dataset)
    assert [point.mean for point in line.points] == [0.9, 0.9, 0.9]
    told = "scored again: dataset version 1 → 2"
    assert [[change.text for change in point.breaks] for point in line.points] == [[told], [], []]
    assert not any(point.is_cut_off for point in line.runs)


def test_a_line_of_which_a_part_was_scored_again_parts_there(
    version: DatasetVersion, make_dataset: MakeDataset, alice: User
) -> None:
    run_in_week(version, 1, 0.5, "pppp")
    second = run_in_week(version, 2, 0.6, "pppp")
    cases = [{"key": case.key, "input": case.input} for case in version.cases.order_by("position")]
    later = make_dataset(cases)
    run_again(carry_over(second.output_set, later, alice), 0.9, "pppp")
    line = the_line(later.dataset)
    assert [point.mean for point in line.points] == [0.5, 0.9]
    assert [change.text for change in line.points[1].breaks] == ["dataset version 1 → 2"]
