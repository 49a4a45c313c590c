"""Runs alerts in threads of the worker: evaluations, repetitions and messages."""

from __future__ import annotations

import logging
import time
from concurrent.futures import Future
from datetime import timedelta
from typing import Final

from django.db import transaction
from django.utils import timezone

from scoring.engine.alerts import delivery, evaluation
from scoring.engine.jobs.isolation import do_each
from scoring.engine.jobs.tasks import RunningTasks
from scoring.engine.processes.process_pool import Executor
from scoring.engine.processes.thread_pool import ThreadPool
from scoring.models import AlertDelivery, AlertRule, AuditEntry, DeliveryState

log = logging.getLogger(__name__)

TICK_SECONDS: Final = 5
MAX_CONCURRENT: Final = 4  # messages under way: one that nobody takes holds up no other
STOP_SECONDS: Final = 5
RULE_RETENTION: Final = timedelta(days=7)  # a deleted rule can be brought back
DELIVERY_RETENTION: Final = timedelta(days=90)


def tick() -> int:
    """Evaluate every series that is due and repeat what goes on; how many of both."""
    return evaluation.evaluate_due() + evaluation.repeat_notifications()


class AlertRunner:
    """Does what is due every few seconds. Whatever fails here stops neither worker nor run, and
    two workers share the work: each evaluation and each message is claimed by one.
    """

    def __init__(self, threads: Executor | None = None) -> None:
        self._threads = threads or ThreadPool(MAX_CONCURRENT + 1)
        self._deliveries: RunningTasks[AlertDelivery] = RunningTasks(self._threads, MAX_CONCURRENT)
        self._tick: Future[int] | None = None
        self._next = 0.0

    def step(self) -> None:
        """Collect what ended and, every few seconds, start what is due."""
        self._collect()
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + TICK_SECONDS
        if self._tick is None:
            self._tick = self._threads.submit(tick)
        due = AlertDelivery.objects.due().exclude(pk__in=self._deliveries.ids)
        for message in due[: self._deliveries.free]:
            self._deliveries.start(message, delivery.deliver, message)

    def stop(self) -> None:
        """Give messages under way a moment: one that is cut short is sent again."""
        end = time.monotonic() + STOP_SECONDS
        while len(self._deliveries) and time.monotonic() < end:
            time.sleep(0.05)
            self._collect()

    def _collect(self) -> None:
        for _, fault in self._deliveries.collect():
            _log(fault)
            self._next = 0.0  # others may be waiting
        if self._tick and self._tick.done():
            tick, self._tick = self._tick, None
            _log(tick.exception())
            if not tick.exception() and tick.result():
                self._next = 0.0  # its messages are sent now


def _log(fault: BaseException | None) -> None:
    """Of a database that could not be written, for instance; the claims expire by themselves."""
    if fault:
        log.warning("alerts: %s", fault)


def purge_old() -> None:
    """Remove the rules deleted more than RULE_RETENTION ago, and what was sent long ago."""
    now = timezone.now()
    old = AlertRule.with_deleted.filter(deleted_at__lt=now - RULE_RETENTION)
    do_each(old.select_related("team"), _purge_rule, "purging an alert rule")
    sent = AlertDelivery.objects.exclude(state=DeliveryState.WAITING)
    sent.filter(happened_at__lt=now - DELIVERY_RETENTION).delete()


def _purge_rule(rule: AlertRule) -> None:
    with transaction.atomic():
        AuditEntry.objects.record(rule.team, None, "alert_rule.purged", rule)
        rule.delete()
