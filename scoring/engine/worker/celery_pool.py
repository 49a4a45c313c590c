"""An executor of shards whose processes may be on other machines, behind a broker.

The broker delivers, and the rows tell: what became of a shard is read from its row, so that neither
a message that is lost nor one that comes twice changes anything.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Final, Self

from django.conf import settings
from django.db import Error, connection
from django.db.models import Q
from kombu.exceptions import OperationalError as BrokerError

from scoring.engine.jobs import lease
from scoring.engine.runs.execution import execute_shard
from scoring.engine.runs.progress import count_worker_processes
from scoring.engine.services.team_services import RunStoppedError
from scoring.engine.worker.celery_processes import CeleryProcesses
from scoring.engine.worker.celery_tasks import score_shard
from scoring.engine.worker.shard_scheduler import NOT_STORED, NotStoredError, ShardError
from scoring.models import RunState, Shard

log = logging.getLogger(__name__)

LOOK_SECONDS: Final = 0.05
MESSAGES_A_PROCESS: Final = 4
COUNT_SECONDS: Final = 5.0  # how often the processes of all workers are counted
RESEND_SECONDS: Final = 10.0  # until a message that nobody has begun with is sent again
BROKER_SECONDS: Final = 1.0  # until a broker that could not be reached is tried again
BROKER_LOST: Final = "the broker cannot be reached"

_TASKS: Final = {execute_shard: score_shard}


@dataclass(eq=False)
class Message:
    """A shard under way. `is_started` once a process was seen to have its lease."""

    task: Any
    future: Future[Any] = field(default_factory=Future)
    sent_at: float | None = None
    is_started: bool = False

    @property
    def is_lost(self) -> bool:
        """Of one that nobody has the lease of: whether it was given up or has waited too long."""
        waited = time.monotonic() - (self.sent_at or 0.0)
        return self.is_started or waited > RESEND_SECONDS


class CeleryPool:
    """Sends shards to Celery's workers, among them the processes of this one.

    A thread sends and follows them, so that a broker out of reach delays no heartbeat.
    """

    can_end_tasks = False  # each worker ends those that take too long

    def __init__(self) -> None:
        self.processes = settings.EVALSITE_WORKER_PROCESSES
        self.stall_reason = ""
        self._own = CeleryProcesses(self.processes)
        self._messages: dict[int, Message] = {}
        self._lock = threading.Lock()
        self._is_closed = threading.Event()
        self._count_at = self._broker_at = 0.0
        self._thread = threading.Thread(target=self._follow_all, name="celery", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_closed.set()
        self._thread.join()
        self._own.close()

    @property
    def capacity(self) -> int:
        """Enough that no process waits while this one looks what has ended."""
        return MESSAGES_A_PROCESS * self.processes

    def submit(self, function: Callable[..., Any], *args: Any) -> Future[Any]:
        """The future end of a shard. Asked for again, an earlier future of it never ends."""
        (shard_id,) = args
        message = Message(_TASKS[function])
        with self._lock:
            self._messages[shard_id] = message
        return message.future

    def restart(self) -> None:
        """Nothing to do: each worker replaces its processes."""

    def _follow_all(self) -> None:
        while not self._is_closed.wait(LOOK_SECONDS):
            try:
                self._own.look_after()
                self._count_processes()
                self.look()
            except Error as fault:
                log.warning("the database cannot be used, trying again: %s", fault)
                connection.close()
            except Exception:  # the next look may do better, and nobody else looks
                log.exception("shards under way were not looked at")
        connection.close()

    def _count_processes(self) -> None:
        if time.monotonic() >= self._count_at:
            self._count_at = time.monotonic() + COUNT_SECONDS
            self.processes = max(count_worker_processes(), settings.EVALSITE_WORKER_PROCESSES)

    def look(self) -> None:
        """Read what became of the shards under way, and send those that have to be."""
        with self._lock:
            messages = dict(self._messages)
        if not messages:
            return
        is_running = Q(attempt__run__state=RunState.RUNNING)
        shards = Shard.objects.annotate(is_running=is_running, is_leased=lease.is_current())
        found = shards.in_bulk(list(messages))
        for shard_id, message in messages.items():
            if self._has_ended(message, found.get(shard_id)):
                with self._lock:
                    if self._messages.get(shard_id) is message:
                        del self._messages[shard_id]

    def _has_ended(self, message: Message, shard: Any) -> bool:
        """Whether the shard has, in its future, too; otherwise it is sent where it has to be."""
        if shard is None or shard.done_at:
            message.future.set_result(None)
        elif shard.is_leased and not lease.is_dead(shard.lease_owner):
            message.is_started = True
            return False
        elif not shard.is_running:
            message.future.set_exception(RunStoppedError())
        elif message.sent_at is None:
            self._send(message, shard)
            return False
        elif shard.fault == NOT_STORED:
            message.future.set_exception(NotStoredError(NOT_STORED))
        elif shard.fault:
            message.future.set_exception(ShardError(shard.fault))
        else:
            if message.is_lost:
                self._send(message, shard)
            return False
        return True

    def _send(self, message: Message, shard: Shard) -> None:
        if time.monotonic() < self._broker_at:
            return
        if shard.fault:  # of an earlier try
            Shard.objects.filter(pk=shard.pk).update(fault="")
        try:
            message.task.apply_async((shard.pk,), retry=False)
        except (BrokerError, OSError) as fault:
            if not self.stall_reason:
                log.warning("%s, trying again: %s", BROKER_LOST, fault)
            self.stall_reason = BROKER_LOST
            self._broker_at = time.monotonic() + BROKER_SECONDS
            return
        if message.sent_at is not None:
            log.warning("shard %s was sent again", shard.pk)
        self.stall_reason = ""
        message.sent_at, message.is_started = time.monotonic(), False
