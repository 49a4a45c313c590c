"""Notices for the people whose runs have ended.

Every run that a person starts ends with a notice, however short it was: they may have left. The
run's page removes the notice when it shows the end. Of runs that programs start only long ones end
with a notice, or each build of a code base would leave one.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from scoring.models import Notice, Run, RunState, User

MIN_DURATION: Final = timedelta(minutes=1)


def notify_run_end(run: Run) -> None:
    """Leave a notice to whoever started the run, or scored its errors again."""
    if (person := _starter(run)) and (not run.by_program or _took_long(run)):
        Notice.objects.create(user=person, run=run, text=_notice_text(run))


def _starter(run: Run) -> User | None:
    latest = run.attempts.select_related("started_by").order_by("-number").first()
    return (latest.started_by if latest else None) or run.created_by


def _took_long(run: Run) -> bool:
    started, finished = run.started_at, run.finished_at
    return started is not None and finished is not None and finished - started >= MIN_DURATION


def _notice_text(run: Run) -> str:
    if run.failure:
        return f"{run.name} was given up: {run.failure}"
    if run.state == RunState.CANCELLED:
        return f"{run.name} was cancelled."
    counts = ", ".join(f"{count:,} {name}" for name, count in run.verdict_counts.items() if count)
    return f"{run.name} has finished: {counts}." if counts else f"{run.name} has finished."
