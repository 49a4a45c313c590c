"""Reads one upload at a time in a process of its own, and cleans up in between."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from typing import Any, Final

from scoring.core.log_context import log_context
from scoring.engine.imports.shared_storage import StorageUnreachableError
from scoring.engine.jobs import lease
from scoring.engine.jobs.isolation import is_unwritable
from scoring.engine.jobs.tasks import LeasedTasks, submit
from scoring.engine.processes.process_pool import Executor
from scoring.engine.runs.progress import has_other_workers
from scoring.models import Upload, UploadState
from scoring.models.data.upload import WORKING
from scoring.models.job import MAX_TRIES

log = logging.getLogger(__name__)

CLEANUP_SECONDS: Final = 60
LEAVE_SECONDS: Final = 10


class UploadRunner:
    """`clean` is a module-level function that runs about once a minute while no upload is read.

    Without a shared storage, a file that came in where another worker runs, into a folder of its
    own, is read by that one.
    """

    def __init__(self, pool: Executor, clean: Callable[[], None]) -> None:
        self._pool, self._clean = pool, clean
        self._tasks: LeasedTasks[Upload] = LeasedTasks(pool, 1)
        self._cleaning: Future[Any] | None = None
        self._clean_at = time.monotonic() + CLEANUP_SECONDS  # not while the site starts
        self._crashes: dict[int, int] = {}
        self._left_until: dict[int, float] = {}  # uploads whose file cannot be fetched at present

    @property
    def is_idle(self) -> bool:
        return not len(self._tasks) and self._cleaning is None

    @property
    def is_due(self) -> bool:
        """Whether a task has ended, or an upload that was left alone is to be tried again."""
        now = time.monotonic()
        return self._tasks.have_ended or any(now >= until for until in self._left_until.values())

    def step(self) -> None:
        """Collect what ended, else start the next upload or the cleaning."""
        if self.is_idle:
            self._start_next()
        for upload, fault in self._tasks.collect():
            if isinstance(fault, StorageUnreachableError):
                self._leave(upload, fault)
            elif fault:
                log.warning("upload %s: %s", upload.uuid, fault)
                self._pool.restart()
                if not is_unwritable(fault):
                    self._count_crash(upload, fault)
            lease.release(upload)
        if self._cleaning and self._cleaning.done():
            fault, self._cleaning = self._cleaning.exception(), None
            if fault:
                log.warning("cleaning up: %s", fault)
                self._pool.restart()
        self._tasks.renew_leases()

    def stop(self) -> None:
        """Release the upload; its half-read version is removed and read again later."""
        for upload in self._tasks.abandon():
            lease.release(upload)

    def end_idle_process(self) -> None:
        """Give back the memory a large file took; the next upload starts a process again."""
        if self.is_idle:
            self._pool.restart()

    def _start_next(self) -> None:
        from scoring.engine.imports.upload_storage import EXTERNAL, is_within_reach

        now = time.monotonic()
        self._left_until = {pk: until for pk, until in self._left_until.items() if now < until}
        waiting = Upload.objects.filter(state__in=WORKING).exclude(pk__in=self._left_until)
        for upload in waiting.exclude(stored_name__endswith=EXTERNAL).order_by("pk"):
            is_ours = is_within_reach(upload) or not has_other_workers()
            if is_ours and lease.acquire(upload):
                self._tasks.start(upload, process_upload, upload.pk)
                return
        if time.monotonic() > self._clean_at:
            self._clean_at = time.monotonic() + CLEANUP_SECONDS
            self._cleaning = submit(self._pool, self._clean)

    def _leave(self, upload: Upload, fault: StorageUnreachableError) -> None:
        """Say what an upload waits for, and leave it alone for a while."""
        log.warning("upload %s: %s", upload.uuid, fault)
        problem = {"line": None, "column": None, "code": fault.code, "message": fault.text}
        Upload.objects.filter(pk=upload.pk).update(problems=[problem])
        self._left_until[upload.pk] = time.monotonic() + LEAVE_SECONDS

    def _count_crash(self, upload: Upload, fault: BaseException) -> None:
        """Fail an upload that has ended its process MAX_TRIES times."""
        self._crashes[upload.pk] = self._crashes.get(upload.pk, 0) + 1
        if self._crashes[upload.pk] >= MAX_TRIES:
            message = "the process that read the file died"
            if not isinstance(fault, BrokenProcessPool):
                message = f"reading the file failed with {type(fault).__name__}"
            problem = {"line": None, "column": None, "code": "worker_crashed", "message": message}
            Upload.objects.filter(pk=upload.pk).update(state=UploadState.FAILED, problems=[problem])


def process_upload(upload_id: int) -> None:
    """The next step of an upload, in a pool process: its dry run or its import.

    Raises StorageUnreachableError where its file cannot be fetched at present.
    """
    from scoring.engine import imports

    upload = Upload.objects.get(pk=upload_id)
    with log_context(upload=upload.uuid):
        imports.fetch_file(upload)
        if upload.state == UploadState.CHECKING:
            imports.check_upload(upload)
        elif upload.state == UploadState.LOADING:
            imports.import_upload(upload)
