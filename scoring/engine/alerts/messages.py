"""Notifications of an alert: notices in the site, and the messages to be sent."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from django.conf import settings
from django.utils import timezone

from scoring.models import (
    Alert,
    AlertDelivery,
    AlertRule,
    AlertState,
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


def notify(alert: Alert, event: Event, now: datetime) -> None:
    """Create a message for every channel of the rule, within the caller's transaction; those in
    the site are sent with it.
    """
    if alert.rule.by_site:
        _replace_notices(alert)
    _create_deliveries(alert.rule, rule_channels(alert.rule), event, now, alert)


def queue_test_message(rule: AlertRule, *, by: User | None) -> list[AlertDelivery]:
    """Messages that say they are a test, by webhook and e-mail; the worker sends them."""
    AuditEntry.objects.record(rule.team, by, "alert_rule.tested", rule)
    channels = [pair for pair in rule_channels(rule) if pair[0] != Channel.SITE]
    return _create_deliveries(rule, channels, Event.TEST, timezone.now())


def _create_deliveries(
    rule: AlertRule,
    channels: Sequence[tuple[Channel, str]],
    event: Event,
    now: datetime,
    alert: Alert | None = None,
) -> list[AlertDelivery]:
    """A message is what a webhook is sent, but for its id; an e-mail says the same in words."""
    message = {
        "event": f"alert.{event}",
        "at": now.isoformat(),
        "text": alert_sentence(alert) if alert else TEST_SENTENCE,
        **alert_payload(rule, alert),
    }
    common = {"rule": rule, "alert": alert, "event": event, "happened_at": now, "message": message}
    sent = {"state": DeliveryState.SENT, "sent_at": now}
    waiting = {"state": DeliveryState.WAITING, "next_try_at": now}
    return AlertDelivery.objects.bulk_create(
        AlertDelivery(
            channel=channel,
            target=target,
            **common,
            **(sent if channel == Channel.SITE else waiting),
        )
        for channel, target in channels
    )


def rule_channels(rule: AlertRule) -> list[tuple[Channel, str]]:
    """Where messages go now. Whether an address is still a member's is checked on sending."""
    emails = [(Channel.EMAIL, address) for address in rule.emails]
    site = [(Channel.SITE, "")] if rule.by_site else []
    webhook = [(Channel.WEBHOOK, rule.webhook_target)] if rule.has_webhook else []
    return [*site, *webhook, *emails]


def alert_sentence(alert: Alert) -> str:
    """The latest state of an alert, in words."""
    where = f"{alert.rule.dataset.name}{alert.series and f' · {alert.series}'}"
    if alert.is_open:
        mark = "warning: " if alert.state == AlertState.WARNING else ""
        return f"{where}: {mark}{alert.sentence}"
    if alert.resolved_by_run_id:
        return f"{where}: the alert is over. {alert.note}"
    return f"{where}: the alert is closed, for nothing can be told any more. {alert.note}"


def alert_payload(rule: AlertRule, alert: Alert | None) -> dict[str, Any]:
    """Rule, alert and runs as messages and `manage.py alerts` show them."""
    return {
        "team": rule.team.slug,
        "dataset": {"id": str(rule.dataset.uuid), "name": rule.dataset.name},
        "series": alert.series if alert else rule.series,
        "rule": _rule(rule),
        "alert": _alert(alert) if alert else None,
        "run": _run(_newest_run(alert)) if alert else None,
        "baseline": _run(alert.baseline) if alert else None,
        "url": settings.EVALSITE_URL + DRIFT_PATH.format(rule.dataset.uuid),
    }


def _rule(rule: AlertRule) -> dict[str, Any]:
    return {
        "id": str(rule.uuid),
        "kind": rule.kind,
        "scorer": rule.scorer,
        "limit": rule.limit,
        "warning_limit": rule.warning_limit,
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


def _newest_run(alert: Alert) -> Run | None:
    return (None if alert.is_open else alert.resolved_by_run) or alert.run


def _run(run: Run | None) -> dict[str, Any] | None:
    if run is None:
        return None
    return {
        "id": str(run.uuid),
        "name": run.name,
        "url": settings.EVALSITE_URL + RUN_PATH.format(run.uuid),
    }


def _replace_notices(alert: Alert) -> None:
    """One for each member, in the place of an older unread one of the same alert."""
    Notice.objects.filter(alert=alert, read_at=None).delete()
    users = User.objects.filter(memberships__team=alert.rule.team_id, is_active=True)
    text = alert_sentence(alert)
    text = text if len(text) <= NOTICE_CHARS else f"{text[: NOTICE_CHARS - 1]}…"
    run = _newest_run(alert)
    Notice.objects.bulk_create(Notice(user=user, run=run, alert=alert, text=text) for user in users)
