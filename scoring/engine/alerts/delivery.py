"""Sends alert messages: each is claimed by one worker, and tried again while it fails."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Final

from django.utils import timezone

from scoring.engine.alerts import email, webhook
from scoring.engine.alerts.errors import SendError
from scoring.engine.alerts.webhook_formats import format_message
from scoring.models import AlertDelivery, Channel, DeliveryState
from scoring.models.alerts.rule import member_emails
from scoring.models.encryption import DecryptionError

log = logging.getLogger(__name__)

#: A try that takes longer was cut short, and is made again: the one way to be notified twice.
CLAIM_SECONDS: Final = 60
#: After each failure; one failure more is the end.
PAUSES_SECONDS: Final = (10, 60, 300, 1_800, 7_200, 21_600)
ERROR_CHARS: Final = 300


def deliver(delivery: AlertDelivery) -> bool:
    """Try once, unless another worker does; False then."""
    if not _claim(delivery):
        return False
    try:
        _send_message(delivery)
    except SendError as fault:
        _fail(delivery, fault.text, is_final=fault.is_final)
    except Exception as fault:
        log.exception("alert message %s could not be sent", delivery.uuid)
        _fail(delivery, f"it failed with {type(fault).__name__}")
    else:
        now = timezone.now()
        _update(delivery, state=DeliveryState.SENT, sent_at=now, error="", next_try_at=None)
    return True


def _claim(delivery: AlertDelivery) -> bool:
    until = timezone.now() + timedelta(seconds=CLAIM_SECONDS)
    tries = delivery.try_count + 1
    waiting = AlertDelivery.objects.filter(pk=delivery.pk, state=DeliveryState.WAITING)
    unclaimed = waiting.filter(next_try_at=delivery.next_try_at)
    if not unclaimed.update(next_try_at=until, try_count=tries):
        return False
    delivery.next_try_at, delivery.try_count = until, tries
    return True


def _send_message(delivery: AlertDelivery) -> None:
    """Raises SendError."""
    if delivery.channel == Channel.EMAIL:
        if delivery.target not in member_emails(delivery.rule, [delivery.target]):
            raise SendError("the address is no member's any more", is_final=True)
        email.send_email(delivery.target, str(delivery.uuid), delivery.message)
        return
    rule = delivery.rule
    if rule.webhook_target != delivery.target:
        raise SendError("the rule has another webhook now", is_final=True)
    try:
        url, secret = rule.webhook_url, rule.secret()
    except DecryptionError:
        text = "the webhook can no longer be read: type its URL again on the rule's page"
        raise SendError(text, is_final=True) from None
    timestamp = int(timezone.now().timestamp())
    event_id = str(delivery.uuid)
    content = format_message(rule.webhook_format, event_id, delivery.message)
    webhook.send_webhook(url, secret, event_id, content, timestamp)


def _fail(delivery: AlertDelivery, why: str, *, is_final: bool = False) -> None:
    """Store why, and try again later unless that was the last try."""
    error = why[:ERROR_CHARS]
    if is_final or delivery.try_count > len(PAUSES_SECONDS):
        log.warning("alert message %s was given up: %s", delivery.uuid, error)
        _update(delivery, state=DeliveryState.FAILED, error=error, next_try_at=None)
        return
    pause = timedelta(seconds=PAUSES_SECONDS[delivery.try_count - 1])
    _update(delivery, error=error, next_try_at=timezone.now() + pause)


def _update(delivery: AlertDelivery, **fields: object) -> None:
    """Unless another worker has taken it over meanwhile."""
    waiting = AlertDelivery.objects.filter(pk=delivery.pk, state=DeliveryState.WAITING)
    waiting.filter(try_count=delivery.try_count).update(**fields)
