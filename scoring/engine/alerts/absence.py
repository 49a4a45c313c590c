"""Whether runs have stopped coming."""

from __future__ import annotations

from datetime import datetime, timedelta

from scoring.engine.alerts.finding import Finding, silent
from scoring.models import AlertRule, Run, RunState, WatchState


def judged(rule: AlertRule, series: str, now: datetime) -> Finding:
    """Firing where the newest run is older than the rule's days, by its outputs' date."""
    days = int(rule.limit or 0)
    run = newest_finished(rule, series)
    since = _date_of(run) if run else rule.created_at
    ends = since + timedelta(days=days)
    if now < ends:
        return Finding(WatchState.FINE, _fine(run, ends), run, _days(since, now), days, ends)
    if run and not rule.series and ends < rule.created_at:
        return silent(f"The series had ended with {run.name} before it was watched.", run)
    return Finding(
        WatchState.FIRING, _missing(run, series, since, now), run, _days(since, now), days
    )


def newest_finished(rule: AlertRule, series: str) -> Run | None:
    runs = Run.objects.of_dataset(rule.dataset).filter(state=RunState.FINISHED)
    runs = runs.filter(output_set__series=series) if series else runs
    return runs.select_related("output_set").order_by("-output_set__dated", "-pk").first()


def _date_of(run: Run) -> datetime:
    """A date in the future would hide that runs are missing."""
    dated = run.output_set.dated
    return min(dated, run.finished_at) if run.finished_at else dated


def _days(since: datetime, now: datetime) -> float:
    return round((now - since) / timedelta(days=1), 3)


def _fine(run: Run | None, ends: datetime) -> str:
    newest = f"The newest run is {run.name} of {run.output_set.dated:%Y-%m-%d}" if run else "No run"
    return f"{newest}; the next one is awaited until {ends:%Y-%m-%d %H:%M} UTC."


def _missing(run: Run | None, series: str, since: datetime, now: datetime) -> str:
    days = int(_days(since, now))
    told = f"No run{series and f' of {series}'} for {days:,} day{'s' * (days != 1)}"
    if run is None:
        return f"{told}: none has come since the rule was made."
    return f"{told}: the newest is {run.name} of {run.output_set.dated:%Y-%m-%d}."
