"""Geometry of drift charts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.charts.drift_chart import (
    EDGE,
    MIN_BAR_SIZE,
    MIN_SPAN,
    ChartReading,
    DriftChart,
    Span,
    drift_chart,
    value_ticks,
)

FIRST = datetime(2026, 1, 5, tzinfo=UTC)


def reading(week: float, mean: float | None = 0.8, **fields: object) -> ChartReading:
    plain = ChartReading(f"run-{week}", f"w{week}", FIRST + timedelta(weeks=week), mean)
    return plain._replace(threshold=0.7)._replace(**fields)


def points(line: str) -> list[tuple[float, float]]:
    pairs = (pair.split(",") for pair in line.split())
    return [(float(x), float(y)) for x, y in pairs]


def test_runs_lie_where_their_dates_are() -> None:
    chart = drift_chart([reading(0), reading(1), reading(4)], width=400 + 2 * EDGE)
    assert [mark.x for mark in chart.marks] == [EDGE, EDGE + 100, EDGE + 400]
    assert [(mark.run, mark.label, mark.place) for mark in chart.marks] == [
        ("run-0", "w0", 0), ("run-1", "w1", 1), ("run-4", "w4", 2),
    ]  # fmt: skip


@pytest.mark.parametrize(("count", "xs"), [(0, []), (1, [50]), (3, [EDGE, 50, 100 - EDGE])])
def test_runs_of_one_moment_lie_side_by_side(count: int, xs: list[float]) -> None:
    assert [mark.x for mark in drift_chart([reading(0)] * count, width=100).marks] == xs


def test_no_runs_make_an_empty_chart() -> None:
    chart = drift_chart([])
    assert (chart.marks, chart.bands, chart.bars, chart.date_ticks) == ((), (), (), ())
    assert (chart.threshold_line, chart.limits, chart.baseline_y) == ("", None, None)


def test_means_run_over_the_chosen_axis() -> None:
    """The axis goes from 0.6 to 1: the lowest and highest of all that is drawn."""
    chart = drift_chart(
        [reading(0, 0.8, interval=(0.6, 1.0)), reading(1, 0.9, interval=(0.85, 0.95))],
        width=100 + 2 * EDGE,
        height=200,
    )
    assert chart.mean_lines == (f"{EDGE},100.0 {EDGE + 100},50.0",)
    (band,) = chart.bands
    assert points(band) == [(EDGE, 0), (EDGE + 100, 25), (EDGE + 100, 75), (EDGE, 200)]
    assert chart.threshold_line == f"0.0,150.0 {100 + 2 * EDGE},150.0"
    assert [(tick.at, tick.text) for tick in chart.value_ticks] == [
        (200, "0.60"), (150, "0.70"), (100, "0.80"), (50, "0.90"), (0, "1.00"),
    ]  # fmt: skip


def test_lines_and_bands_end_where_versions_change() -> None:
    cut = {"breaks": ("scorer version 1 → 2",), "is_cut_off": True}
    readings = [reading(week, interval=(0.75, 0.85), pass_rate=0.9) for week in range(5)]
    readings[2] = readings[2]._replace(**cut)
    chart = drift_chart(readings, width=400 + 2 * EDGE)
    assert [len(points(line)) for line in chart.mean_lines] == [2, 3]
    assert [len(points(line)) for line in chart.rate_lines] == [2, 3]
    assert [len(points(band)) for band in chart.bands] == [4, 6]
    (rule,) = chart.rules
    assert (rule.x, rule.texts, rule.run, rule.is_cut) == (
        EDGE + 150, ("scorer version 1 → 2",), "run-2", True,
    )  # fmt: skip


def test_a_run_alone_between_breaks_has_a_whisker_instead_of_a_band() -> None:
    ends = {"interval": (0.7, 0.9)}
    alone = [reading(0, **ends), reading(1, **ends), reading(2, is_cut_off=True, **ends)]
    chart = drift_chart(alone, width=200 + 2 * EDGE)
    assert [len(points(band)) for band in chart.bands] == [4]
    ((top, bottom),) = map(points, chart.whiskers)
    assert (top[0], bottom[0]) == (EDGE + 200, EDGE + 200)
    assert top[1] < chart.marks[2].y < bottom[1]
    assert drift_chart([reading(0, **ends)]).bands == ()
    assert drift_chart([reading(0)]).whiskers == ()


def test_a_changed_threshold_is_a_step_and_no_cut() -> None:
    readings = [reading(0), reading(1), reading(2, threshold=0.75, breaks=("threshold",))]
    chart = drift_chart(readings, width=200 + 2 * EDGE, height=100)
    assert len(chart.mean_lines) == 1
    ends = points(chart.threshold_line)
    assert [x for x, _ in ends] == [0, EDGE + 150, EDGE + 150, 200 + 2 * EDGE]
    assert ends[0][1] == ends[1][1] > ends[2][1] == ends[3][1]
    assert not chart.rules[0].is_cut


def test_a_missing_mean_breaks_the_line_and_keeps_its_mark() -> None:
    chart = drift_chart([reading(0), reading(1), reading(2, None), reading(3), reading(4)])
    assert [len(points(line)) for line in chart.mean_lines] == [2, 2]
    assert [mark.y is None for mark in chart.marks] == [False, False, True, False, False]


def test_marks_say_what_they_are() -> None:
    chart = drift_chart(
        [reading(0, is_baseline=True), reading(1, is_change=True), reading(2, is_outside=True)]
    )
    flags = [(mark.is_baseline, mark.is_change, mark.is_outside) for mark in chart.marks]
    assert flags == [(True, False, False), (False, True, False), (False, False, True)]
    assert chart.baseline_y == chart.marks[0].y


def test_without_a_baseline_there_is_no_line_for_it() -> None:
    assert drift_chart([reading(0), reading(1)]).baseline_y is None


def test_limits_reach_from_their_first_run_to_the_last() -> None:
    chart = drift_chart(
        [reading(week) for week in range(5)],
        Span(0.6, 0.8, 1.0, first=2),
        width=400 + 2 * EDGE,
        height=200,
    )
    assert chart.limits == (EDGE + 200, 200, 200, 0)


def test_bars_of_fixed_and_broken_cases_grow_from_the_middle() -> None:
    readings = [reading(0), reading(1, fixed=10, broke=5), reading(2, fixed=0, broke=1)]
    chart = drift_chart(readings, width=200 + 2 * EDGE, bars_height=80)
    first, second = chart.bars
    assert (first.fixed_y, first.fixed_height) == (0, 40)
    assert (first.broke_y, first.broke_height) == (40, 20)
    assert (second.fixed_height, second.broke_height) == (0, 4)
    assert (first.run, first.fixed, first.broke, chart.most_flips) == ("run-1", 10, 5, 10)
    assert first.x + first.width / 2 == pytest.approx(chart.marks[1].x, abs=0.01)


def test_a_single_flip_still_shows() -> None:
    chart = drift_chart([reading(0), reading(1, fixed=100_000, broke=1)])
    assert chart.bars[0].broke_height == MIN_BAR_SIZE


def test_texts_have_lines_of_their_own() -> None:
    readings = [reading(0, similarity=1.0, distinct=0.5), reading(1, similarity=0.25, distinct=1.0)]
    chart = drift_chart(readings, texts_height=100)
    assert [y for _, y in points(chart.similarity_lines[0])] == [0, 75]
    assert [y for _, y in points(chart.distinct_lines[0])] == [50, 0]


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0.0, 1.0, [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (0.8, 0.9, [0.8, 0.82, 0.84, 0.86, 0.88, 0.9]),
        (0.65, 0.9, [0.65, 0.7, 0.75, 0.8, 0.85, 0.9]),
        (0.55, 1.0, [0.6, 0.7, 0.8, 0.9, 1.0]),
    ],
)
def test_the_axis_of_means_has_round_values(low: float, high: float, ticks: list[float]) -> None:
    assert value_ticks(low, high) == ticks


unit = st.floats(0, 1)
shapes = st.lists(
    st.tuples(st.integers(0, 5000), st.none() | unit, unit, unit, st.booleans()), max_size=60
)


@given(shapes)
def test_everything_lies_inside(
    drawn: list[tuple[int, float | None, float, float, bool]],
) -> None:
    readings = [
        reading(week, mean, pass_rate=rate, threshold=threshold, is_cut_off=cut, similarity=rate)
        for week, mean, rate, threshold, cut in sorted(drawn, key=lambda each: each[0])
    ]
    chart = drift_chart(readings, width=600, height=200, texts_height=50)
    assert all(0 <= x <= 600 for x, _ in all_points(chart))
    assert all(0 <= y <= 200 for _, y in all_points(chart))
    assert [mark.y is None for mark in chart.marks] == [each.mean is None for each in readings]
    low, high = (float(tick.text) for tick in (chart.value_ticks[0], chart.value_ticks[-1]))
    assert high - low >= MIN_SPAN - 0.05 - 1e-9
    assert all(0 <= tick.at <= 600 for tick in chart.date_ticks)
    for line in chart.similarity_lines:
        assert all(0 <= y <= 50 for _, y in points(line))


def all_points(chart: DriftChart) -> list[tuple[float, float]]:
    lines = [*chart.mean_lines, *chart.rate_lines, *chart.bands, chart.threshold_line]
    marks = [(mark.x, mark.y) for mark in chart.marks if mark.y is not None]
    return [point for line in lines for point in points(line)] + marks
