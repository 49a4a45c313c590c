"""A team's latest runs at a glance, in three queries, and one for later labels."""

from __future__ import annotations

from typing import NamedTuple

from django.db.models import Q, QuerySet

from scoring.engine.runs.progress import RunProgress, live_queues, progress_by_run
from scoring.models import Run, Team
from scoring.models.prepared_query import prepared_query
from scoring.models.runs.relabel import attach_later_labels


class RunningRun(NamedTuple):
    """An unfinished run, and how far it is."""

    run: Run
    progress: RunProgress


class LatestRuns(NamedTuple):
    """Newest first; archived runs are left out of those that have ended, which have
    `later_labels`.
    """

    running: list[RunningRun]
    ended: list[Run]


def latest_runs(team: Team, limit: int) -> LatestRuns:
    """The team's unfinished runs and those that have ended, each at most `limit`."""
    runs = _latest_runs(team.pk, limit=limit)
    running = [run for run in runs if run.is_unfinished]
    progress = progress_by_run(running, queues=live_queues()) if running else {}
    ended_runs = [run for run in runs if not run.is_unfinished]
    attach_later_labels(ended_runs)
    return LatestRuns([RunningRun(run, progress[run.pk]) for run in running], ended_runs)


@prepared_query
def _latest_runs(team: int, *, limit: int) -> QuerySet[Run]:
    runs = Run.objects.filter(team=team)
    latest = [
        rows.order_by("-id").values("pk")[:limit]
        for rows in (runs.unfinished(), runs.ended().unarchived())
    ]
    return runs.filter(Q(pk__in=latest[0]) | Q(pk__in=latest[1])).for_list()
