"""Looks at what is due, and opens, carries on or ends alerts by what is found.

Everything that follows from a look is written in one transaction: killed before it, the look is
done again by whoever is there a minute later; killed after it, nothing is left to do.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from scoring.engine.alerts import telling
from scoring.engine.alerts.finding import Finding, Later
from scoring.engine.alerts.judging import judge
from scoring.models import Alert, AlertRule, AlertState, AlertWatch, Event, Run, WatchState

log = logging.getLogger(__name__)

LOOK_SECONDS: Final = 60  # a look that takes longer was cut short
AFTER_FAULT: Final = timedelta(minutes=10)
AT_ONCE: Final = 100  # looks, and alerts to tell again, in one round


def leave_after(run: Run) -> None:
    """Leave it to the worker to look at the run's series: it has ended, or was taken away or
    brought back.
    """
    rules = list(AlertRule.objects.watching(run))
    if rules:
        AlertWatch.objects.look_at(rules, [run.output_set.series])
        AlertWatch.objects.filter(rule__in=rules, series="").update(look_at=timezone.now())


def look_around() -> int:
    """Look at every series whose time has come; how many."""
    due = list(AlertWatch.objects.due()[:AT_ONCE])
    return sum(look(watch) for watch in due)


def look(watch: AlertWatch) -> bool:
    """Look at one series, unless another worker does."""
    now = timezone.now()
    until = now + timedelta(seconds=LOOK_SECONDS)
    if not _move(watch, until):
        return False
    try:
        found = judge(watch.rule, watch.series, now, _since(watch))
        with transaction.atomic():
            _keep(watch, found, now)
    except Exception:
        log.exception("alert rule %s could not be looked at", watch.rule.uuid)
        _move(watch, now + AFTER_FAULT)
    return True


def _since(watch: AlertWatch) -> Run | None:
    """The baseline of the alert that goes on, if one does."""
    joined = Alert.objects.select_related("baseline__output_set__version__dataset")
    alert = joined.firing().filter(rule=watch.rule, series=watch.series).first()
    return alert.baseline if alert else None


def tell_again() -> int:
    """Tell people once more of alerts that go on; of how many."""
    now = timezone.now()
    living = Q(rule__deleted_at=None, rule__paused_at=None)
    due = Alert.objects.firing().filter(living, tell_at__lte=now).order_by("tell_at")
    found = list(due.values_list("pk", flat=True)[:AT_ONCE])
    if not found:  # mostly, and joining as many tables takes longer than asking
        return 0
    joined = Alert.objects.filter(pk__in=found).select_related("rule__dataset__team", "run")
    return sum(_tell_once_more(alert, now) for alert in joined)


def _tell_once_more(alert: Alert, now: datetime) -> bool:
    times = {"told_at": now, "tell_at": next_telling(alert.rule, now)}
    with transaction.atomic():
        due = Alert.objects.unresolved().filter(pk=alert.pk, tell_at=alert.tell_at)
        if not due.update(**times):
            return False
        if alert.rule.renotify_hours:
            telling.tell(alert, Event.AGAIN, now)
    return True


def next_telling(rule: AlertRule, now: datetime) -> datetime | None:
    return now + timedelta(hours=rule.renotify_hours) if rule.renotify_hours else None


def _move(watch: AlertWatch, to: datetime | None, **seen: Any) -> bool:
    """Claim the look, or end it: False when somebody else has, or wants another one."""
    ours = AlertWatch.objects.filter(pk=watch.pk, look_at=watch.look_at)
    moved = ours.update(look_at=to, **seen)
    watch.look_at = to if moved else watch.look_at
    return bool(moved)


def _keep(watch: AlertWatch, found: Finding | Later, now: datetime) -> None:
    if isinstance(found, Later):
        again = found.seconds and now + timedelta(seconds=found.seconds)
        _move(watch, again or None)
        return
    seen = {"state": found.state, "sentence": found.sentence, "run": found.run, "seen_at": now}
    if not _move(watch, found.look_at, **seen):
        return
    alert = Alert.objects.unresolved().filter(rule=watch.rule, series=watch.series).first()
    if found.state in (WatchState.FIRING, WatchState.UNDECIDED):
        _go_on(alert, watch, found, now) if alert else _open(watch, found, now)
    elif alert:
        _end(alert, watch, found, now)
    if found.run and not watch.series:
        watch.delete()


def _open(watch: AlertWatch, found: Finding, now: datetime) -> None:
    alert = Alert(rule=watch.rule, series=watch.series, opened_at=now)
    _fire(alert, found, now)


def _go_on(alert: Alert, watch: AlertWatch, found: Finding, now: datetime) -> None:
    """Of an open alert people hear anew only when it has become decided that it fires."""
    alert.rule = watch.rule
    is_firing, was_firing = found.state == WatchState.FIRING, alert.state == AlertState.FIRING
    if is_firing and not was_firing:
        alert.acknowledged_at = alert.acknowledged_by = None
        _fire(alert, found, now)
    elif was_firing and not is_firing:
        alert.note = found.sentence
        alert.save(update_fields=["note"])
    else:
        _describe(alert, found)
        alert.save()


def _fire(alert: Alert, found: Finding, now: datetime) -> None:
    """An undecided alert is told of once."""
    _describe(alert, found)
    alert.state = AlertState(found.state)
    alert.told_at = now
    is_firing = alert.state == AlertState.FIRING
    alert.tell_at = next_telling(alert.rule, now) if is_firing else None
    alert.save()
    telling.tell(alert, Event.OPENED, now)


def _end(alert: Alert, watch: AlertWatch, found: Finding, now: datetime) -> None:
    alert.rule = watch.rule
    alert.resolved_at = alert.told_at = now
    alert.tell_at, alert.note = None, found.sentence
    alert.resolved_by_run = found.run if found.state == WatchState.FINE else None
    alert.save()
    telling.tell(alert, Event.RESOLVED, now)


def _describe(alert: Alert, found: Finding) -> None:
    alert.run, alert.baseline = found.run, found.baseline
    alert.sentence, alert.note = found.sentence, ""
    alert.value, alert.limit = found.value, found.limit
