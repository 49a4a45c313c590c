"""What people are told of an alert, and the messages that are then to be sent."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from django.conf import settings
from django.utils import timezone

from scoring.models import (
    Alert,
    AlertDelivery,
    AlertRule,
    AuditEntry,
    Channel,
    DeliveryState,
    Event,
    Notice,
    Run,
    User,
)

NOTICE_CHARS: Final = 300
TEST_SENTENCE: Final = "This is a test of an alert rule. Nothing is wrong."
#: Addresses of pages; the engine does not load the pages to ask for them.
RUN_PATH: Final = "/runs/{}/"
DRIFT_PATH: Final = "/datasets/{}/drift/"


def tell(alert: Alert, event: Event, now: datetime) -> None:
    """Leave a message on every channel of the rule, within the caller's transaction; those in the
    site are there with it.
    """
    rule = alert.rule
    message = message_of(rule, event, now, alert)
    if rule.by_site:
        _leave_notices(alert, said(alert))
    AlertDelivery.objects.bulk_create(
        _delivery(rule, channel, target, event, now, message, alert)
        for channel, target in channels_of(rule)
    )


def send_test(rule: AlertRule, *, by: User | None) -> list[AlertDelivery]:
    """Messages that say they are a test, by webhook and e-mail; the worker sends them."""
    now = timezone.now()
    message = message_of(rule, Event.TEST, now)
    made = [
        _delivery(rule, channel, target, Event.TEST, now, message)
        for channel, target in channels_of(rule)
        if channel != Channel.SITE
    ]
    AuditEntry.objects.record(rule.team, by, "alert_rule.tested", rule)
    return AlertDelivery.objects.bulk_create(made)


def channels_of(rule: AlertRule) -> list[tuple[Channel, str]]:
    """Where messages go now. Whether an address is still a member's is seen when it is used."""
    emails = [(Channel.EMAIL, each) for each in rule.emails]
    site = [(Channel.SITE, "")] if rule.by_site else []
    webhook = [(Channel.WEBHOOK, rule.webhook_url)] if rule.webhook_url else []
    return [*site, *webhook, *emails]


def said(alert: Alert) -> str:
    """The newest there is to say of an alert, in words."""
    where = f"{alert.rule.dataset.name}{alert.series and f' · {alert.series}'}"
    if alert.is_open:
        return f"{where}: {alert.sentence}"
    if alert.resolved_by_run_id:
        return f"{where}: the alert is over. {alert.note}"
    return f"{where}: the alert is closed, for nothing can be told any more. {alert.note}"


def message_of(
    rule: AlertRule, event: Event, now: datetime, alert: Alert | None = None
) -> dict[str, Any]:
    """What a webhook is sent, but for its id; an e-mail says the same in words."""
    return {
        "event": f"alert.{event}",
        "at": now.isoformat(),
        "text": said(alert) if alert else TEST_SENTENCE,
        **about(rule, alert),
    }


def about(rule: AlertRule, alert: Alert | None) -> dict[str, Any]:
    """Rule, alert and runs as messages and `manage.py alerts` tell them."""
    return {
        "team": rule.team.slug,
        "dataset": {"id": str(rule.dataset.uuid), "name": rule.dataset.name},
        "series": alert.series if alert else rule.series,
        "rule": _rule(rule),
        "alert": _alert(alert) if alert else None,
        "run": _run(_newest(alert)) if alert else None,
        "baseline": _run(alert.baseline) if alert else None,
        "url": link(DRIFT_PATH, rule.dataset.uuid),
    }


def link(path: str, uuid: object) -> str:
    """The address of a page; without EVALSITE_URL only its path."""
    return settings.EVALSITE_URL + path.format(uuid)


def _rule(rule: AlertRule) -> dict[str, Any]:
    return {
        "id": str(rule.uuid),
        "kind": rule.kind,
        "scorer": rule.scorer,
        "limit": rule.limit,
        "condition": rule.condition,
    }


def _alert(alert: Alert) -> dict[str, Any]:
    return {
        "id": str(alert.uuid),
        "state": alert.standing,
        "sentence": alert.sentence,
        "note": alert.note,
        "value": alert.value,
        "limit": alert.limit,
        "opened_at": alert.opened_at.isoformat(),
        "resolved_at": alert.resolved_at.isoformat() if alert.resolved_at else None,
    }


def _newest(alert: Alert) -> Run | None:
    return (None if alert.is_open else alert.resolved_by_run) or alert.run


def _run(run: Run | None) -> dict[str, Any] | None:
    if run is None:
        return None
    return {"id": str(run.uuid), "name": run.name, "url": link(RUN_PATH, run.uuid)}


def _delivery(
    rule: AlertRule,
    channel: Channel,
    target: str,
    event: Event,
    now: datetime,
    message: dict[str, Any],
    alert: Alert | None = None,
) -> AlertDelivery:
    is_there = channel == Channel.SITE
    return AlertDelivery(
        rule=rule,
        alert=alert,
        channel=channel,
        target=target,
        event=event,
        happened_at=now,
        message=message,
        state=DeliveryState.SENT if is_there else DeliveryState.WAITING,
        sent_at=now if is_there else None,
        next_try_at=None if is_there else now,
    )


def _leave_notices(alert: Alert, text: str) -> None:
    """One for each member, in the place of an older unread one of the same alert."""
    Notice.objects.filter(alert=alert, read_at=None).delete()
    people = User.objects.filter(memberships__team=alert.rule.team_id, is_active=True)
    short = text if len(text) <= NOTICE_CHARS else f"{text[: NOTICE_CHARS - 1]}…"
    run = _newest(alert)
    Notice.objects.bulk_create(
        Notice(user=person, run=run, alert=alert, text=short) for person in people
    )
