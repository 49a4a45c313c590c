"""Whose outputs the outputs of a series are compared with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db.models import Value

from scoring.models import Baseline, Dataset, Run, RunState


class Reference(NamedTuple):
    """A run and its output set by id. Where none is pinned, the series' first run stands in."""

    run: int
    output_set: int
    name: str
    is_pinned: bool


def references_of(dataset: Dataset) -> dict[str, Reference]:
    """By series; each with a finished run has one. One query."""
    own = ("pk", "output_set", "name", "output_set__dated", "output_set__series")
    runs = Run.objects.of_dataset(dataset).filter(state=RunState.FINISHED).order_by()
    pins = ("run", "run__output_set", "run__name", "run__output_set__dated", "series")
    pinned = Baseline.objects.filter(dataset=dataset).order_by().values_list(*pins, Value(0))
    rows = runs.values_list(*own, Value(1)).union(pinned, all=True)
    found: dict[str, Reference] = {}
    for *run, _, series, is_free in sorted(rows, key=lambda row: (row[5], row[3], row[0])):
        found.setdefault(series, _reference(run, is_pinned=not is_free))
    return found


def _reference(run: Sequence[Any], *, is_pinned: bool) -> Reference:
    pk, output_set, name = run
    return Reference(pk, output_set, name, is_pinned)
