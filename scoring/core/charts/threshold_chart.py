"""Pass rates over thresholds as SVG geometry: a line of steps for each run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from scoring.core.charts.drift_chart import Tick
from scoring.core.charts.small_charts import round_length

THRESHOLD_TICKS: Final = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
RATE_TICKS: Final = (0.0, 0.25, 0.5, 0.75, 1.0)

#: (threshold, pass rate) points: a rate holds from the threshold before up to its own.
Curve = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class ThresholdChart:
    """Geometry in the units of `width`. Lines are `d` attributes of paths, one for each curve."""

    width: float
    height: float
    lines: tuple[str, ...]
    current_x: float
    new_x: float
    threshold_ticks: tuple[Tick, ...]
    rate_ticks: tuple[Tick, ...]


def threshold_chart(
    curves: Sequence[Curve],
    current: float,
    new: float,
    *,
    width: float = 960.0,
    height: float = 240.0,
) -> ThresholdChart:
    """The chart of the runs' curves, with both thresholds; y grows downwards."""

    def x(threshold: float) -> float:
        return round_length(width * threshold)

    def y(rate: float) -> float:
        return round_length(height * (1 - rate))

    return ThresholdChart(
        width=width,
        height=height,
        lines=tuple(
            f"M0 {y(curve[0][1])}" + "".join(f"V{y(rate)}H{x(t)}" for t, rate in curve)
            for curve in curves
            if curve
        ),
        current_x=x(current),
        new_x=x(new),
        threshold_ticks=tuple(Tick(x(t), f"{t:g}") for t in THRESHOLD_TICKS),
        rate_ticks=tuple(Tick(y(rate), f"{rate:.0%}") for rate in RATE_TICKS),
    )
