"""How many requests of the API a person may make in a minute."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Final

from django.core.cache import caches
from rest_framework.request import Request
from rest_framework.throttling import UserRateThrottle

if TYPE_CHECKING:
    from rest_framework.views import APIView  # which imports the throttles of the settings

#: How long Redis is left alone after it failed.
RETRY_SECONDS: Final = 10.0

log = logging.getLogger(__name__)


class RequestThrottle(UserRateThrottle):
    """Counts requests by the minute, in all web processes together where `REDIS_URL` is set.

    One number for each person and minute, which Redis raises by one: Django REST framework's list
    of times would lose what two processes add at once. While Redis does not answer, each process
    counts for itself.
    """

    num_requests: int
    duration: int  # in seconds
    _redis_rests_until = 0.0

    def allow_request(self, request: Request, view: APIView) -> bool:
        person = self.get_cache_key(request, view)
        minute = int(self.timer() // self.duration)
        return self._count(f"{person}:{minute}") <= self.num_requests

    def wait(self) -> float:
        """The seconds until the next minute begins."""
        return self.duration - self.timer() % self.duration

    def _count(self, key: str) -> int:
        """The requests under this key so far, this one included."""
        if "redis" in caches and time.monotonic() >= RequestThrottle._redis_rests_until:
            try:
                return self._count_in("redis", key)
            except Exception as fault:  # noqa: BLE001  the client's own, which need not be installed
                RequestThrottle._redis_rests_until = time.monotonic() + RETRY_SECONDS
                log.warning("requests are not counted in Redis: %s", fault)
        return self._count_in("requests", key)

    def _count_in(self, alias: str, key: str) -> int:
        cache = caches[alias]
        # Twice the time, lest the key ends between the two statements.
        cache.add(key, 0, 2 * self.duration)
        return cache.incr(key)
