"""The latest runs that broke cases against their baseline, from the stored steps between runs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import F, OuterRef, Q, QuerySet, Subquery

from scoring.engine.drift.series_status import SeriesStatus
from scoring.models import Baseline, RunStep


class Regression(NamedTuple):
    """The latest run of a series against its baseline: the pinned run, else the one before."""

    standing: SeriesStatus
    run: UUID
    baseline: UUID
    baseline_name: str
    pairs: int
    broke: int
    fixed: int


def latest_regressions(standings: Sequence[SeriesStatus]) -> list[Regression]:
    """Most broken cases first, in one query. Runs that are not measured yet are left out."""
    by_run = {standing.latest.run: standing for standing in standings}
    rows = _steps().filter(_to_latest(standings))
    broken = [Regression(by_run[after], *figures) for after, *figures in rows]
    return sorted(
        broken, key=lambda regression: (-regression.broke, regression.standing.dataset_name)
    )


@cache
def _steps() -> QuerySet[RunStep, Any]:
    """The columns of all steps that broke cases, with the run that is `pinned`; built once."""
    baselines = Baseline.objects.filter(
        dataset=OuterRef("after__output_set__version__dataset"),
        series=OuterRef("after__output_set__series"),
    )
    steps = RunStep.objects.annotate(pinned=Subquery(baselines.values("run")[:1])).filter(
        before_finished_at=F("before__finished_at"),
        after_finished_at=F("after__finished_at"),
        broke__gt=0,
    )
    names = ("after__uuid", "before__uuid", "before__name", "pairs", "broke", "fixed")
    return steps.values_list("after", *names)


def _to_latest(standings: Sequence[SeriesStatus]) -> Q:
    """The steps to the latest run of each series from its pinned run, else from the run before."""
    wanted = Q(after__in=[standing.latest.run for standing in standings], before=F("pinned"))
    for standing in standings:
        if len(standing.stops) > 1:
            wanted |= Q(after=standing.latest.run, before=standing.stops[-2].run, pinned=None)
    return wanted
