"""The run whose outputs the outputs of a series are compared with."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from django.db.models import F, Window
from django.db.models.functions import RowNumber

from scoring.models import Baseline, Dataset, Run, RunState
from scoring.models.runs.run import OLDEST_FIRST


class ReferenceRun(NamedTuple):
    """A run and its output set by id. Where none is pinned, the series' first run stands in."""

    run: int
    output_set: int
    name: str
    is_pinned: bool


def reference_runs(dataset: Dataset, series: Collection[str] = ()) -> dict[str, ReferenceRun]:
    """By series, all or the named ones, of those with a finished run. Two queries."""
    number = Window(RowNumber(), F("output_set__series"), order_by=OLDEST_FIRST)
    runs = Run.objects.of_dataset(dataset).filter(state=RunState.FINISHED).order_by()
    runs = runs.filter(output_set__series__in=series) if series else runs
    first = runs.annotate(number=number).filter(number=1)
    firsts: Iterable[Any] = first.values_list("output_set__series", "pk", "output_set", "name")
    baselines = Baseline.objects.filter(dataset=dataset).order_by()
    pinned: Iterable[Any] = baselines.values_list("series", "run", "run__output_set", "run__name")
    references = {name: ReferenceRun._make((*run, False)) for name, *run in firsts}
    return references | {name: ReferenceRun._make((*run, True)) for name, *run in pinned}
