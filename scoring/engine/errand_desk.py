"""The worker's desk for errands: each in a thread of its own desk, while the person waits."""

from __future__ import annotations

import logging
import time
from concurrent.futures import Future
from typing import Final

from django.db.models import Q

from scoring.engine import errands, hold
from scoring.engine.pool import Executor
from scoring.engine.threads import Threads
from scoring.models import Errand
from scoring.models.errand import REPEATABLE

log = logging.getLogger(__name__)

AT_ONCE: Final = 4
FORGET_SECONDS: Final = 60


class ErrandDesk:
    """Does errands as they come; they never wait behind a run's own calls."""

    def __init__(self, threads: Executor | None = None) -> None:
        self._threads = threads or Threads(AT_ONCE)
        self._flights: dict[int, tuple[Future[None], Errand]] = {}
        self._renew_at = self._forget_at = 0.0

    def step(self) -> None:
        """Settle what ended, begin what waits, and once a minute forget what is old."""
        for pk, (future, errand) in list(self._flights.items()):
            if future.done():
                del self._flights[pk]
                self._settle(future, errand)
        self._renew()
        self._begin()
        if time.monotonic() >= self._forget_at:
            self._forget_at = time.monotonic() + FORGET_SECONDS
            Errand.objects.forget_old()

    def stop(self) -> None:
        """Put back what can be begun again, and say of the rest that it will not be done."""
        for _, errand in self._flights.values():
            end = errands.put_back if errand.kind in REPEATABLE else errands.give_up
            end(errand)
        self._flights.clear()

    def _begin(self) -> None:
        """What a person waits for comes first; of what follows runs, one at a time."""
        waiting = Errand.objects.unfinished().exclude(pk__in=self._flights)
        ordered = waiting.annotate(follows=Q(asked_by=None)).order_by("follows", "pk")
        for errand in ordered.select_related("team"):
            if len(self._flights) >= AT_ONCE:
                return
            if errand.asked_by_id is None and self._is_following:
                return
            if not hold.take(errand):
                continue
            if errand.may_begin:
                self._flights[errand.pk] = self._threads.submit(errands.do, errand), errand
            else:
                errands.give_up(errand)

    @property
    def _is_following(self) -> bool:
        return any(errand.asked_by_id is None for _, errand in self._flights.values())

    def _renew(self) -> None:
        if self._flights and time.monotonic() >= self._renew_at:
            self._renew_at = time.monotonic() + hold.RENEW_SECONDS
            for _, errand in self._flights.values():
                hold.renew(errand)

    def _settle(self, future: Future[None], errand: Errand) -> None:
        """The thread has kept the answer, unless the database could not be written."""
        fault = future.exception()
        if fault is not None:
            log.warning("errand %s: %s", errand.uuid, fault)
            errands.give_up(errand)
