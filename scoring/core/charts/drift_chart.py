"""A drift line as SVG geometry: three panels over one axis of dates.

The upper panel holds means with their intervals, pass rates, threshold, limits and breaks, the
middle one cases fixed and broken, the lower one the similarity of texts. y grows downwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from math import ceil, floor
from typing import Final, NamedTuple

from scoring.core.charts.date_axis import date_ticks
from scoring.core.charts.small_charts import round_length

MIN_SPAN: Final = 0.1  # of the axis of means
EDGE: Final = 12.0  # between the first and last marks and the sides
GRAIN: Final = 0.05  # the axis of means ends at a multiple of it
MAX_BAR_WIDTH: Final = 14.0  # width
MIN_BAR_SIZE: Final = 1.0  # width, and height of a bar that stands for anything


class ChartReading(NamedTuple):
    """One run on the line; None is a figure that is not there."""

    run: str
    label: str
    time: datetime
    mean: float | None
    interval: tuple[float, float] | None = None
    pass_rate: float | None = None
    threshold: float = 0.0
    fixed: int | None = None
    broke: int | None = None
    similarity: float | None = None
    distinct: float | None = None
    breaks: tuple[str, ...] = ()  # what is different from the run before
    is_cut_off: bool = False  # whether lines end before it
    is_baseline: bool = False
    is_change: bool = False  # whether the level changed with it
    is_outside: bool = False  # of the level of the runs around it


class Span(NamedTuple):
    """Limits, drawn from the reading at `first` to the last one."""

    low: float
    centre: float
    high: float
    first: int


@dataclass(frozen=True, slots=True)
class Mark:
    """A run. `place` is its position among the readings; `y` None where it has no mean."""

    x: float
    y: float | None
    place: int
    run: str
    label: str
    is_baseline: bool
    is_change: bool
    is_outside: bool


@dataclass(frozen=True, slots=True)
class FlipBar:
    """Cases fixed, upwards from the middle of the panel, and broken, downwards."""

    x: float
    width: float
    fixed_y: float
    fixed_height: float
    broke_y: float
    broke_height: float
    fixed: int
    broke: int
    place: int
    run: str


class BreakLine(NamedTuple):
    """A vertical line between a run and the one before, with what changed there."""

    x: float
    texts: tuple[str, ...]
    run: str
    is_cut: bool


class Tick(NamedTuple):
    at: float  # x or y
    text: str


class Band(NamedTuple):
    x: float
    width: float
    low_y: float
    high_y: float


@dataclass(frozen=True, slots=True)
class DriftChart:
    """Geometry in the units of `width`. Lines and bands are `points` attributes."""

    width: float
    height: float
    bars_height: float
    texts_height: float
    marks: tuple[Mark, ...]
    mean_lines: tuple[str, ...]
    bands: tuple[str, ...]
    whiskers: tuple[str, ...]  # the interval of a run that stands alone between breaks
    rate_lines: tuple[str, ...]
    threshold_line: str
    baseline_y: float | None
    limits: Band | None
    rules: tuple[BreakLine, ...]
    bars: tuple[FlipBar, ...]
    most_flips: int  # that half the middle panel's height stands for
    similarity_lines: tuple[str, ...]
    distinct_lines: tuple[str, ...]
    date_ticks: tuple[Tick, ...]
    value_ticks: tuple[Tick, ...]


def drift_chart(
    readings: Sequence[ChartReading],
    limits: Span | None = None,
    baseline: float | None = None,
    *,
    width: float = 960.0,
    height: float = 240.0,
    bars_height: float = 72.0,
    texts_height: float = 56.0,
) -> DriftChart:
    """The chart of readings in order of time.

    `baseline` is the mean of the baseline run, where that is not one of the readings.
    """
    xs = _spread_over_dates(readings, width)
    low, high = _axis_ends(readings, limits)

    def y(value: float) -> float:
        return round_length(height * (high - min(high, max(low, value))) / (high - low))

    def text_y(value: float) -> float:
        return round_length(texts_height * (1 - value))

    places, parts = range(len(readings)), _split_at_cuts(readings)
    most = max((max(r.fixed or 0, r.broke or 0) for r in readings), default=0)
    if baseline is None:
        baseline = next((r.mean for r in readings if r.is_baseline and r.mean is not None), None)
    return DriftChart(
        width=width,
        height=height,
        bars_height=bars_height,
        texts_height=texts_height,
        marks=tuple(_mark(r, place, xs[place], y) for place, r in enumerate(readings)),
        mean_lines=_lines(parts, xs, [r.mean for r in readings], y),
        bands=tuple(_outlines(readings, parts, xs, y, is_single=False)),
        whiskers=tuple(_outlines(readings, parts, xs, y, is_single=True)),
        rate_lines=_lines(parts, xs, [r.pass_rate for r in readings], y),
        threshold_line=_threshold_line(readings, xs, y, width),
        baseline_y=None if baseline is None else y(baseline),
        limits=_band(limits, xs, y) if limits and xs else None,
        rules=tuple(_rules(readings, xs)),
        bars=tuple(_bars(readings, xs, most, bars_height)),
        most_flips=most,
        similarity_lines=_lines([places], xs, [r.similarity for r in readings], text_y),
        distinct_lines=_lines([places], xs, [r.distinct for r in readings], text_y),
        date_ticks=_date_ticks(readings, xs),
        value_ticks=tuple(Tick(y(value), f"{value:.2f}") for value in value_ticks(low, high)),
    )


def value_ticks(low: float, high: float) -> list[float]:
    """Three to seven round values from `low` to `high`."""
    step = next(step for step in (0.02, 0.05, 0.1, 0.2, 0.5) if (high - low) / step <= 6.01)
    first = ceil(low / step - 1e-9)
    return [round(place * step, 2) for place in range(first, floor(high / step + 1e-9) + 1)]


def _spread_over_dates(readings: Sequence[ChartReading], width: float) -> list[float]:
    """The x of each reading, by its time; evenly where all have the same."""
    if not readings:
        return []
    first, span = readings[0].time, readings[-1].time - readings[0].time
    inner, last = width - 2 * EDGE, len(readings) - 1
    if span:
        return [round_length(EDGE + inner * ((r.time - first) / span)) for r in readings]
    return [round_length(EDGE + inner * (n / last if last else 0.5)) for n in range(last + 1)]


def _axis_ends(readings: Sequence[ChartReading], limits: Span | None) -> tuple[float, float]:
    """Lower and upper end of the axis of means: all that is drawn fits, within 0..1."""
    values = [
        v for r in readings for v in (r.mean, r.pass_rate, *(r.interval or ())) if v is not None
    ]
    values += [r.threshold for r in readings] + (list(limits[:3]) if limits else [])
    low, high = min(values, default=0.0), max(values, default=1.0)
    low, high = floor(low / GRAIN + 1e-9) * GRAIN, ceil(high / GRAIN - 1e-9) * GRAIN
    if high - low < MIN_SPAN:
        low, high = low - MIN_SPAN / 2, high + MIN_SPAN / 2
    return round(max(0.0, min(low, 1 - MIN_SPAN)), 2), round(min(1.0, max(high, MIN_SPAN)), 2)


def _split_at_cuts(readings: Sequence[ChartReading]) -> list[list[int]]:
    parts: list[list[int]] = [[]]
    for place, reading in enumerate(readings):
        if reading.is_cut_off:
            parts.append([])
        parts[-1].append(place)
    return [part for part in parts if part]


def _lines(
    parts: Iterable[Sequence[int]],
    xs: Sequence[float],
    values: Sequence[float | None],
    y: Callable[[float], float],
) -> tuple[str, ...]:
    """A polyline for each part, broken where values are missing."""
    lines: list[list[str]] = []
    for part in parts:
        lines.append([])
        for place in part:
            value = values[place]
            if value is None:
                lines.append([])
            else:
                lines[-1].append(f"{xs[place]},{y(value)}")
    return tuple(" ".join(line) for line in lines if len(line) > 1)


def _outlines(
    readings: Sequence[ChartReading],
    parts: Iterable[Sequence[int]],
    xs: Sequence[float],
    y: Callable[[float], float],
    *,
    is_single: bool,
) -> Iterable[str]:
    """The outlines of the intervals of those parts that have a single one, or more."""
    for part in parts:
        ends = [(xs[place], span) for place in part if (span := readings[place].interval)]
        upper = [f"{x},{y(high)}" for x, (_, high) in ends]
        lower = [f"{x},{y(low)}" for x, (low, _) in reversed(ends)]
        if ends and is_single == (len(ends) == 1):
            yield " ".join(upper + lower)


def _threshold_line(
    readings: Sequence[ChartReading], xs: Sequence[float], y: Callable[[float], float], width: float
) -> str:
    """The threshold from side to side, with a step half-way to the run it changed with."""
    if not readings:
        return ""
    points = [(0.0, y(readings[0].threshold))]
    for place in range(1, len(readings)):
        if readings[place].threshold != readings[place - 1].threshold:
            x = round_length((xs[place - 1] + xs[place]) / 2)
            points += [(x, points[-1][1]), (x, y(readings[place].threshold))]
    points.append((width, points[-1][1]))
    return " ".join(f"{x},{height}" for x, height in points)


def _mark(reading: ChartReading, place: int, x: float, y: Callable[[float], float]) -> Mark:
    return Mark(
        x=x,
        y=None if reading.mean is None else y(reading.mean),
        place=place,
        run=reading.run,
        label=reading.label,
        is_baseline=reading.is_baseline,
        is_change=reading.is_change,
        is_outside=reading.is_outside,
    )


def _band(limits: Span, xs: Sequence[float], y: Callable[[float], float]) -> Band:
    x = xs[limits.first]
    return Band(x, round_length(xs[-1] - x), low_y=y(limits.low), high_y=y(limits.high))


def _rules(readings: Sequence[ChartReading], xs: Sequence[float]) -> Iterable[BreakLine]:
    for place, reading in enumerate(readings):
        if place and reading.breaks:
            x = round_length((xs[place - 1] + xs[place]) / 2)
            yield BreakLine(x, reading.breaks, reading.run, reading.is_cut_off)


def _bars(
    readings: Sequence[ChartReading], xs: Sequence[float], most: int, height: float
) -> Iterable[FlipBar]:
    gaps = [after - before for before, after in pairwise(xs)]
    width = round_length(
        min(MAX_BAR_WIDTH, max(MIN_BAR_SIZE, 0.6 * min(gaps, default=MAX_BAR_WIDTH)))
    )
    middle = height / 2
    for place, reading in enumerate(readings):
        if reading.fixed is None or reading.broke is None:
            continue
        up, down = (
            round_length(max(MIN_BAR_SIZE, middle * count / most)) if count else 0.0
            for count in (reading.fixed, reading.broke)
        )
        yield FlipBar(
            x=round_length(xs[place] - width / 2), width=width,
            fixed_y=round_length(middle - up), fixed_height=up, broke_y=middle, broke_height=down,
            fixed=reading.fixed, broke=reading.broke, place=place, run=reading.run,
        )  # fmt: skip


def _date_ticks(readings: Sequence[ChartReading], xs: Sequence[float]) -> tuple[Tick, ...]:
    if not readings:
        return ()
    first, last = readings[0].time, readings[-1].time
    span, room = last - first, xs[-1] - xs[0]
    return tuple(
        Tick(round_length(xs[0] + (room * ((tick.at - first) / span) if span else 0.0)), tick.text)
        for tick in date_ticks(first, last)
    )
