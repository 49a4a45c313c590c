"""Charts and small multiples of drift lines."""

from __future__ import annotations

from datetime import timedelta

from scoring.engine.drift import DriftLine, drift_lines, measure_series
from scoring.engine.drift.chart import build_chart, tag_lines
from scoring.models import Baseline, DatasetVersion, OutputSet, Run, RunDrift
from tests.support.drift_runs import FIRST_DAY, run_in_week

STEADY = [0.80, 0.82, 0.81, 0.80, 0.82, 0.80, 0.81, 0.82]


def the_line(version: DatasetVersion) -> DriftLine:
    measure_series(version.dataset, "a")
    return drift_lines(version.dataset)[0]


def test_a_chart_marks_what_the_line_knows(version: DatasetVersion) -> None:
    means = [*STEADY, *(mean - 0.2 for mean in STEADY), 0.2]
    runs = [run_in_week(version, week, mean) for week, mean in enumerate(means)]
    run_in_week(version, 17, 0.61, threshold=0.6)
    Baseline.objects.pin(passed(runs[2]), by=None)
    line = the_line(version)
    chart = build_chart(line)
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


def passed(run: Run) -> Run:
    """The run with every case passed, so that it is fit to be a baseline."""
    for output in run.output_set.outputs.select_related("case"):
        run.verdicts.create(output=output, position=output.case.position, verdict=0)
    return run


def test_without_limits_none_are_drawn(version: DatasetVersion) -> None:
    run_in_week(version, 0)
    chart = build_chart(the_line(version))
    assert (chart.limits, chart.baseline_y, chart.bars) == (None, None, ())


def test_the_axis_ends_today_whatever_date_is_typed(version: DatasetVersion) -> None:
    for week in (0, 52 * 45, 1):
        run_in_week(version, week)
    OutputSet.objects.filter(dated__year__gt=2050).update(created_at=FIRST_DAY + timedelta(days=1))
    chart = build_chart(the_line(version))
    assert [point.label for point in the_line(version).points] == ["w0", "w2340", "w1"]
    xs = [mark.x for mark in chart.marks]
    assert xs == sorted(xs)
    assert xs[1] - xs[0] < xs[2] - xs[1]


def test_a_tags_line_has_a_place_for_every_run(version: DatasetVersion) -> None:
    runs = [run_in_week(version, week, 0.8, "pppp") for week in range(3)]
    the_line(version)
    kept = [{"x": [4, 0.5, 0.25]}, {}, {"x": [3, 0.75, 1.0], "y": [9, 0.1, 0.0]}]
    for run, tags in zip(runs, kept, strict=True):
        RunDrift.objects.filter(run=run).update(tags={"close": tags, "other": {"z": [1, 1, 1]}})
    first, second = tag_lines(drift_lines(version.dataset)[0])
    assert (first.tag, first.means) == ("y", [None, None, 0.1])
    assert (second.tag, second.means) == ("x", [0.5, None, 0.75])
    assert second.latest == (3, 0.75, 1.0)
