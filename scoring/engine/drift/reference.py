"""The run whose outputs the outputs of a series are compared with."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from django.db.models import F, QuerySet, Window
from django.db.models.functions import RowNumber

from scoring.models import Baseline, Dataset, Run, RunState
from scoring.models.prepared_query import prepared_query
from scoring.models.runs.run import OLDEST_FIRST


class ReferenceRun(NamedTuple):
    """A run and its output set by id. Where none is pinned, the series' first run stands in."""

    run: int
    output_set: int
    name: str
    is_pinned: bool


def reference_runs(dataset: Dataset, series: Collection[str] = ()) -> dict[str, ReferenceRun]:
    """By series, all or the named ones, of those with a finished run. Two queries."""
    names = sorted(series)
    found = [(row, False) for row in _firsts(dataset.pk, names)]
    found += [(row, True) for row in _pinned(dataset.pk)]
    return {name: ReferenceRun._make((*run, pinned)) for (name, *run), pinned in found}


@prepared_query
def _firsts(dataset: int, series: Sequence[str]) -> QuerySet[Run, Any]:
    number = Window(RowNumber(), F("output_set__series"), order_by=OLDEST_FIRST)
    runs = Run.objects.filter(output_set__version__dataset=dataset, state=RunState.FINISHED)
    runs = runs.filter(output_set__series__in=series) if series else runs
    first = runs.order_by().annotate(number=number).filter(number=1)
    return first.values_list("output_set__series", "pk", "output_set", "name")


@prepared_query
def _pinned(dataset: int) -> QuerySet[Baseline, Any]:
    baselines = Baseline.objects.filter(dataset=dataset).order_by()
    return baselines.values_list("series", "run", "run__output_set", "run__name")
