"""Charts and small multiples of drift lines, and the figures behind them."""

from __future__ import annotations

import pytest

from scoring.core.text_drift import MOST_CHARACTERS
from scoring.engine.drift import Line, lines_of, measure
from scoring.engine.drift.chart import MOST_TAGS, chart_of, tag_lines
from scoring.engine.drift.measure import MOST_TAGS as KEPT_TAGS
from scoring.engine.drift.measure import common_tags, tag_figures
from scoring.models import Baseline, DatasetVersion, Output, Run, RunDrift
from tests.conftest import MakeDataset, MakeOutputs
from tests.drifting import run_in_week
from tests.scored import CLOSE, EXACT, finished_run

STEADY = [0.80, 0.82, 0.81, 0.80, 0.82, 0.80, 0.81, 0.82]


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset([{"key": f"q{number}"} for number in range(4)])


def the_line(version: DatasetVersion) -> Line:
    measure(version.dataset, "a")
    return lines_of(version.dataset)[0]


def test_a_chart_marks_what_the_line_knows(version: DatasetVersion) -> None:
    means = [*STEADY, *(mean - 0.2 for mean in STEADY), 0.2]
    runs = [run_in_week(version, week, mean) for week, mean in enumerate(means)]
    run_in_week(version, 17, 0.61, threshold=0.6)
    Baseline.objects.pin(full(runs[2]), by=None)
    line = the_line(version)
    chart = chart_of(line)
    assert [mark.run for mark in chart.marks] == [point.run for point in line.points]
    assert [mark.place for mark in chart.marks if mark.is_baseline] == [2]
    assert [mark.place for mark in chart.marks if mark.is_change] == [
        change.place for change in line.changes
    ]
    assert line.changes
    assert [mark.place for mark in chart.marks if mark.is_outside] == [
        each.place for each in line.outside
    ]
    assert line.outside
    assert chart.baseline_y == chart.marks[2].y
    assert [rule.texts for rule in chart.rules] == [("threshold 0.7 → 0.6",)]
    assert chart.limits is not None
    assert chart.limits.x == chart.marks[line.limited[0]].x


def full(run: Run) -> Run:
    """The run with every case passed, so that it is fit to be a baseline."""
    for case in run.output_set.version.cases.all():
        output = Output.objects.create(output_set=run.output_set, case=case, text="x")
        run.verdicts.create(output=output, position=case.position, verdict=0)
    return run


def test_without_limits_none_are_drawn(version: DatasetVersion) -> None:
    run_in_week(version, 0)
    chart = chart_of(the_line(version))
    assert (chart.limits, chart.baseline_y, chart.bars) == (None, None, ())


# Tags.


def test_the_commonest_tags_are_kept(make_dataset: MakeDataset) -> None:
    tags = [f"t{number:02}" for number in range(30)]
    version = make_dataset([{"tags": tags[: number + 1]} for number in range(30)])
    assert common_tags(version.pk) == tags[:KEPT_TAGS]
    assert KEPT_TAGS == MOST_TAGS == 20


def test_tags_are_counted_per_scorer(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> None:
    cases = [
        {"expected": "abcd", "tags": ["x", 'a "quoted" ü']},
        {"expected": "abcd", "tags": ["x"]},
        {"expected": "abcd"},
        {"expected": "abcd", "tags": ["x", "lost"]},
    ]
    run = finished_run(make_outputs(make_dataset(cases), ["abcd", "abxy", "", None]), CLOSE, EXACT)
    figures = tag_figures(run)
    assert figures["close"]["x"] == [2, pytest.approx(0.75), 0.5]
    assert figures["exact"] == {"x": [2, 0.5, 0.5], 'a "quoted" ü': [1, 1.0, 1.0]}


def test_cases_without_tags_cost_nothing(version: DatasetVersion) -> None:
    assert tag_figures(run_in_week(version, 0, 0.8, "pppp")) == {}


def test_a_tags_line_has_a_place_for_every_run(version: DatasetVersion) -> None:
    runs = [run_in_week(version, week, 0.8, "pppp") for week in range(3)]
    the_line(version)
    kept = [{"x": [4, 0.5, 0.25]}, {}, {"x": [3, 0.75, 1.0], "y": [9, 0.1, 0.0]}]
    for run, tags in zip(runs, kept, strict=True):
        RunDrift.objects.filter(run=run).update(tags={"close": tags, "other": {"z": [1, 1, 1]}})
    first, second = tag_lines(lines_of(version.dataset)[0])
    assert (first.tag, first.means) == ("y", [None, None, 0.1])
    assert (second.tag, second.means) == ("x", [0.5, None, 0.75])
    assert second.latest == (3, 0.75, 1.0)


# Texts.


def test_long_texts_differ_by_their_beginning_or_their_length(version: DatasetVersion) -> None:
    start = "a" * MOST_CHARACTERS
    texts = [start + "x", start + "y", start + "yy", "b" + start]
    run_in_week(version, 0, 0.8, "pppp", texts=texts)
    assert the_line(version).points[0].distinct == 0.75


def test_outputs_that_failed_are_not_compared(version: DatasetVersion) -> None:
    run = run_in_week(version, 0, 0.8, "pppp")
    Output.objects.filter(output_set=run.output_set).update(text=None)
    point = the_line(version).points[0]
    assert (point.similarity, point.compared, point.distinct) == (None, 0, None)
