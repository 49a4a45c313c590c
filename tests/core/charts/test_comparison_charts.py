"""Geometry of the scatter and of the histogram of changes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.charts.comparison_charts import MIN_BAR_HEIGHT, change_histogram, scatter_chart

GRID = 25
places = st.integers(0, GRID - 1)
cells = st.lists(st.tuples(places, places, st.integers(1, 10**6)), max_size=40)


@given(cells)
def test_dots_lie_inside_their_cells(found: list[tuple[int, int, int]]) -> None:
    chart = scatter_chart(found, GRID, (0.5, 0.5), size=300)
    assert chart.cell == 12
    for (x, y, cases), dot in zip(found, chart.dots, strict=True):
        assert found[dot.place] == (x, y, cases)
        assert x * 12 <= dot.cx - dot.radius <= dot.cx + dot.radius <= (x + 1) * 12
        assert 300 - (y + 1) * 12 <= dot.cy - dot.radius <= dot.cy + dot.radius <= 300 - y * 12
        assert dot.before == pytest.approx((x / GRID, (x + 1) / GRID))
        assert dot.after == pytest.approx((y / GRID, (y + 1) / GRID))
        assert dot.radius > 0


@pytest.mark.parametrize(
    ("x", "y", "way"), [(3, 9, "up"), (9, 3, "down"), (4, 4, "same"), (0, 24, "up")]
)
def test_a_dots_way_is_that_of_its_score(x: int, y: int, way: str) -> None:
    assert scatter_chart([(x, y, 1)], GRID, (0.5, 0.5)).dots[0].direction == way


def test_more_cases_make_a_larger_dot() -> None:
    few, some, many = scatter_chart([(0, 0, 1), (1, 1, 40), (2, 2, 900)], GRID, (0.5, 0.5)).dots
    assert few.radius < some.radius < many.radius == 6


def test_thresholds_stand_where_the_axes_put_them() -> None:
    chart = scatter_chart([], GRID, (0.7, 0.9), size=300)
    assert (chart.before_x, chart.after_y) == pytest.approx((210, 30))


counts = st.lists(st.integers(0, 10**6), min_size=21, max_size=21)


@given(counts)
def test_bars_stand_on_the_ground_and_name_what_they_count(numbers: list[int]) -> None:
    chart = change_histogram(numbers, width=320, height=120)
    assert [bar.cases for bar in chart.bars] == numbers
    for bar in chart.bars:
        assert bar.y + bar.height == pytest.approx(120, abs=0.01)
        assert (bar.height == 0) == (bar.cases == 0)
        assert 0 <= bar.height <= 120
        assert bar.x + bar.width <= 320
    for one, other in zip(chart.bars, chart.bars[1:], strict=False):
        assert one.change.high == pytest.approx(other.change.low)
    assert (chart.bars[0].change.low, chart.bars[-1].change.high) == (-1, 1)


@pytest.mark.parametrize(
    ("middle", "moved", "is_cut", "tallest_moved"),
    [
        (385, 12, True, 96.0),  # 120 / 1.25
        (12, 12, False, 120.0),
        (15, 12, False, 96.0),
        (5, 12, False, 120.0),
        (5, 0, False, 0.0),
        (0, 0, False, 0.0),
    ],
)
def test_only_the_cases_that_hardly_moved_are_cut_off(
    middle: int, moved: int, is_cut: bool, tallest_moved: float
) -> None:
    numbers = [0] * 21
    numbers[4], numbers[10] = moved, middle
    found = change_histogram(numbers, height=120)
    bars = found.bars
    assert [place for place, bar in enumerate(bars) if bar.is_cut] == [10] * is_cut
    assert found.cut == (middle if is_cut else 0)
    assert found.tallest == (moved if is_cut else max(moved, middle))
    assert bars[4].height == pytest.approx(tallest_moved)


def test_the_middle_is_no_change_and_the_sides_are_falls_and_rises() -> None:
    bars = change_histogram([1] * 21).bars
    assert [bar.direction for bar in bars] == ["down"] * 10 + ["same"] + ["up"] * 10
    assert bars[10].change == pytest.approx((-0.05, 0.05))


def test_a_rare_change_still_shows() -> None:
    numbers = [0] * 21
    numbers[0], numbers[1] = 1, 1_000_000
    assert change_histogram(numbers, height=120).bars[0].height == MIN_BAR_HEIGHT
