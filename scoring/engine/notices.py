"""Tells people that a run they waited for has ended."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from scoring.models import Notice, Run, RunState

LONG: Final = timedelta(minutes=1)  # shorter runs end while one looks


def tell_end(run: Run) -> None:
    """Leave a notice to whoever started the run, if it took long."""
    begun, ended, person = run.started_at, run.finished_at, run.created_by
    if person is None or begun is None or ended is None or ended - begun < LONG:
        return
    Notice.objects.create(user=person, run=run, text=_said(run))


def _said(run: Run) -> str:
    if run.state == RunState.CANCELLED:
        return f"{run.name} was cancelled."
    counts = {name: count for name, count in run.verdict_counts.items() if count}
    told = ", ".join(f"{count:,} {name}" for name, count in counts.items())
    return f"{run.name} has finished: {told}." if told else f"{run.name} has finished."
