"""Whose outputs the outputs of a series are compared with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from scoring.models import Baseline, Dataset, Run, RunState


class Reference(NamedTuple):
    """A run and its output set by id. Where none is pinned, the series' first run stands in."""

    run: int
    output_set: int
    name: str
    is_pinned: bool


def references_of(dataset: Dataset) -> dict[str, Reference]:
    """By series; each with a finished run has one. Two queries."""
    found: dict[str, Reference] = {}
    runs = Run.objects.of_dataset(dataset).filter(state=RunState.FINISHED)
    ordered = runs.order_by("output_set__dated", "pk")
    for series, *run in ordered.values_list("output_set__series", "pk", "output_set", "name"):
        found.setdefault(series, _reference(run, is_pinned=False))
    pinned = Baseline.objects.filter(dataset=dataset)
    for series, *run in pinned.values_list("series", "run", "run__output_set", "run__name"):
        found[series] = _reference(run, is_pinned=True)
    return found


def _reference(run: Sequence[Any], *, is_pinned: bool) -> Reference:
    pk, output_set, name = run
    return Reference(pk, output_set, name, is_pinned)
