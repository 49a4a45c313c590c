"""What a point of a line says of its run."""

from __future__ import annotations

from scoring.core.stats.change_points import control_limits
from scoring.models import DatasetVersion, Output, OutputSet
from tests.conftest import MakeDataset
from tests.engine.drift.test_line import FLIPPING, STEADY, the_line, weeks
from tests.support.drift_runs import run_in_week
from tests.support.run_states import CLOSE, finished_run


def test_a_point_says_what_the_summary_says(version: DatasetVersion) -> None:
    run = run_in_week(version, 1, 0.8, "pppe", threshold=0.65)
    summary = run.scorers.get().summary
    point = the_line(version.dataset).points[0]
    assert (point.run, point.n, point.unscored, point.mean) == (str(run.uuid), 4, 0, 0.8)
    assert point.interval == summary.mean_estimate.interval
    assert (point.pass_rate, point.threshold) == (0.75, 0.65)
    assert (point.scorer_version, point.dataset_version) == (1, 1)
    assert (point.before, point.pairs, point.fixed, point.broke) == (None, None, None, None)


def test_a_run_without_scores_has_no_mean_and_not_zero(version: DatasetVersion) -> None:
    weeks(version, STEADY)
    run_in_week(version, 9, None, "eeee")
    line = the_line(version.dataset)
    last = line.points[-1]
    assert (last.mean, last.interval, last.pass_rate, last.n, last.unscored) == (
        None, None, None, 0, 4,
    )  # fmt: skip
    assert line.limits == control_limits(STEADY)
    assert line.sentences[0] == "close has scored nothing in w9."


def test_flips_are_those_against_the_point_before(version: DatasetVersion) -> None:
    runs = [run_in_week(version, week, 0.8, each) for week, each in enumerate(FLIPPING)]
    line = the_line(version.dataset)
    found = [(point.pairs, point.fixed, point.broke) for point in line.points]
    assert found == [(None, None, None), (4, 1, 1), (4, 2, 0), (3, 0, 2)]
    assert [point.cases for point in line.points] == [None, (4, 1, 1), (4, 2, 0), (3, 0, 2)]
    assert [point.before for point in line.points] == [None, *(str(run.uuid) for run in runs[:3])]
    assert line.is_measured


def test_a_note_says_what_changed_at_a_point(version: DatasetVersion) -> None:
    weeks(version, [*STEADY, *(mean - 0.2 for mean in STEADY)], threshold=0.6)
    run_in_week(version, 16, 0.1)
    run_in_week(version, 17, 0.61)
    notes = the_line(version.dataset).notes
    assert notes[8] == ("level decreased 0.810 → 0.610",)
    assert notes[16] == ("threshold 0.6 → 0.7", "below the level")
    assert not any(notes[:8])


def test_a_tag_has_its_own_figures(make_dataset: MakeDataset) -> None:
    version = make_dataset(
        [
            {"expected": "yes", "tags": ["a", "b"]},
            {"expected": "yes", "tags": ["b"]},
            {"expected": "yes", "tags": []},
        ]
    )
    outputs = OutputSet.objects.create(version=version, series="a", output_count=3)
    for case, text in zip(version.cases.all(), ["yes", "no", "no"], strict=True):
        Output.objects.create(output_set=outputs, case=case, text=text)
    finished_run(outputs, CLOSE)
    tags = the_line(version.dataset).points[0].tags
    assert {tag: tuple(figure) for tag, figure in tags.items()} == {
        "a": (1, 1.0, 1.0),
        "b": (2, 0.5, 0.5),
    }
