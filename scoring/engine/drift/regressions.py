"""Which latest runs broke cases against their baseline, from the steps kept between runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from django.db.models import F, OuterRef, Q, QuerySet, Subquery

from scoring.engine.drift.overview import Standing
from scoring.models import Baseline, RunStep


class Regression(NamedTuple):
    """The latest run of a series against its baseline: the one pinned, else the run before."""

    standing: Standing
    baseline: str  # uuid
    baseline_name: str
    pairs: int
    broke: int
    fixed: int


def regressions(standings: Sequence[Standing]) -> list[Regression]:
    """Most broken cases first, in one query. Runs that are not measured yet are not named."""
    by_run = {standing.latest.run_id: standing for standing in standings}
    steps = _steps(standings).select_related("before")
    found = [
        Regression(
            by_run[step.after_id], str(step.before.uuid), step.before.name,
            step.pairs, step.broke, step.fixed,
        )
        for step in steps
    ]  # fmt: skip
    return sorted(found, key=lambda each: (-each.broke, each.standing.dataset_name))


def _steps(standings: Sequence[Standing]) -> QuerySet[RunStep]:
    """Into the latest run of each series, from the run pinned for it, else from the run before."""
    pins = Baseline.objects.filter(
        dataset=OuterRef("after__output_set__version__dataset"),
        series=OuterRef("after__output_set__series"),
    )
    from_neighbour = [
        Q(after=standing.latest.run_id, before=standing.stops[-2].run_id, pinned=None)
        for standing in standings
        if len(standing.stops) > 1
    ]
    from_pinned = Q(after__in=[standing.latest.run_id for standing in standings]) & Q(
        before=F("pinned")
    )
    return RunStep.objects.annotate(pinned=Subquery(pins.values("run")[:1])).filter(
        Q(from_pinned, *from_neighbour, _connector=Q.OR),
        before_finished_at=F("before__finished_at"),
        after_finished_at=F("after__finished_at"),
        broke__gt=0,
    )
