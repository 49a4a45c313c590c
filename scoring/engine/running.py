"""A team's running runs at a glance, in three queries however many they are."""

from __future__ import annotations

from typing import NamedTuple

from scoring.engine.progress import Progress, progress_of_each, worker_is_alive
from scoring.models import Run, Team


class Running(NamedTuple):
    """An unfinished run, and how far it is."""

    run: Run
    progress: Progress


def running_runs(team: Team, limit: int) -> list[Running]:
    """The team's unfinished runs, newest first."""
    runs = list(team.runs.unfinished().for_list()[:limit])
    if not runs:
        return []
    progress = progress_of_each(runs, has_worker=worker_is_alive())
    return [Running(run, progress[run.pk]) for run in runs]
