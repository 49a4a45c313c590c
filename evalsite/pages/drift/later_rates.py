"""Pass rates of runs by their later labels, beside the stored ones, which drift is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from scoring.engine.drift import DriftLine, report


class LaterRate(NamedTuple):
    """The share of a scorer's scored outputs that pass at a later threshold."""

    rate: float
    threshold: float


#: By the run's UUID and the scorer's name.
LaterRates = Mapping[tuple[str, str], LaterRate]


def read_later_rates(lines: Sequence[DriftLine]) -> LaterRates:
    """Of the points of the lines whose runs are re-labelled.

    One query, none where no run is of a suite.
    """
    points = {
        (point.run, line.scorer): point
        for line in lines
        for point in line.points
        if point.has_suite
    }
    rates: dict[tuple[str, str], LaterRate] = {}
    for run, relabel in report.read_relabels(lines).items():
        for scorer, passed in relabel.passed.items():
            point = points.get((run, scorer))
            if point and point.n:
                place = (point.run, scorer)
                rates[place] = LaterRate(passed / point.n, relabel.thresholds[scorer])
    return rates
