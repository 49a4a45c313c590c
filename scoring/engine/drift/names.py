"""Which drift lines a dataset has, without reading their runs."""

from __future__ import annotations

from typing import NamedTuple

from django.db.models import Min

from scoring.models import Dataset
from scoring.models.drift import points_in_time


class LineName(NamedTuple):
    series: str
    scorer: str


def line_names(dataset: Dataset) -> list[LineName]:
    """By series and, within one, in the order of the suite."""
    found = points_in_time(dataset).select_related(None).defer(None).order_by()
    grouped = found.values_list("run__output_set__series", "name")
    ordered = grouped.annotate(place=Min("position")).order_by(
        "run__output_set__series", "place", "name"
    )
    return [LineName(series, scorer) for series, scorer, _ in ordered]
