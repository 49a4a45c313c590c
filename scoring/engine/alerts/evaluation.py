"""Evaluates the rules that are due, and opens, updates or resolves alerts.

All that follows from an evaluation is written in one transaction: if the process dies before it,
another worker evaluates again a minute later; if it dies after it, nothing is left to do.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from scoring.engine.alerts import messages
from scoring.engine.alerts.conditions import evaluate_rule
from scoring.engine.alerts.finding import EvaluateLater, Finding
from scoring.engine.jobs.isolation import do_each
from scoring.models import Alert, AlertRule, AlertState, AlertWatch, Event, Run, WatchState

log = logging.getLogger(__name__)

EVALUATION_SECONDS: Final = 60  # an evaluation that takes longer was cut short
RETRY_AFTER: Final = timedelta(minutes=10)
#: The states of open alerts, the mildest first.
RAISED: Final[tuple[str, ...]] = (WatchState.UNDECIDED, WatchState.WARNING, WatchState.FIRING)
BATCH_SIZE: Final = 100  # evaluations, and repeated notifications, in one round


def schedule_evaluations(series: Sequence[Run]) -> None:
    """Make the alert rules of a series due: runs of it have ended, were deleted or restored."""
    run = series[-1]
    rules = list(AlertRule.objects.watching(run))
    if rules:
        AlertWatch.objects.schedule(rules, [run.output_set.series])
        AlertWatch.objects.filter(rule__in=rules, series="").update(evaluate_at=timezone.now())


def evaluate_due() -> int:
    """Evaluate every series whose time has come; how many."""
    due = list(AlertWatch.objects.due()[:BATCH_SIZE])
    return sum(evaluate_watch(watch) for watch in due)


def evaluate_watch(watch: AlertWatch) -> bool:
    """Evaluate the rule on one series, unless another worker does."""
    now = timezone.now()
    if not _reschedule(watch, now + timedelta(seconds=EVALUATION_SECONDS)):
        return False
    try:
        joined = Alert.objects.select_related("baseline__output_set__version__dataset")
        alert = joined.decided().filter(rule=watch.rule, series=watch.series).first()
        finding = evaluate_rule(watch.rule, watch.series, now, alert.baseline if alert else None)
        with transaction.atomic():
            _store(watch, finding, now)
    except Exception:
        log.exception("alert rule %s could not be looked at", watch.rule.uuid)
        _reschedule(watch, now + RETRY_AFTER)
    return True


def repeat_notifications() -> int:
    """Notify again of alerts that go on; of how many."""
    now = timezone.now()
    living = Q(rule__deleted_at=None, rule__paused_at=None)
    due = Alert.objects.firing().filter(living, remind_at__lte=now).order_by("remind_at")
    ids = list(due.values_list("pk", flat=True)[:BATCH_SIZE])
    if not ids:  # mostly, and joining as many tables takes longer than asking
        return 0
    alerts = Alert.objects.filter(pk__in=ids).select_related("rule__dataset__team", "run")
    return do_each(alerts, lambda alert: _repeat_notification(alert, now), "repeating a notice")


def _repeat_notification(alert: Alert, now: datetime) -> bool:
    times = {"notified_at": now, "remind_at": next_notification(alert.rule, now)}
    with transaction.atomic():
        due = Alert.objects.unresolved().filter(pk=alert.pk, remind_at=alert.remind_at)
        if not due.update(**times):
            return False
        if alert.rule.renotify_hours:
            messages.notify(alert, Event.AGAIN, now)
    return True


def next_notification(rule: AlertRule, now: datetime) -> datetime | None:
    return now + timedelta(hours=rule.renotify_hours) if rule.renotify_hours else None


def _reschedule(watch: AlertWatch, look_at: datetime | None, **fields: Any) -> bool:
    """Claim or end an evaluation; False if another worker has, or if a new one is due."""
    unchanged = AlertWatch.objects.filter(pk=watch.pk, evaluate_at=watch.evaluate_at)
    if not unchanged.update(evaluate_at=look_at, **fields):
        return False
    watch.evaluate_at = look_at
    return True


def _store(watch: AlertWatch, finding: Finding | EvaluateLater, now: datetime) -> None:
    if isinstance(finding, EvaluateLater):
        pause = finding.seconds and timedelta(seconds=finding.seconds)
        _reschedule(watch, now + pause if pause else None)
        return
    fields = {"state": finding.state, "sentence": finding.sentence, "run": finding.run}
    if not _reschedule(watch, finding.evaluate_at, seen_at=now, **fields):
        return
    open_alerts = Alert.objects.unresolved().select_for_update(no_key=True)
    alert = open_alerts.filter(rule=watch.rule, series=watch.series).first()
    if alert:
        alert.rule = watch.rule
    if finding.state not in RAISED:
        if alert:
            _resolve(alert, finding, now)
    elif alert:
        _update(alert, finding, now)
    else:
        _fire(Alert(rule=watch.rule, series=watch.series, opened_at=now), finding, now)
    if finding.run and not watch.series:
        watch.delete()


def _update(alert: Alert, finding: Finding, now: datetime) -> None:
    """Bring an open alert up to date; it notifies only if it has become worse: undecided before and
    told now, or a warning before and firing now.
    """
    before, after = RAISED.index(alert.state), RAISED.index(finding.state)
    if after > before:
        alert.acknowledged_at = alert.acknowledged_by = None
        _fire(alert, finding, now)
    elif finding.state == WatchState.UNDECIDED != alert.state:
        alert.note = finding.sentence
        alert.save(update_fields=["note"])
    else:
        _describe(alert, finding)
        if after < before:
            alert.state, alert.remind_at = AlertState(finding.state), None
        alert.save()


def _fire(alert: Alert, finding: Finding, now: datetime) -> None:
    """Of an undecided alert, and of a warning, people are notified once."""
    _describe(alert, finding)
    alert.state = AlertState(finding.state)
    alert.notified_at = now
    is_firing = alert.state == AlertState.FIRING
    alert.remind_at = next_notification(alert.rule, now) if is_firing else None
    alert.save()
    messages.notify(alert, Event.OPENED, now)


def _resolve(alert: Alert, finding: Finding, now: datetime) -> None:
    alert.resolved_at = alert.notified_at = now
    alert.remind_at, alert.note = None, finding.sentence
    alert.resolved_by_run = finding.run if finding.state == WatchState.FINE else None
    alert.save()
    messages.notify(alert, Event.RESOLVED, now)


def _describe(alert: Alert, finding: Finding) -> None:
    alert.run, alert.baseline = finding.run, finding.baseline
    alert.sentence, alert.note = finding.sentence, ""
    alert.value, alert.limit = finding.value, finding.limit
