"""SVG geometry of numbers; templates draw it, and no outside text enters here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import ceil
from operator import itemgetter
from typing import Final, Literal, NamedTuple

Side = Literal["pass", "fail", "both", "none"]

MIN_BAR: Final = 1.0  # height of a bar that stands for anything at all
MAX_POINTS: Final = 120  # about as many points of a line as can be told apart


@dataclass(frozen=True, slots=True)
class Bar:
    """One bin: its rectangle, the scores `low` ≤ s < `high` it counts, and their verdict.

    `side` is "both" for the bin that the threshold divides, "none" without a threshold.
    """

    x: float
    y: float
    width: float
    height: float
    count: int
    low: float
    high: float
    side: Side


@dataclass(frozen=True, slots=True)
class Histogram:
    """Bars over 0..1 from left to right. `threshold_x` is None without a threshold."""

    width: float
    height: float
    bars: tuple[Bar, ...]
    threshold_x: float | None
    highest: int  # count of the fullest bin
    total: int


class Point(NamedTuple):
    """A value of a line; `place` is its index among the values."""

    x: float
    y: float
    place: int
    value: float


@dataclass(frozen=True, slots=True)
class Sparkline:
    """A line that is broken where values are missing: a run of points between two gaps."""

    width: float
    height: float
    runs: tuple[tuple[Point, ...], ...]
    threshold_y: float | None

    @property
    def paths(self) -> tuple[str, ...]:
        """The `points` attribute of a polyline for each run."""
        return tuple(" ".join(f"{point.x},{point.y}" for point in run) for run in self.runs)

    @property
    def singles(self) -> tuple[Point, ...]:
        """The points without a neighbour, which no line shows."""
        return tuple(run[0] for run in self.runs if len(run) == 1)

    @property
    def last(self) -> Point | None:
        return self.runs[-1][-1] if self.runs else None


def histogram_chart(
    counts: Sequence[int],
    threshold: float | None = None,
    *,
    width: float = 240.0,
    height: float = 64.0,
    gap: float = 1.0,
) -> Histogram:
    """Bars of equal bins over 0..1; the fullest one takes the whole height.

    Serves a small multiple as well: give it a small size.
    """
    highest, bins = max(counts, default=0), len(counts)
    bars = []
    for place, count in enumerate(counts):
        bar_height = round_length(max(MIN_BAR, height * count / highest)) if count else 0.0
        low, high = place / bins, (place + 1) / bins
        x, y = round_length(width / bins * place), round_length(height - bar_height)
        bar_width = round_length(max(0.5, width / bins - gap))
        side = _side(low, high, threshold)
        bars.append(Bar(x, y, bar_width, bar_height, count, low, high, side))
    threshold_x = None if threshold is None else round_length(width * threshold)
    return Histogram(width, height, tuple(bars), threshold_x, highest, sum(counts))


def sparkline(
    values: Sequence[float | None],
    threshold: float | None = None,
    *,
    low: float = 0.0,
    high: float = 1.0,
    width: float = 120.0,
    height: float = 24.0,
) -> Sparkline:
    """A line through the values over an axis from `low` to `high`; None breaks it.

    Values outside the axis lie on its edge. A single value lies in the middle. Of more than
    MAX_POINTS values those are drawn that reach farthest.
    """
    step = width / (len(values) - 1) if len(values) > 1 else 0.0
    first = 0.0 if step else width / 2
    runs = [
        tuple(
            Point(round_length(first + step * place), _y(value, low, high, height), place, value)
            for place, value in run
        )
        for run in _drawn_runs(values)
    ]
    threshold_y = None if threshold is None else _y(threshold, low, high, height)
    return Sparkline(width, height, tuple(runs), threshold_y)


def _drawn_runs(values: Sequence[float | None]) -> Iterable[list[tuple[int, float]]]:
    """The values between gaps with their places: all of few, else the ends of each run and the
    lowest and highest of each part of it.
    """
    size = ceil(2 * len(values) / MAX_POINTS) if len(values) > MAX_POINTS else 1
    gaps = [value is None for value in values]
    for is_gap, places in groupby(range(len(values)), gaps.__getitem__):
        if is_gap:
            continue
        run = [(place, value) for place in places if (value := values[place]) is not None]
        parts = [run[start : start + size] for start in range(0, len(run), size)]
        farthest = {end(part, key=itemgetter(1)) for part in parts for end in (min, max)}
        yield sorted({run[0], run[-1], *farthest})


def _side(low: float, high: float, threshold: float | None) -> Side:
    if threshold is None:
        return "none"
    if low >= threshold:
        return "pass"
    # The last bin counts 1.0 too, which passes a threshold of 1.
    return "fail" if high < threshold or (high == threshold and high < 1) else "both"


def _y(value: float, low: float, high: float, height: float) -> float:
    share = (value - low) / (high - low) if high > low else 0.5
    return round_length(height * (1 - min(1.0, max(0.0, share))))


def round_length(length: float) -> float:
    """A hundredth of a pixel is finer than any screen and keeps pages small."""
    return round(length, 2)
