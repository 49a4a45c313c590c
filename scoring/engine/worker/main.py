"""The worker: one per data folder, it scores every run and reads every upload."""

from __future__ import annotations

import fcntl
import logging
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import timedelta
from typing import Any, Final

from django.conf import settings
from django.db import Error, connection
from django.db.models.functions import Now
from django.utils import timezone

from scoring.core.database_lock import is_locked
from scoring.core.disk_full import is_disk_full
from scoring.core.embeddings import child_process
from scoring.core.llm import client_pool
from scoring.core.lost_connection import is_lost
from scoring.core.private_files import open_private
from scoring.engine import alerts
from scoring.engine.backups.integrity import open_site
from scoring.engine.jobs import lease
from scoring.engine.jobs.isolation import do_each, is_unwritable
from scoring.engine.jobs.runner import JobRunner
from scoring.engine.mail.runner import MailRunner
from scoring.engine.processes import disk_space
from scoring.engine.processes.memory import Memory
from scoring.engine.processes.process_pool import Executor, ProcessPool
from scoring.engine.processes.thread_pool import ThreadPool
from scoring.engine.runs import lifecycle
from scoring.engine.runs.progress import ALL_QUEUES
from scoring.engine.services.endpoint_limits import EndpointLimits, delete_unused_limits
from scoring.engine.worker.run_dispatcher import RunDispatcher
from scoring.engine.worker.site_settings import describe_settings, find_differences
from scoring.engine.worker.upload_runner import UploadRunner
from scoring.models import AttemptCounter, IdempotencyKey, OutgoingMail, Worker, WorkQueue

log = logging.getLogger(__name__)

HEARTBEAT_SECONDS: Final = 5
POLL_SECONDS: Final = 0.3  # how soon a new run or upload is noticed
IDLE_CHECK_SECONDS: Final = 20  # how long nothing is looked for where nothing was stored
LOCKED_SECONDS: Final = 1
DISK_SECONDS: Final = 2
STOP_SECONDS: Final = 5  # for shards under way when the worker is asked to stop
NICENESS: Final = 10


class AlreadyRunningError(Exception):
    """Another worker works on this data folder."""


@contextmanager
def worker_lock() -> Iterator[None]:
    """Be the one worker of the data folder. Raises AlreadyRunningError."""
    with open_private(settings.DATA_DIR / "worker.lock", "ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise AlreadyRunningError from None
        yield


class WorkerLoop:
    """The worker's loop: runs, uploads, jobs, alerts and mail of its queues, and a heartbeat."""

    def __init__(
        self,
        pool: Executor,
        threads: Executor,
        reading: Executor,
        queues: frozenset[str] = ALL_QUEUES,
    ) -> None:
        self.is_stopping = False
        self._queues = queues
        self._pool = pool
        self._dispatcher = RunDispatcher(pool, threads)
        self._uploads = UploadRunner(reading, clean_up)
        self._jobs = JobRunner()
        self._alerts = alerts.AlertRunner()
        self._mail = MailRunner()
        self._changes = DatabaseChanges()
        self._memory = Memory()
        self._disk = Disk()
        self._next_beat = self._next_minute = 0.0

    def stop(self, *_: object) -> None:
        """Finish what is under way; a signal handler, so it only sets a flag."""
        self.is_stopping = True

    def run_forever(self) -> None:
        """Work until asked to stop."""
        while not self.is_stopping:
            self.try_round()
        try:
            self._stop_all()
        except Exception as fault:
            if not is_unwritable(fault):
                raise
            log.warning("the database cannot be written; leases expire by themselves: %s", fault)

    def _stop_all(self) -> None:
        self._dispatcher.stop(STOP_SECONDS)
        self._uploads.stop()
        self._jobs.stop()
        self._alerts.stop()
        self._mail.stop()
        Worker.objects.filter(name=lease.own_name()).delete()

    def try_round(self) -> None:
        """One round. If the database cannot be used, all runs are taken up again later."""
        try:
            if self._disk.is_full():
                self._pause()
            else:
                self._round()
        except (Error, OSError) as fault:
            if is_disk_full(fault):
                disk_space.release_reserve()
            elif not (is_locked(fault) or is_lost(fault)):
                raise
            log.warning("the database cannot be used, trying again: %s", fault)
            connection.close_if_unusable_or_obsolete()
            self._dispatcher.let_go()
            self._changes.expect()
            time.sleep(LOCKED_SECONDS)

    def _round(self) -> None:
        self._tick()
        if self._changes.are_due() or self._uploads.is_due:
            self._dispatcher.take_waiting(self._queues)
            if WorkQueue.IMPORTS in self._queues:
                self._uploads.step()
            if WorkQueue.JOBS in self._queues:
                self._jobs.step()
                self._alerts.step()
                self._mail.step()
        if self._dispatcher.is_idle:
            if self._memory.release_when_idle():
                self._pool.restart()  # its processes start again with the next run
                self._uploads.end_idle_process()
            time.sleep(POLL_SECONDS)
        else:
            self._dispatcher.step(POLL_SECONDS)
            self._changes.expect()
            self._memory.is_used()

    def _pause(self) -> None:
        """Only record being alive; what is under way is taken up again once there is room."""
        self._tick()
        self._dispatcher.let_go()
        self._changes.expect()
        time.sleep(LOCKED_SECONDS)

    def _tick(self) -> None:
        now = time.monotonic()
        if now >= self._next_beat:
            self._next_beat = now + HEARTBEAT_SECONDS
            record_heartbeat(self._queues)
        if now >= self._next_minute:
            self._next_minute = now + 60
            Worker.objects.filter(seen_at__lt=timezone.now() - timedelta(days=1)).delete()


class Disk:
    """Whether the disk is full, asked every few seconds; tells when that changes."""

    def __init__(self) -> None:
        self._is_full = False
        self._next_look = 0.0

    def is_full(self) -> bool:
        if connection.vendor != "sqlite" or time.monotonic() < self._next_look:
            return self._is_full
        self._next_look = time.monotonic() + DISK_SECONDS
        was_full, self._is_full = self._is_full, disk_space.watch_disk()
        if self._is_full and not was_full:
            log.error("%s (%s)", disk_space.DISK_FULL, settings.DATA_DIR)
        elif was_full and not self._is_full:
            log.info("there is room on the disk again")
        return self._is_full


class DatabaseChanges:
    """Tells when to look for work: something was stored, or IDLE_CHECK_SECONDS have passed.

    SQLite says whether another connection has stored anything; for other databases it is assumed.
    """

    def __init__(self) -> None:
        self._version: int | None = None
        self._look_at = 0.0

    def are_due(self) -> bool:
        version = self._stored_version()
        if version is not None and version == self._version and time.monotonic() < self._look_at:
            return False
        self._version, self._look_at = version, time.monotonic() + IDLE_CHECK_SECONDS
        return True

    def expect(self) -> None:
        """Look again at once: this connection may have stored something, which SQLite hides."""
        self._look_at = 0.0

    def _stored_version(self) -> int | None:
        if connection.vendor != "sqlite":
            return None
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA data_version")
            return int(cursor.fetchone()[0])


def clean_up() -> None:
    """Remove what killed imports left and what has expired; in a pool process."""
    from scoring.engine import imports
    from scoring.engine.datasets import lifecycle as dataset_lifecycle
    from scoring.engine.drafts import jobs
    from scoring.engine.retention.policies import apply_due_policies

    tasks: list[Callable[[], Any]] = [
        jobs.reopen_abandoned_drafts,
        imports.remove_abandoned,
        IdempotencyKey.objects.delete_expired,
        AttemptCounter.objects.forget_expired,
        delete_unused_limits,
        OutgoingMail.objects.delete_old,
        apply_due_policies,
        lifecycle.purge_deleted_runs,
        dataset_lifecycle.purge_deleted_datasets,
        alerts.purge_old,
    ]
    do_each(tasks, lambda task: task(), "cleaning up")


def record_heartbeat(queues: frozenset[str] = ALL_QUEUES) -> None:
    """Record that this worker is alive; at first, say how the others differ from it."""
    name = lease.own_name()
    if not Worker.objects.filter(name=name).update(seen_at=Now()):
        Worker.objects.create(
            name=name,
            seen_at=Now(),
            started_at=Now(),
            process_count=_process_count(queues),
            queues=[] if queues == ALL_QUEUES else sorted(queues),
            settings=describe_settings(),
        )
        for difference in find_differences():
            log.warning("workers differ: %s", difference)


def run_worker(*, with_celery: bool = False, queues: frozenset[str] = ALL_QUEUES) -> None:
    """Work of these queues until SIGTERM or SIGINT, at a lower priority than pages.

    With Celery, shards go to the processes of all such workers, and a data folder may have several.
    Raises AlreadyRunningError, UnsoundError.
    """
    os.nice(NICENESS)  # what it starts inherits it
    disk_space.watch_disk()
    with (
        nullcontext() if with_celery else worker_lock(),
        open_site(),
        _shard_pool(with_celery=with_celery and WorkQueue.SCORING in queues) as pool,
        ProcessPool(1) as reading,
        ThreadPool() as threads,
    ):
        child_process.use_child_process()
        if connection.vendor == "postgresql":  # other machines may have workers, too
            client_pool.share_limits(EndpointLimits())
        work = WorkerLoop(pool, threads, reading, queues)
        signal.signal(signal.SIGTERM, work.stop)
        signal.signal(signal.SIGINT, work.stop)
        work.run_forever()


def _process_count(queues: frozenset[str]) -> int:
    """How many processes of this worker score."""
    return settings.EVALSITE_WORKER_PROCESSES if WorkQueue.SCORING in queues else 0


def _shard_pool(*, with_celery: bool) -> AbstractContextManager[Executor]:
    if not with_celery:
        return ProcessPool(settings.EVALSITE_WORKER_PROCESSES)
    from scoring.engine.worker.celery_pool import CeleryPool  # its packages are an extra

    return CeleryPool()
