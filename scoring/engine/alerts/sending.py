"""Sends what waits to be sent: each message claimed by one worker, tried again while it fails."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Final

from django.utils import timezone

from scoring.engine.alerts import mail, webhook
from scoring.engine.alerts.problem import SendError
from scoring.models import AlertDelivery, Channel, DeliveryState
from scoring.models.alert_rule import members_among
from scoring.models.sealed import SealError

log = logging.getLogger(__name__)

#: A try that takes longer was cut short, and is made again: the one way to be told twice.
CLAIM_SECONDS: Final = 60
#: After each failure; one failure more is the end.
PAUSES_SECONDS: Final = (10, 60, 300, 1_800, 7_200, 21_600)
ERROR_CHARS: Final = 300


def send(delivery: AlertDelivery) -> bool:
    """Try once, unless another worker does; False then."""
    if not _claim(delivery):
        return False
    try:
        _hand_over(delivery)
    except SendError as fault:
        _fail(delivery, fault.text, is_final=fault.is_final)
    except Exception as fault:
        log.exception("alert message %s could not be sent", delivery.uuid)
        _fail(delivery, f"it failed with {type(fault).__name__}")
    else:
        sent = {"state": DeliveryState.SENT, "sent_at": timezone.now(), "error": ""}
        _write(delivery, **sent, next_try_at=None)
    return True


def _claim(delivery: AlertDelivery) -> bool:
    until = timezone.now() + timedelta(seconds=CLAIM_SECONDS)
    tries = delivery.tries + 1
    free = AlertDelivery.objects.filter(
        pk=delivery.pk, state=DeliveryState.WAITING, next_try_at=delivery.next_try_at
    )
    if not free.update(next_try_at=until, tries=tries):
        return False
    delivery.next_try_at, delivery.tries = until, tries
    return True


def _hand_over(delivery: AlertDelivery) -> None:
    """Raises SendError."""
    if delivery.channel == Channel.EMAIL:
        if delivery.target not in members_among(delivery.rule, [delivery.target]):
            raise SendError("the address is no member's any more", is_final=True)
        mail.send(delivery.target, str(delivery.uuid), delivery.message)
        return
    rule = delivery.rule
    if rule.webhook_url != delivery.target:
        raise SendError("the rule has another webhook now", is_final=True)
    try:
        secret = rule.secret()
    except SealError:
        text = "its secret can no longer be read: make a new one on the rule's page"
        raise SendError(text, is_final=True) from None
    timestamp = int(timezone.now().timestamp())
    webhook.send(rule.webhook_url, secret, str(delivery.uuid), delivery.message, timestamp)


def _fail(delivery: AlertDelivery, why: str, *, is_final: bool = False) -> None:
    """Keep why, and try again later unless that was the last try."""
    error = why[:ERROR_CHARS]
    if is_final or delivery.tries > len(PAUSES_SECONDS):
        log.warning("alert message %s was given up: %s", delivery.uuid, error)
        _write(delivery, state=DeliveryState.FAILED, error=error, next_try_at=None)
        return
    pause = timedelta(seconds=PAUSES_SECONDS[delivery.tries - 1])
    _write(delivery, error=error, next_try_at=timezone.now() + pause)


def _write(delivery: AlertDelivery, **fields: object) -> None:
    """Unless another worker has taken it over meanwhile."""
    ours = AlertDelivery.objects.filter(pk=delivery.pk, tries=delivery.tries)
    ours.filter(state=DeliveryState.WAITING).update(**fields)
