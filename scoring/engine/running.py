"""A team's running runs at a glance, in three queries however many they are."""

from __future__ import annotations

from typing import NamedTuple

from django.db.models import Q, Sum

from scoring.engine.progress import cause_of, worker_is_alive
from scoring.models import Attempt, Run, Team


class Running(NamedTuple):
    """An unfinished run: outputs done of all of its present attempt, and why nothing moves."""

    run: Run
    done: int
    total: int
    cause: str | None


def running_runs(team: Team, limit: int) -> list[Running]:
    """The team's unfinished runs, newest first."""
    runs = list(team.runs.unfinished().for_list()[:limit])
    if not runs:
        return []
    counts = _counts_by_run(runs)
    has_worker = worker_is_alive()
    return [
        Running(
            run,
            *counts.get(run.pk, (0, run.output_set.output_count)),
            cause_of(run, has_worker=has_worker),
        )
        for run in runs
    ]


def _counts_by_run(runs: list[Run]) -> dict[int, tuple[int, int]]:
    """Outputs done and all outputs of each run's latest attempt; a run without one is left out."""
    attempts = Attempt.objects.filter(run__in=runs).order_by("number")
    counted = attempts.annotate(
        done=Sum("shards__output_count", filter=Q(shards__done_at__isnull=False), default=0),
        total=Sum("shards__output_count", default=0),
    )
    return {attempt.run_id: (attempt.done, attempt.total) for attempt in counted}
