"""Which latest runs broke cases against their baseline, from what is kept of compared runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from django.db.models import Exists, F, OuterRef, Q

from scoring.engine.drift.overview import Standing
from scoring.models import Baseline, Comparison, RunStep


class Regression(NamedTuple):
    """The latest run of a series against its baseline: the one pinned, else the run before."""

    standing: Standing
    baseline: str  # uuid
    baseline_name: str
    pairs: int
    broke: int
    fixed: int


class _Kept(NamedTuple):
    candidate: int
    baseline: UUID
    name: str
    pairs: int
    broke: int
    fixed: int


def regressions(standings: Sequence[Standing]) -> list[Regression]:
    """Most broken cases first, in two queries. Runs that nobody has compared yet are not named."""
    by_run = {standing.latest.run_id: standing for standing in standings}
    steps = [
        Q(after=standing.latest.run_id, before=standing.stops[-2].run_id)
        for standing in standings
        if len(standing.stops) > 1
    ]
    kept = [*_against_pinned(list(by_run)), *_against_the_run_before(steps)]
    found = [
        Regression(by_run[each.candidate], str(each.baseline), *each[2:])
        for each in kept
        if each.broke
    ]
    return sorted(found, key=lambda each: (-each.broke, each.standing.dataset_name))


def _against_pinned(runs: Sequence[int]) -> list[_Kept]:
    rows = Comparison.objects.filter(
        candidate__in=runs,
        baseline__pins__dataset=F("candidate__output_set__version__dataset"),
        baseline__pins__series=F("candidate__output_set__series"),
        baseline_finished_at=F("baseline__finished_at"),
        candidate_finished_at=F("candidate__finished_at"),
    )
    figures = ("figures__pairs", "figures__broke", "figures__fixed")
    found = rows.values_list("candidate", "baseline__uuid", "baseline__name", *figures)
    return [_Kept(*row) for row in found]


def _against_the_run_before(steps: Sequence[Q]) -> list[_Kept]:
    """Only of series without a pinned run."""
    if not steps:
        return []
    pinned = Baseline.objects.filter(
        dataset=OuterRef("after__output_set__version__dataset"),
        series=OuterRef("after__output_set__series"),
    )
    rows = RunStep.objects.filter(
        ~Exists(pinned),
        Q(*steps, _connector=Q.OR),
        before_finished_at=F("before__finished_at"),
        after_finished_at=F("after__finished_at"),
    )
    found = rows.values_list("after", "before__uuid", "before__name", "pairs", "broke", "fixed")
    return [_Kept(*row) for row in found]
