"""A drift line as SVG geometry: three panels over one axis of dates.

The upper panel holds means with their intervals, pass rates, threshold, limits and breaks, the
middle one cases fixed and broken, the lower one likeness of texts. y grows downwards in each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from math import ceil, floor
from typing import Final, NamedTuple

from scoring.core.date_axis import date_ticks

MOST_MARKS: Final = 200
LEAST_SPAN: Final = 0.1  # of the axis of means
EDGE: Final = 12.0  # between the first and last marks and the sides
GRAIN: Final = 0.05  # the axis of means ends at a multiple of it
MOST_BAR: Final = 14.0  # width
LEAST_BAR: Final = 1.0  # width, and height of a bar that stands for anything


class Reading(NamedTuple):
    """One run on the line; None is a figure that is not there."""

    run: str
    label: str
    dated: datetime
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
    is_outside: bool = False  # of the control limits


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
    rate_y: float | None
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


class Rule(NamedTuple):
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
    centre_y: float
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
    rules: tuple[Rule, ...]
    bars: tuple[FlipBar, ...]
    most_flips: int  # that half the middle panel's height stands for
    similarity_lines: tuple[str, ...]
    distinct_lines: tuple[str, ...]
    date_ticks: tuple[Tick, ...]
    value_ticks: tuple[Tick, ...]
    is_decimated: bool


def drift_chart(
    readings: Sequence[Reading],
    limits: Span | None = None,
    *,
    width: float = 960.0,
    height: float = 240.0,
    bars_height: float = 72.0,
    texts_height: float = 56.0,
) -> DriftChart:
    """The chart of readings in order of time. Above MOST_MARKS only telling ones are kept."""
    xs = _across(readings, width)
    low, high = _axis(readings, limits)

    def y(value: float) -> float:
        return _rounded(height * (high - min(high, max(low, value))) / (high - low))

    def text_y(value: float) -> float:
        return _rounded(texts_height * (1 - value))

    kept = kept_places(readings)
    parts = _parted(readings, kept)
    most = max((max(r.fixed or 0, r.broke or 0) for r in readings), default=0)
    baseline = next((r.mean for r in readings if r.is_baseline and r.mean is not None), None)
    return DriftChart(
        width=width,
        height=height,
        bars_height=bars_height,
        texts_height=texts_height,
        marks=tuple(_mark(readings[place], place, xs[place], y) for place in kept),
        mean_lines=_lines(parts, xs, lambda place: readings[place].mean, y),
        bands=tuple(_around(readings, parts, xs, y, is_alone=False)),
        whiskers=tuple(_around(readings, parts, xs, y, is_alone=True)),
        rate_lines=_lines(parts, xs, lambda place: readings[place].pass_rate, y),
        threshold_line=_stairs(readings, xs, y, width),
        baseline_y=None if baseline is None else y(baseline),
        limits=_limits(limits, xs, y),
        rules=tuple(_rules(readings, xs)),
        bars=tuple(_bars(readings, kept, xs, most, bars_height)),
        most_flips=most,
        similarity_lines=_lines([kept], xs, lambda place: readings[place].similarity, text_y),
        distinct_lines=_lines([kept], xs, lambda place: readings[place].distinct, text_y),
        date_ticks=_date_ticks(readings, xs),
        value_ticks=tuple(Tick(y(value), f"{value:.2f}") for value in value_ticks(low, high)),
        is_decimated=len(kept) < len(readings),
    )


def kept_places(readings: Sequence[Reading], most: int = MOST_MARKS) -> list[int]:
    """The places to draw: all up to `most`; beyond, the ends, whatever is special, and of each
    stretch of runs the lowest and highest mean and the most flips.
    """
    everything = range(len(readings))
    if len(readings) <= most:
        return list(everything)
    kept = {0, len(readings) - 1}
    kept |= {place for place in everything if _is_special(readings[place])}
    buckets = max(1, (most - len(kept)) // 3)
    size = ceil(len(readings) / buckets)
    for start in range(0, len(readings), size) if len(kept) < most else ():
        kept |= _telling(readings, range(start, min(start + size, len(readings))))
    return sorted(kept)


def value_ticks(low: float, high: float) -> list[float]:
    """Three to seven round values from `low` to `high`."""
    step = next(step for step in (0.02, 0.05, 0.1, 0.2, 0.5) if (high - low) / step <= 6.01)
    first = ceil(low / step - 1e-9)
    return [round(place * step, 2) for place in range(first, floor(high / step + 1e-9) + 1)]


def _is_special(reading: Reading) -> bool:
    return any((reading.breaks, reading.is_baseline, reading.is_change, reading.is_outside))


def _telling(readings: Sequence[Reading], places: range) -> set[int]:
    means = [place for place in places if readings[place].mean is not None]
    found = {max(places, key=lambda p: (readings[p].fixed or 0) + (readings[p].broke or 0))}
    if means:
        found |= {pick(means, key=lambda p: readings[p].mean or 0.0) for pick in (min, max)}
    return found


def _across(readings: Sequence[Reading], width: float) -> list[float]:
    """The x of each reading, by its date; evenly where all have the same."""
    if not readings:
        return []
    first, span = readings[0].dated, readings[-1].dated - readings[0].dated
    inner, last = width - 2 * EDGE, len(readings) - 1
    if span:
        return [_rounded(EDGE + inner * ((each.dated - first) / span)) for each in readings]
    return [_rounded(EDGE + inner * (n / last if last else 0.5)) for n in range(last + 1)]


def _axis(readings: Sequence[Reading], limits: Span | None) -> tuple[float, float]:
    """Lower and upper end of the axis of means: all that is drawn fits, within 0..1."""
    values = [
        v for r in readings for v in (r.mean, r.pass_rate, *(r.interval or ())) if v is not None
    ]
    values += [r.threshold for r in readings] + (list(limits[:3]) if limits else [])
    low, high = min(values, default=0.0), max(values, default=1.0)
    low, high = floor(low / GRAIN + 1e-9) * GRAIN, ceil(high / GRAIN - 1e-9) * GRAIN
    if high - low < LEAST_SPAN:
        low, high = low - LEAST_SPAN / 2, high + LEAST_SPAN / 2
    return round(max(0.0, min(low, 1 - LEAST_SPAN)), 2), round(min(1.0, max(high, LEAST_SPAN)), 2)


def _parted(readings: Sequence[Reading], kept: Sequence[int]) -> list[list[int]]:
    parts: list[list[int]] = [[]]
    for place in kept:
        if readings[place].is_cut_off:
            parts.append([])
        parts[-1].append(place)
    return [part for part in parts if part]


def _lines(
    parts: Iterable[Sequence[int]],
    xs: Sequence[float],
    value_of: Callable[[int], float | None],
    y: Callable[[float], float],
) -> tuple[str, ...]:
    """A polyline for each part, broken where values are missing."""
    lines: list[list[str]] = []
    for part in parts:
        lines.append([])
        for place in part:
            value = value_of(place)
            if value is None:
                lines.append([])
            else:
                lines[-1].append(f"{xs[place]},{y(value)}")
    return tuple(" ".join(line) for line in lines if len(line) > 1)


def _around(
    readings: Sequence[Reading],
    parts: Iterable[Sequence[int]],
    xs: Sequence[float],
    y: Callable[[float], float],
    *,
    is_alone: bool,
) -> Iterable[str]:
    """The outlines of the intervals of those parts that have a single one, or more."""
    for part in parts:
        ends = [(xs[place], found) for place in part if (found := readings[place].interval)]
        upper = [f"{x},{y(high)}" for x, (_, high) in ends]
        lower = [f"{x},{y(low)}" for x, (low, _) in reversed(ends)]
        if ends and is_alone == (len(ends) == 1):
            yield " ".join(upper + lower)


def _stairs(
    readings: Sequence[Reading], xs: Sequence[float], y: Callable[[float], float], width: float
) -> str:
    """The threshold from side to side, with a step half-way to the run it changed with."""
    if not readings:
        return ""
    points = [(0.0, y(readings[0].threshold))]
    for place in range(1, len(readings)):
        if readings[place].threshold != readings[place - 1].threshold:
            x = _rounded((xs[place - 1] + xs[place]) / 2)
            points += [(x, points[-1][1]), (x, y(readings[place].threshold))]
    points.append((width, points[-1][1]))
    return " ".join(f"{x},{at}" for x, at in points)


def _mark(reading: Reading, place: int, x: float, y: Callable[[float], float]) -> Mark:
    return Mark(
        x=x,
        y=None if reading.mean is None else y(reading.mean),
        rate_y=None if reading.pass_rate is None else y(reading.pass_rate),
        place=place,
        run=reading.run,
        label=reading.label,
        is_baseline=reading.is_baseline,
        is_change=reading.is_change,
        is_outside=reading.is_outside,
    )


def _limits(limits: Span | None, xs: Sequence[float], y: Callable[[float], float]) -> Band | None:
    if limits is None or not xs:
        return None
    x = xs[limits.first]
    low, centre, high = (y(value) for value in limits[:3])
    return Band(x, _rounded(xs[-1] - x), low, centre, high)


def _rules(readings: Sequence[Reading], xs: Sequence[float]) -> Iterable[Rule]:
    for place in range(1, len(readings)):
        reading = readings[place]
        if reading.breaks:
            x = _rounded((xs[place - 1] + xs[place]) / 2)
            yield Rule(x, reading.breaks, reading.run, reading.is_cut_off)


def _bars(
    readings: Sequence[Reading], kept: Sequence[int], xs: Sequence[float], most: int, height: float
) -> Iterable[FlipBar]:
    gaps = [xs[after] - xs[before] for before, after in pairwise(kept)]
    width = _rounded(min(MOST_BAR, max(LEAST_BAR, 0.6 * min(gaps, default=MOST_BAR))))
    middle = height / 2
    for place in kept:
        reading = readings[place]
        if reading.fixed is None or reading.broke is None:
            continue
        up, down = (_tall(count, most, middle) for count in (reading.fixed, reading.broke))
        yield FlipBar(
            x=_rounded(xs[place] - width / 2), width=width,
            fixed_y=_rounded(middle - up), fixed_height=up, broke_y=middle, broke_height=down,
            fixed=reading.fixed, broke=reading.broke, place=place, run=reading.run,
        )  # fmt: skip


def _tall(count: int, most: int, room: float) -> float:
    return _rounded(max(LEAST_BAR, room * count / most)) if count else 0.0


def _date_ticks(readings: Sequence[Reading], xs: Sequence[float]) -> tuple[Tick, ...]:
    if not readings:
        return ()
    first, last = readings[0].dated, readings[-1].dated
    span, room = last - first, xs[-1] - xs[0]
    return tuple(
        Tick(_rounded(xs[0] + (room * ((each.at - first) / span) if span else 0.0)), each.text)
        for each in date_ticks(first, last)
    )


def _rounded(length: float) -> float:
    """A hundredth of a pixel is finer than any screen and keeps pages small."""
    return round(length, 2)
