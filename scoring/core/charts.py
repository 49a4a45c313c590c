"""Numbers to SVG geometry. Templates draw it; no text from outside comes in here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

Side = Literal["pass", "fail", "both", "none"]

MIN_BAR: Final = 1.0  # height of a bar that stands for anything at all


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


@dataclass(frozen=True, slots=True)
class Point:
    """A value of a line; `place` is its position among the values."""

    x: float
    y: float
    place: int
    value: float


@dataclass(frozen=True, slots=True)
class Sparkline:
    """A line that is broken where values are missing: one run of points for each stretch."""

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
    highest = max(counts, default=0)
    step = width / len(counts) if counts else 0.0
    bars: list[Bar] = []
    for place, count in enumerate(counts):
        tall = _rounded(max(MIN_BAR, height * count / highest)) if count else 0.0
        low, high = place / len(counts), (place + 1) / len(counts)
        bars.append(
            Bar(
                x=_rounded(place * step),
                y=_rounded(height - tall),
                width=_rounded(max(0.5, step - gap)),
                height=tall,
                count=count,
                low=low,
                high=high,
                side=_side(low, high, threshold),
            )
        )
    threshold_x = None if threshold is None else _rounded(width * threshold)
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

    Values outside the axis lie on its edge. A single value lies in the middle.
    """
    runs: list[list[Point]] = [[]]
    for place, value in enumerate(values):
        if value is None:
            runs.append([])
        else:
            x = width * place / (len(values) - 1) if len(values) > 1 else width / 2
            runs[-1].append(Point(_rounded(x), _y(value, low, high, height), place, value))
    threshold_y = None if threshold is None else _y(threshold, low, high, height)
    return Sparkline(width, height, tuple(tuple(run) for run in runs if run), threshold_y)


def _side(low: float, high: float, threshold: float | None) -> Side:
    if threshold is None:
        return "none"
    if low >= threshold:
        return "pass"
    # The last bin counts 1.0 too, which passes a threshold of 1.
    return "fail" if high < threshold or (high == threshold and high < 1) else "both"


def _y(value: float, low: float, high: float, height: float) -> float:
    share = (value - low) / (high - low) if high > low else 0.5
    return _rounded(height * (1 - min(1.0, max(0.0, share))))


def _rounded(length: float) -> float:
    """A hundredth of a pixel is finer than any screen and keeps pages small."""
    return round(length, 2)
