"""Tells people that a run they started has ended.

Whoever has the run's page open sees the end there, and the page takes the notice off again as soon
as it shows it. So every run that a person starts is told, however short: they may have left. What
programs start is told only where it took long, lest each build of a code base tells its end.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from scoring.models import Notice, Run, RunState, User

LONG: Final = timedelta(minutes=1)


def tell_end(run: Run) -> None:
    """Leave a notice to whoever started the run, or scored its errors again."""
    if (person := _starter(run)) and (not run.by_program or _took_long(run)):
        Notice.objects.create(user=person, run=run, text=_said(run))


def _starter(run: Run) -> User | None:
    latest = run.attempts.select_related("started_by").last()
    return (latest and latest.started_by) or run.created_by


def _took_long(run: Run) -> bool:
    begun, ended = run.started_at, run.finished_at
    return begun is not None and ended is not None and ended - begun >= LONG


def _said(run: Run) -> str:
    if run.state == RunState.CANCELLED:
        return f"{run.name} was cancelled."
    counts = {name: count for name, count in run.verdict_counts.items() if count}
    told = ", ".join(f"{count:,} {name}" for name, count in counts.items())
    return f"{run.name} has finished: {told}." if told else f"{run.name} has finished."
