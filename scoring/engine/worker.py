"""The worker: one per data folder, it scores every run and reads every upload."""

from __future__ import annotations

import fcntl
import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Final

from django.conf import settings
from django.utils import timezone

from scoring.engine import alerts, hold, run_life
from scoring.engine.dispatch import Dispatcher
from scoring.engine.errand_desk import ErrandDesk
from scoring.engine.pool import Executor, Pool
from scoring.engine.threads import Threads
from scoring.models import IdempotencyKey, Upload, UploadState, Worker

log = logging.getLogger(__name__)

BEAT_SECONDS: Final = 5
POLL_SECONDS: Final = 0.3  # how soon a new run or upload is noticed
STOP_SECONDS: Final = 5  # for shards under way when the worker is asked to stop
SWEEP_SECONDS: Final = 60
MAX_CRASHES: Final = 3


class AlreadyRunningError(Exception):
    """Another worker works on this data folder."""


@contextmanager
def only_worker() -> Iterator[None]:
    """Be the one worker of the data folder, for as long as this process lives."""
    path: Path = settings.DATA_DIR / "worker.lock"
    with path.open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise AlreadyRunningError from None
        yield


class Work:
    """The worker's round: runs, uploads, a heartbeat, and what comes up every minute."""

    def __init__(self, pool: Executor, threads: Executor, reading: Executor) -> None:
        self.is_stopping = False
        self._dispatcher = Dispatcher(pool, threads)
        self._uploads = UploadDesk(reading)
        self._errands = ErrandDesk()
        self._alerts = alerts.AlertDesk()
        self._next_beat = self._next_minute = 0.0

    def stop(self, *_: object) -> None:
        """Finish what is under way; a signal handler, so it only leaves a note."""
        self.is_stopping = True

    def go_on(self) -> None:
        """Work until asked to stop."""
        while not self.is_stopping:
            self._tick()
            self._dispatcher.take_waiting()
            self._errands.step()
            self._uploads.step()
            self._alerts.step()
            if self._dispatcher.is_idle:
                time.sleep(POLL_SECONDS)
            else:
                self._dispatcher.step(POLL_SECONDS)
        self._dispatcher.stop(STOP_SECONDS)
        self._uploads.stop()
        self._errands.stop()
        self._alerts.stop()
        Worker.objects.filter(name=hold.own_name()).delete()

    def _tick(self) -> None:
        now = time.monotonic()
        if now >= self._next_beat:
            self._next_beat = now + BEAT_SECONDS
            beat()
        if now >= self._next_minute:
            self._next_minute = now + 60
            forget_old_workers()


class UploadDesk:
    """Reads one upload at a time, in a process of its own, and sweeps up in between."""

    def __init__(self, pool: Executor) -> None:
        self._pool = pool
        self._upload: Upload | None = None
        self._future: Future[None] | None = None
        self._renew_at = self._sweep_at = 0.0
        self._crashes: dict[int, int] = {}

    def step(self) -> None:
        if self._future is None:
            self._begin_next()
        elif self._future.done():
            self._end(self._future)
        elif self._upload and time.monotonic() > self._renew_at:
            self._renew(self._upload)

    def stop(self) -> None:
        """Let go of the upload; its half-read version is removed and read again later."""
        if self._upload:
            hold.release(self._upload)

    def _begin_next(self) -> None:
        from scoring.engine.loading.spool import ELSEWHERE

        waiting = Upload.objects.filter(state__in=(UploadState.CHECKING, UploadState.LOADING))
        for upload in waiting.exclude(spool_name__endswith=ELSEWHERE).order_by("pk"):
            if hold.take(upload):
                self._renew(upload)
                self._upload = upload
                self._future = self._begun(read_upload, upload.pk)
                return
        if time.monotonic() > self._sweep_at:
            self._sweep_at = time.monotonic() + SWEEP_SECONDS
            self._future = self._begun(sweep)

    def _begun(self, function: Callable[..., None], *args: int) -> Future[None]:
        try:
            return self._pool.submit(function, *args)
        except BrokenProcessPool:  # its process died while it had nothing to do
            self._pool.restart()
            return self._pool.submit(function, *args)

    def _renew(self, upload: Upload) -> None:
        self._renew_at = time.monotonic() + hold.RENEW_SECONDS
        hold.renew(upload)

    def _end(self, future: Future[None]) -> None:
        upload, self._upload, self._future = self._upload, None, None
        fault = future.exception()
        if fault is not None:
            log.warning("upload %s: %s", upload and upload.uuid, fault)
            self._pool.restart()
        if upload:
            if fault is not None:
                self._count_crash(upload)
            hold.release(upload)

    def _count_crash(self, upload: Upload) -> None:
        """An upload that crashed is tried again a few times, then called failed."""
        self._crashes[upload.pk] = self._crashes.get(upload.pk, 0) + 1
        if self._crashes[upload.pk] >= MAX_CRASHES:
            message = "the process that read the file died"
            problem = {"line": None, "column": None, "code": "worker_crashed", "message": message}
            Upload.objects.filter(pk=upload.pk).update(state=UploadState.FAILED, problems=[problem])


def read_upload(upload_id: int) -> None:
    """The next step of an upload, in a pool process: its dry run or its import."""
    from scoring.engine import loading

    upload = Upload.objects.get(pk=upload_id)
    if upload.state == UploadState.CHECKING:
        loading.check(upload)
    elif upload.state == UploadState.LOADING:
        loading.load(upload)


def sweep() -> None:
    """Remove what killed imports have left and what nobody asks for any more, in a pool process."""
    from scoring.engine import loading
    from scoring.engine.drafts import asks

    asks.release_abandoned()
    loading.sweep()
    IdempotencyKey.objects.forget_old()
    run_life.purge()
    alerts.forget_old()


def beat() -> None:
    """Say that this worker lives."""
    now = timezone.now()
    Worker.objects.update_or_create(
        name=hold.own_name(),
        defaults={"seen_at": now},
        create_defaults={"seen_at": now, "started_at": now},
    )


def forget_old_workers() -> None:
    Worker.objects.filter(seen_at__lt=timezone.now() - timedelta(days=1)).delete()


def end_with(fd: int) -> None:
    """End this process at once when the other end of the pipe closes, however that came about."""

    def watch() -> None:
        while os.read(fd, 1):
            pass
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def run_worker() -> None:
    """Work until SIGTERM or SIGINT. Raises AlreadyRunningError."""
    processes = settings.EVALSITE_WORKER_PROCESSES
    with only_worker(), Pool(processes) as pool, Pool(1) as reading, Threads() as threads:
        work = Work(pool, threads, reading)
        signal.signal(signal.SIGTERM, work.stop)
        signal.signal(signal.SIGINT, work.stop)
        work.go_on()
