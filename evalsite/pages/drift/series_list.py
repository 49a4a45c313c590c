"""A team's series in a list: a small chart, the latest value, and drift."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlencode

from django.urls import reverse

from scoring.core.charts.small_charts import Sparkline, sparkline
from scoring.engine.drift.series_status import SeriesStatus, series_statuses
from scoring.models import Dataset, Team

MIN_TESTED = 2  # runs
GRID = 0.1  # the axis of all rows begins at a multiple of it


class SeriesRow(NamedTuple):
    """`points` is the change in percentage points; `quiet` is the text without drift."""

    standing: SeriesStatus
    url: str
    chart: Sparkline
    points: float | None
    quiet: str


def list_series(of: Team | Dataset) -> list[SeriesRow]:
    """All series of the team or dataset, the worst first, over one axis."""
    series = series_statuses(of)
    rates = [rate for standing in series for rate in standing.rates if rate is not None]
    low = min(min(rates, default=0.0) // GRID * GRID, 1 - GRID)
    return [
        SeriesRow(
            standing,
            drift_url(standing),
            sparkline(standing.rates, low=low),
            None if standing.delta is None else 100 * standing.delta,
            _describe_quiet(standing),
        )
        for standing in series
    ]


def drift_url(standing: SeriesStatus) -> str:
    """The dataset's drift page, with this series alone."""
    query = urlencode({"series": standing.series})
    return f"{reverse('dataset_drift', args=[standing.dataset])}?{query}"


def _describe_quiet(standing: SeriesStatus) -> str:
    runs = standing.comparable
    is_changed = runs < len(standing.stops)
    since = " since a scorer or the dataset changed" if is_changed else ""
    if runs < MIN_TESTED:
        return f"Not enough runs{since}: {runs} of {MIN_TESTED}."
    if not standing.is_judged:
        return "Not measured yet."
    return f"No significant change{since}."
