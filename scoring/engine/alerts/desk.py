"""The worker's desk for alerts: looks, repeats and messages, in threads of its own."""

from __future__ import annotations

import logging
import time
from concurrent.futures import Future
from datetime import timedelta
from typing import Any, Final

from django.db import transaction
from django.utils import timezone

from scoring.engine.alerts import looking, sending
from scoring.engine.pool import Executor
from scoring.engine.threads import Threads
from scoring.models import AlertDelivery, AlertRule, AuditEntry, DeliveryState

log = logging.getLogger(__name__)

TICK_SECONDS: Final = 5
AT_ONCE: Final = 4  # messages under way: one that nobody takes holds up no other
STOP_SECONDS: Final = 5
KEPT_FOR: Final = timedelta(days=7)  # a deleted rule can be brought back
SENT_KEPT_FOR: Final = timedelta(days=90)


def tick() -> int:
    """Look at every series whose time has come and tell again what goes on; how many of both."""
    return looking.look_around() + looking.tell_again()


class AlertDesk:
    """Does what is due every few seconds. Whatever fails here stops neither worker nor run, and
    two workers share the work: each look and each message is claimed by one.
    """

    def __init__(self, threads: Executor | None = None) -> None:
        self._threads = threads or Threads(AT_ONCE + 1)
        self._tick: Future[int] | None = None
        self._flights: dict[int, Future[bool]] = {}
        self._next = 0.0

    def step(self) -> None:
        """Settle what ended and, every few seconds, begin what is due."""
        self._settle()
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + TICK_SECONDS
        if self._tick is None:
            self._tick = self._threads.submit(tick)
        self._send()

    def stop(self) -> None:
        """Give messages under way a moment: one that is cut short is sent again."""
        end = time.monotonic() + STOP_SECONDS
        while self._flights and time.monotonic() < end:
            time.sleep(0.05)
            self._settle()

    def _send(self) -> None:
        free = AT_ONCE - len(self._flights)
        if free <= 0:
            return
        due = AlertDelivery.objects.due().exclude(pk__in=self._flights)
        for delivery in due[:free]:
            self._flights[delivery.pk] = self._threads.submit(sending.send, delivery)

    def _settle(self) -> None:
        flights: dict[int, Future[Any]] = {**self._flights}
        for pk, future in flights.items():
            if future.done():
                del self._flights[pk]
                _tell_fault(future)
                self._next = 0.0  # others may wait
        if self._tick and self._tick.done():
            tick, self._tick = self._tick, None
            _tell_fault(tick)
            if not tick.exception() and tick.result():
                self._next = 0.0  # what was found is sent now


def _tell_fault(future: Future[Any]) -> None:
    """Of a database that could not be written, for instance; the claims run out by themselves."""
    if fault := future.exception():
        log.warning("alerts: %s", fault)


def forget_old() -> None:
    """Remove for good the rules deleted more than KEPT_FOR ago, and what was sent long ago."""
    now = timezone.now()
    for rule in AlertRule.with_deleted.filter(deleted_at__lt=now - KEPT_FOR).select_related("team"):
        with transaction.atomic():
            AuditEntry.objects.record(rule.team, None, "alert_rule.purged", rule)
            rule.delete()
    sent = AlertDelivery.objects.exclude(state=DeliveryState.WAITING)
    sent.filter(happened_at__lt=now - SENT_KEPT_FOR).delete()
