"""Runs jobs in threads of the worker, so that they never wait for the calls of a run."""

from __future__ import annotations

import logging
import time
from typing import Final

from django.db.models import Q

from scoring.engine.jobs import job_queue, lease
from scoring.engine.jobs.tasks import LeasedTasks
from scoring.engine.processes.process_pool import Executor
from scoring.engine.processes.thread_pool import ThreadPool
from scoring.models import Job

log = logging.getLogger(__name__)

MAX_CONCURRENT: Final = 4
CLEANUP_SECONDS: Final = 60


class JobRunner:
    """Starts the jobs somebody waits for first, and one at a time of those that follow runs."""

    def __init__(self, threads: Executor | None = None) -> None:
        self._tasks: LeasedTasks[Job] = LeasedTasks(
            threads or ThreadPool(MAX_CONCURRENT), MAX_CONCURRENT
        )
        self._forget_at = 0.0

    def step(self) -> None:
        """Collect what ended, start what is waiting, and once a minute forget what is old."""
        for job, fault in self._tasks.collect():
            if fault:  # the database could not be read or written
                log.warning("job %s: %s", job.uuid, fault)
                job_queue.give_back(job)
        self._tasks.renew_leases()
        self._start_waiting()
        if time.monotonic() >= self._forget_at:
            self._forget_at = time.monotonic() + CLEANUP_SECONDS
            Job.objects.delete_expired()

    def stop(self) -> None:
        """Requeue what can be repeated, and fail the rest."""
        for job in self._tasks.abandon():
            job_queue.give_back(job)

    def _start_waiting(self) -> None:
        waiting = Job.objects.unfinished().exclude(pk__in=self._tasks.ids)
        ordered = waiting.annotate(follows=Q(requested_by=None)).order_by("follows", "pk")
        for job in ordered.select_related("team"):
            is_following = any(running.requested_by_id is None for running in self._tasks)
            if not self._tasks.free or (job.requested_by_id is None and is_following):
                return
            if not lease.acquire(job):
                continue
            if job.can_start:
                self._tasks.start(job, job_queue.run_job, job)
            else:
                job_queue.fail_abandoned(job)
