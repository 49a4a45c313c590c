"""A team's series in a list: a small chart, the latest value, and what drifted."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlencode

from django.urls import reverse

from scoring.core.charts import Sparkline, sparkline
from scoring.core.drift import FEWEST
from scoring.engine.drift.overview import Standing, standings
from scoring.models import Dataset, Team

GRID = 0.1  # the axis of all rows begins at a multiple of it


class StandingRow(NamedTuple):
    """`points` is the change in percentage points; `quiet` is said where nothing drifted."""

    standing: Standing
    url: str
    chart: Sparkline
    points: float | None
    quiet: str


def standing_rows(of: Team | Dataset) -> list[StandingRow]:
    """All series of the team or dataset, the worst first, over one axis."""
    found = standings(of)
    rates = [rate for standing in found for rate in standing.rates if rate is not None]
    low = min(min(rates, default=0.0) // GRID * GRID, 1 - GRID)
    return [_row(standing, low) for standing in found]


def drift_url(standing: Standing) -> str:
    """The dataset's drift page, with this series alone."""
    query = urlencode({"series": standing.series})
    return f"{reverse('dataset_drift', args=[standing.dataset])}?{query}"


def _row(standing: Standing, low: float) -> StandingRow:
    delta = standing.delta
    return StandingRow(
        standing,
        drift_url(standing),
        sparkline(standing.rates, low=low),
        None if delta is None else 100 * delta,
        _quiet(standing),
    )


def _quiet(standing: Standing) -> str:
    runs = standing.comparable
    if runs >= FEWEST:
        return "Nothing."
    is_parted = runs < len(standing.stops)
    since = " since a scorer or the dataset changed" if is_parted else ""
    return f"Not enough runs{since}: {runs} of {FEWEST}."
