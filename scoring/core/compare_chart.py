"""Two runs' scores drawn: a scatter of the cases and a histogram of how far they moved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

Way = Literal["up", "down", "same"]

SMALLEST: Final = 0.3  # radius of a dot of one case, as a share of half a cell
LOWEST: Final = 1.5  # height of a bar that stands for anything at all


class Span(NamedTuple):
    """Scores or changes from `low` to `high`."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Dot:
    """The cases of one cell of the scatter; `place` is the cell's among those given."""

    place: int
    cx: float
    cy: float
    radius: float
    cases: int
    before: Span
    after: Span
    way: Way


@dataclass(frozen=True, slots=True)
class Scatter:
    """A square of `size`: the baseline's score to the right, the candidate's upwards."""

    size: float
    cell: float
    dots: tuple[Dot, ...]
    before_x: float  # the baseline's threshold
    after_y: float  # the candidate's


@dataclass(frozen=True, slots=True)
class Step:
    """Cases whose score changed by `change`; a bar that is cut off does not show their number."""

    x: float
    y: float
    width: float
    height: float
    cases: int
    change: Span
    way: Way
    is_cut: bool


@dataclass(frozen=True, slots=True)
class Steps:
    width: float
    height: float
    bars: tuple[Step, ...]
    middle_x: float

    @property
    def tallest(self) -> int:
        """The cases of the highest bar that is not cut off."""
        return max((bar.cases for bar in self.bars if not bar.is_cut), default=0)

    @property
    def cut(self) -> int:
        """The cases of the bar that is cut off, 0 where none is."""
        return sum(bar.cases for bar in self.bars if bar.is_cut)


def scatter(
    cells: Sequence[tuple[int, int, int]],
    grid: int,
    thresholds: tuple[float, float],
    *,
    size: float = 300.0,
) -> Scatter:
    """A dot for each (x, y, cases), whose area grows with the cases; `grid` cells a side."""
    cell = size / grid
    most = max((cases for *_, cases in cells), default=1)
    dots = [_dot(place, found, most, grid, cell) for place, found in enumerate(cells)]
    before, after = thresholds
    return Scatter(size, cell, tuple(dots), _rounded(size * before), _rounded(size * (1 - after)))


def steps(counts: Sequence[int], *, width: float = 320.0, height: float = 120.0) -> Steps:
    """Bars from a fall by 1 to a rise by 1; the middle one, of cases that hardly moved, is cut
    off where it would make the others invisible.
    """
    middle, step = len(counts) // 2, width / len(counts)
    moved = max((count for place, count in enumerate(counts) if place != middle), default=0)
    scale = moved * 1.25 if counts[middle] > moved * 1.25 > 0 else max(moved, counts[middle], 1)
    bars = [
        _bar(place, count, middle, step, min(1.0, count / scale) * height, height)
        for place, count in enumerate(counts)
    ]
    cut = [bar if bar.cases <= scale else _cut(bar) for bar in bars]
    return Steps(width, height, tuple(cut), _rounded(width / 2))


def change_span(place: int, middle: int) -> Span:
    """What the bar at this place stands for, counted from 0; that at `middle` for no change."""
    low, high = ((2 * (place - middle) + side) / (2 * middle or 1) for side in (-1, 1))
    return Span(max(-1.0, low), min(1.0, high))


def _dot(place: int, found: tuple[int, int, int], most: int, grid: int, cell: float) -> Dot:
    x, y, cases = found
    share = SMALLEST + (1 - SMALLEST) * ((cases - 1) / (most - 1)) ** 0.5 if most > 1 else 0.5
    return Dot(
        place=place,
        cx=_rounded((x + 0.5) * cell),
        cy=_rounded((grid - y - 0.5) * cell),
        radius=_rounded(cell / 2 * share),
        cases=cases,
        before=Span(x / grid, (x + 1) / grid),
        after=Span(y / grid, (y + 1) / grid),
        way="up" if y > x else "down" if y < x else "same",
    )


def _bar(place: int, cases: int, middle: int, step: float, tall: float, height: float) -> Step:
    tall = _rounded(max(LOWEST, tall)) if cases else 0.0
    return Step(
        x=_rounded(place * step + 0.5),
        y=_rounded(height - tall),
        width=_rounded(step - 1),
        height=tall,
        cases=cases,
        change=change_span(place, middle),
        way="up" if place > middle else "down" if place < middle else "same",
        is_cut=False,
    )


def _cut(bar: Step) -> Step:
    return Step(bar.x, bar.y, bar.width, bar.height, bar.cases, bar.change, bar.way, is_cut=True)


def _rounded(length: float) -> float:
    return round(length, 2)
