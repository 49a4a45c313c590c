"""Sends what waits to be mailed, in threads of the worker."""

from __future__ import annotations

import logging
import time
from typing import Final

from scoring.engine.jobs.tasks import RunningTasks
from scoring.engine.mail.outgoing import send_mail
from scoring.engine.processes.process_pool import Executor
from scoring.engine.processes.thread_pool import ThreadPool
from scoring.models import OutgoingMail

log = logging.getLogger(__name__)

MAX_CONCURRENT: Final = 2
STOP_SECONDS: Final = 5


class MailRunner:
    """Two workers share the work: each mail is claimed by one."""

    def __init__(self, threads: Executor | None = None) -> None:
        self._mails: RunningTasks[OutgoingMail] = RunningTasks(
            threads or ThreadPool(MAX_CONCURRENT), MAX_CONCURRENT
        )

    def step(self) -> None:
        """Collect what ended and start what is due."""
        self._collect()
        due = OutgoingMail.objects.due().exclude(pk__in=self._mails.ids)
        for mail in due[: self._mails.free]:
            self._mails.start(mail, send_mail, mail)

    def stop(self) -> None:
        """Give mails under way a moment: one that is cut short is sent again."""
        end = time.monotonic() + STOP_SECONDS
        while len(self._mails) and time.monotonic() < end:
            time.sleep(0.05)
            self._collect()

    def _collect(self) -> None:
        for _, fault in self._mails.collect():
            if fault:  # the database could not be written, for instance; the claim expires
                log.warning("mail: %s", fault)
