"""Pass rates, and agreement with people, over thresholds as SVG geometry: lines of steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    return ThresholdChart(
        width=width,
        height=height,
        lines=tuple(_step_line(curve, width, height) for curve in curves if curve),
        current_x=round_length(width * current),
        new_x=round_length(width * new),
        threshold_ticks=tuple(Tick(round_length(width * t), f"{t:g}") for t in THRESHOLD_TICKS),
        rate_ticks=tuple(
            Tick(round_length(height * (1 - rate)), f"{rate:.0%}") for rate in RATE_TICKS
        ),
    )


@dataclass(frozen=True, slots=True)
class AgreementChart:
    """Geometry as of `ThresholdChart`; `good` is where the thresholds as good as the best lie."""

    width: float
    height: float
    lines: Mapping[str, str]
    good: tuple[float, float] | None
    ticks: tuple[Tick, ...]


def agreement_chart(
    curves: Mapping[str, Curve],
    good: tuple[float, float] | None,
    *,
    width: float = 960.0,
    height: float = 120.0,
) -> AgreementChart:
    """Curves of figures by their names, from 0 to 1: what is below 0 is drawn at 0."""
    return AgreementChart(
        width=width,
        height=height,
        lines={name: _step_line(curve, width, height) for name, curve in curves.items() if curve},
        good=good and (round_length(width * good[0]), round_length(width * (good[1] - good[0]))),
        ticks=tuple(Tick(round_length(height * (1 - n)), f"{n:g}") for n in (0.0, 0.5, 1.0)),
    )


def _step_line(curve: Curve, width: float, height: float) -> str:
    """From threshold 0 on, as the `d` attribute of a path."""

    def y(rate: float) -> float:
        return round_length(height * (1 - max(0.0, rate)))

    steps = (f"V{y(rate)}H{round_length(width * t)}" for t, rate in curve)
    return f"M0 {y(curve[0][1])}" + "".join(steps)
