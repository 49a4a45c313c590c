"""The geometry of a comparison's charts: a scatter of the cases, a histogram of their changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from scoring.core.charts.small_charts import round_length

Direction = Literal["up", "down", "same"]

MIN_RADIUS: Final = 0.3  # radius of a dot of one case, as a share of half a cell
MIN_BAR_HEIGHT: Final = 1.5  # height of a bar that stands for anything at all


class ScoreRange(NamedTuple):
    """Scores or changes from `low` to `high`."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Dot:
    """The cases of one cell of the scatter; `place` is the index of the cell."""

    place: int
    cx: float
    cy: float
    radius: float
    cases: int
    before: ScoreRange
    after: ScoreRange
    direction: Direction


@dataclass(frozen=True, slots=True)
class Scatter:
    """A square of `size`: the baseline's score to the right, the candidate's upwards."""

    size: float
    cell: float
    dots: tuple[Dot, ...]
    before_x: float  # the baseline's threshold
    after_y: float  # the candidate's


@dataclass(frozen=True, slots=True)
class ChangeBar:
    """Cases whose score changed by `change`; a bar that is cut off does not show their number."""

    x: float
    y: float
    width: float
    height: float
    cases: int
    change: ScoreRange
    direction: Direction
    is_cut: bool


@dataclass(frozen=True, slots=True)
class ChangeHistogram:
    width: float
    height: float
    bars: tuple[ChangeBar, ...]

    @property
    def tallest(self) -> int:
        """The cases of the highest bar that is not cut off."""
        return max((bar.cases for bar in self.bars if not bar.is_cut), default=0)

    @property
    def cut(self) -> int:
        """The cases of the bar that is cut off, 0 where none is."""
        return sum(bar.cases for bar in self.bars if bar.is_cut)


def scatter_chart(
    cells: Sequence[tuple[int, int, int]],
    grid: int,
    thresholds: tuple[float, float],
    *,
    size: float = 300.0,
) -> Scatter:
    """A dot for each (x, y, cases), whose area grows with the cases; `grid` cells a side."""
    length = size / grid
    most = max((cases for *_, cases in cells), default=1)
    dots = tuple(_dot(place, cell, most, grid, length) for place, cell in enumerate(cells))
    before_x, after_y = size * thresholds[0], size * (1 - thresholds[1])
    return Scatter(size, length, dots, round_length(before_x), round_length(after_y))


def change_histogram(
    counts: Sequence[int], *, width: float = 320.0, height: float = 120.0
) -> ChangeHistogram:
    """Bars from a fall by 1 to a rise by 1; the middle one, of cases that hardly moved, is cut
    off where it would make the others invisible.
    """
    middle, step = len(counts) // 2, width / len(counts)
    moved = max((count for place, count in enumerate(counts) if place != middle), default=0)
    scale = moved * 1.25 if counts[middle] > moved * 1.25 > 0 else max(moved, counts[middle], 1)
    bars = []
    for place, cases in enumerate(counts):
        share = min(1.0, cases / scale)
        bar_height = round_length(max(MIN_BAR_HEIGHT, share * height)) if cases else 0.0
        bars.append(
            ChangeBar(
                x=round_length(place * step + 0.5),
                y=round_length(height - bar_height),
                width=round_length(step - 1),
                height=bar_height,
                cases=cases,
                change=change_span(place, middle),
                direction=_way(middle, place),
                is_cut=cases > scale,
            )
        )
    return ChangeHistogram(width, height, tuple(bars))


def change_span(place: int, middle: int) -> ScoreRange:
    """The changes that a bar counts, by its index; the bar at `middle` stands for no change."""
    low, high = ((2 * (place - middle) + side) / (2 * middle or 1) for side in (-1, 1))
    return ScoreRange(max(-1.0, low), min(1.0, high))


def _dot(place: int, cell: tuple[int, int, int], most: int, grid: int, length: float) -> Dot:
    x, y, cases = cell
    share = MIN_RADIUS + (1 - MIN_RADIUS) * ((cases - 1) / (most - 1)) ** 0.5 if most > 1 else 0.5
    return Dot(
        place=place,
        cx=round_length((x + 0.5) * length),
        cy=round_length((grid - y - 0.5) * length),
        radius=round_length(length / 2 * share),
        cases=cases,
        before=ScoreRange(x / grid, (x + 1) / grid),
        after=ScoreRange(y / grid, (y + 1) / grid),
        direction=_way(x, y),
    )


def _way(before: int, after: int) -> Direction:
    return "up" if after > before else "down" if after < before else "same"
