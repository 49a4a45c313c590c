"""A team's latest runs at a glance, in five queries, and one for later labels of runs of suites."""

from __future__ import annotations

from typing import NamedTuple

from scoring.engine.runs.progress import Progress, progress_of_each, worker_is_alive
from scoring.models import Run, Team
from scoring.models.runs.relabel import attach_later_labels


class Running(NamedTuple):
    """An unfinished run, and how far it is."""

    run: Run
    progress: Progress


class Latest(NamedTuple):
    """Newest first; archived runs are left out of those that have ended, which have
    `later_labels`.
    """

    running: list[Running]
    ended: list[Run]


def latest_runs(team: Team, limit: int) -> Latest:
    """The team's unfinished runs and those that have ended, each at most `limit`."""
    unfinished = team.runs.unfinished()
    ended = team.runs.ended().unarchived()
    latest = [rows.order_by("-id").values_list("pk", flat=True) for rows in (unfinished, ended)]
    runs = team.runs.filter(pk__in=[pk for rows in latest for pk in rows[:limit]]).for_list()
    running = [run for run in runs if run.is_unfinished]
    progress = progress_of_each(running, has_worker=worker_is_alive()) if running else {}
    ended_runs = [run for run in runs if not run.is_unfinished]
    attach_later_labels(ended_runs)
    return Latest([Running(run, progress[run.pk]) for run in running], ended_runs)
