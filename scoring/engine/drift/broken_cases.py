"""The latest runs that broke cases against their baseline, from the stored steps between runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import F, OuterRef, Q, QuerySet, Subquery

from scoring.engine.drift.series_status import SeriesStatus
from scoring.models import Baseline, RunStep
from scoring.models.prepared_query import prepared_query


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
    latest = [standing.latest.run for standing in standings]
    before = [standing.stops[-2:][0].run for standing in standings]
    rows = _broken_steps(latest, before)
    broken = [Regression(by_run[after], *figures) for after, *figures in rows]
    return sorted(
        broken, key=lambda regression: (-regression.broke, regression.standing.dataset_name)
    )


@prepared_query
def _broken_steps(latest: Sequence[int], before: Sequence[int]) -> QuerySet[RunStep, Any]:
    """The columns of the steps to these runs, from the pinned run or else from the run before, that
    broke cases.
    """
    baselines = Baseline.objects.filter(
        dataset=OuterRef("after__output_set__version__dataset"),
        series=OuterRef("after__output_set__series"),
    )
    steps = RunStep.objects.annotate(pinned=Subquery(baselines.values("run")[:1])).filter(
        Q(before=F("pinned")) | Q(before__pk__in=before, pinned=None),
        after__pk__in=latest,
        before_finished_at=F("before__finished_at"),
        after_finished_at=F("after__finished_at"),
        broke__gt=0,
    )
    names = ("after__uuid", "before__uuid", "before__name", "pairs", "broke", "fixed")
    return steps.values_list("after", *names)
