"""What a Celery worker does: score one shard, under a lease, and count that it began."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from billiard.exceptions import TimeLimitExceeded
from celery import Task
from django.db import Error, close_old_connections, connection
from django.db.models import F

from scoring.engine.jobs import lease
from scoring.engine.jobs.isolation import is_unwritable
from scoring.engine.runs.execution import execute_shard, fail_shard
from scoring.engine.worker.celery_app import app
from scoring.engine.worker.shard_scheduler import (
    NOT_STORED,
    PAUSE_SECONDS,
    SHARD_SECONDS,
    describe_fault,
    too_slow,
)
from scoring.models import RunState, Shard
from scoring.models.runs.result_rows import clean_reason

log = logging.getLogger(__name__)

#: Of a shard. Machines are switched off now and then; one that takes its machine along is endless.
MAX_STARTS: Final = 10


class ScoringTask(Task):  # type: ignore[type-arg]  # generic in its stubs alone
    """What comes before and after a shard."""

    def before_start(self, *_: Any) -> None:
        """Connect again where the server has ended the last shard's connection."""
        close_old_connections()

    def on_failure(self, exc: Exception, _id: str, args: Any, *_: Any) -> None:
        """Close the shard whose process this one has killed, because it took too long."""
        if isinstance(exc, TimeLimitExceeded):
            try:
                fail_shard(args[0], *too_slow(SHARD_SECONDS))
            except Shard.DoesNotExist:
                log.info("shard %s was deleted meanwhile", args[0])
            except Error as fault:
                log.warning("shard %s, which took too long, is not closed: %s", args[0], fault)
            finally:
                connection.close()


@app.task(base=ScoringTask, bind=True, name="scoring.score_shard", max_retries=None)
def score_shard(task: ScoringTask, shard_id: int) -> None:
    """Score the shard, unless it is done or being scored, or its run has ended: a message may come
    twice or late. What goes wrong is left in its row for the dispatcher of the run.
    """
    try:
        if shard := _begin(shard_id):
            _execute(shard)
    except Exception as fault:
        if not is_unwritable(fault):
            raise
        log.warning("shard %s cannot be stored: %s", shard_id, fault)
        if not _give_back(shard_id):
            raise task.retry(exc=fault, countdown=PAUSE_SECONDS) from fault


def _begin(shard_id: int) -> Shard | None:
    """The shard, leased and counted before the work: whatever ends this process is counted."""
    is_wanted = {"done_at": None, "attempt__run__state": RunState.RUNNING}
    shard = Shard.objects.filter(pk=shard_id, **is_wanted).first()
    if shard is None or not lease.acquire(shard, start_count=F("start_count") + 1, fault=""):
        return None
    if shard.start_count >= MAX_STARTS:
        reason = f"the process that scored it died, {shard.start_count} times"
        fail_shard(shard_id, "worker_crashed", reason)
        return None
    return shard


def _execute(shard: Shard) -> None:
    with _renewing(shard):
        try:
            execute_shard(shard.pk)
        except Exception as fault:
            if is_unwritable(fault):
                raise
            log.warning("shard %s failed", shard.pk, exc_info=fault)
            _leave(shard.pk, clean_reason(describe_fault(fault)))


def _give_back(shard_id: int) -> bool:
    """Leave it to the dispatcher, as if not begun. False where not even that can be stored."""
    try:
        return _leave(shard_id, NOT_STORED, start_count=F("start_count") - 1)
    except Error:
        return False


def _leave(shard_id: int, fault: str, **changes: Any) -> bool:
    """End the lease of the shard, if it is open and ours, with what went wrong."""
    ours = Shard.objects.filter(pk=shard_id, done_at=None, lease_owner=lease.own_name())
    return bool(ours.update(fault=fault, lease_owner="", lease_expires_at=None, **changes))


@contextmanager
def _renewing(shard: Shard) -> Iterator[None]:
    """Renew the shard's lease for as long as this takes."""
    has_ended = threading.Event()

    def renew() -> None:
        while not has_ended.wait(lease.RENEW_SECONDS):
            try:
                lease.renew(shard)
            except Error as fault:
                log.warning("the lease of shard %s is not renewed: %s", shard.pk, fault)
            finally:
                connection.close()

    threading.Thread(target=renew, name="lease", daemon=True).start()
    try:
        yield
    finally:
        has_ended.set()
