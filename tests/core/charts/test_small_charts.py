"""Geometry of histograms and sparklines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.charts.small_charts import MAX_POINTS, MIN_BAR, Point, histogram_chart, sparkline

counts = st.lists(st.integers(0, 10**6), min_size=1, max_size=20)


@given(counts, st.floats(0, 1))
def test_bars_stand_on_the_ground_side_by_side(numbers: list[int], threshold: float) -> None:
    chart = histogram_chart(numbers, threshold, width=200, height=50)
    for bar in chart.bars:
        assert bar.y + bar.height == pytest.approx(50, abs=0.01)
        assert 0 <= bar.x <= bar.x + bar.width <= 200.01
        assert (bar.height == 0) == (bar.count == 0)
    for before, after in zip(chart.bars, chart.bars[1:], strict=False):
        assert before.x + before.width <= after.x + 0.01
        assert before.high == after.low
    assert chart.total == sum(numbers)
    assert [bar.count for bar in chart.bars] == numbers


@given(counts)
def test_the_fullest_bar_takes_the_whole_height(numbers: list[int]) -> None:
    chart = histogram_chart(numbers, height=50)
    assert chart.highest == max(numbers)
    assert max(bar.height for bar in chart.bars) == (50 if chart.highest else 0)


def test_a_rare_score_still_shows() -> None:
    chart = histogram_chart([1, 1_000_000], height=50)
    assert chart.bars[0].height == MIN_BAR


def test_no_bins_make_an_empty_chart() -> None:
    chart = histogram_chart([])
    assert (chart.bars, chart.highest, chart.total, chart.threshold_x) == ((), 0, 0, None)


@pytest.mark.parametrize(
    ("threshold", "sides"),
    [
        (None, ["none", "none", "none", "none"]),
        (0.0, ["pass", "pass", "pass", "pass"]),
        (0.5, ["fail", "fail", "pass", "pass"]),
        (0.6, ["fail", "fail", "both", "pass"]),
        (0.75, ["fail", "fail", "fail", "pass"]),
        (1.0, ["fail", "fail", "fail", "both"]),
    ],
)
def test_bars_know_their_side_of_the_threshold(threshold: float | None, sides: list[str]) -> None:
    chart = histogram_chart([1, 1, 1, 1], threshold, width=100)
    assert [bar.side for bar in chart.bars] == sides
    assert chart.threshold_x == (None if threshold is None else 100 * threshold)


def test_a_sparkline_runs_from_edge_to_edge() -> None:
    line = sparkline([0.0, 0.5, 1.0], 0.8, width=100, height=20)
    assert line.runs == ((Point(0, 20, 0, 0.0), Point(50, 10, 1, 0.5), Point(100, 0, 2, 1.0)),)
    assert line.paths == ("0.0,20.0 50.0,10.0 100.0,0.0",)
    assert line.threshold_y == 4
    assert line.last == Point(100, 0, 2, 1.0)


def test_a_missing_value_breaks_the_line() -> None:
    line = sparkline([None, 0.1, 0.2, None, None, 0.3, None])
    assert [[point.place for point in run] for run in line.runs] == [[1, 2], [5]]
    assert [point.place for point in line.singles] == [5]


@pytest.mark.parametrize(
    ("values", "last"), [([], None), ([None], None), ([0.25], Point(60, 18, 0, 0.25))]
)
def test_few_values_make_no_trouble(values: list[float | None], last: Point | None) -> None:
    assert sparkline(values).last == last


@pytest.mark.parametrize(("value", "y"), [(5.0, 20), (10.0, 10), (15.0, 0), (99.0, 0), (-1.0, 20)])
def test_another_axis_can_be_chosen(value: float, y: float) -> None:
    line = sparkline([value], low=5, high=15, height=20)
    assert line.runs[0][0].y == y


def test_an_axis_without_extent_puts_the_line_in_the_middle() -> None:
    assert sparkline([3.0, 3.0], low=3, high=3, height=20).runs[0][1].y == 10


@given(st.lists(st.none() | st.floats(0, 1), min_size=MAX_POINTS + 1, max_size=700))
def test_of_many_values_the_farthest_the_ends_and_the_gaps_are_drawn(
    values: list[float | None],
) -> None:
    runs = sparkline(values).runs
    drawn = {point.place: point.value for run in runs for point in run}
    known = [value for value in values if value is not None]
    assert all(values[place] == value for place, value in drawn.items())
    assert not known or {min(known), max(known)} <= set(drawn.values())
    for end in (0, len(values) - 1):
        assert values[end] is None or end in drawn
    gaps = [place for place, value in enumerate(values) if value is None]
    edges = {edge for place in gaps for edge in (place - 1, place + 1)}
    assert all(edge in drawn for edge in edges if 0 <= edge < len(values) and edge not in gaps)


def test_a_long_line_has_few_points() -> None:
    for count in (MAX_POINTS, 500, 5_000):
        points = sparkline([place % 7 / 7 for place in range(count)]).runs[0]
        assert MAX_POINTS / 2 <= len(points) <= MAX_POINTS + 2


@given(st.lists(st.none() | st.floats(-2, 3), max_size=30))
def test_every_point_lies_inside(values: list[float | None]) -> None:
    line = sparkline(values, width=100, height=20)
    points = [point for run in line.runs for point in run]
    assert [point.value for point in points] == [value for value in values if value is not None]
    assert all(0 <= point.x <= 100 and 0 <= point.y <= 20 for point in points)
