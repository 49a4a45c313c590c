"""A team's latest runs at a glance, in three queries however many they are."""

from __future__ import annotations

from typing import NamedTuple

from django.db.models import Q

from scoring.engine.progress import Progress, progress_of_each, worker_is_alive
from scoring.models import Run, Team


class Running(NamedTuple):
    """An unfinished run, and how far it is."""

    run: Run
    progress: Progress


class Latest(NamedTuple):
    """Newest first; archived runs are left out of those that have ended."""

    running: list[Running]
    ended: list[Run]


def latest_runs(team: Team, limit: int) -> Latest:
    """The team's unfinished runs and those that have ended, each at most `limit`."""
    unfinished = team.runs.unfinished()
    ended = team.runs.ended().unarchived()
    latest = [rows.order_by("-id").values("pk")[:limit] for rows in (unfinished, ended)]
    runs = team.runs.filter(Q(pk__in=latest[0]) | Q(pk__in=latest[1])).for_list()
    going = [run for run in runs if run.is_unfinished]
    return Latest(_told(going), [run for run in runs if not run.is_unfinished])


def _told(runs: list[Run]) -> list[Running]:
    if not runs:
        return []
    progress = progress_of_each(runs, has_worker=worker_is_alive())
    return [Running(run, progress[run.pk]) for run in runs]
