"""Returns memory that a worker no longer needs to the system."""

from __future__ import annotations

import ctypes
import gc
import sys
import time
from typing import Final

from django.db import connection

IDLE_SECONDS: Final = 30.0


class Memory:
    """Released once after each period of work, and every few minutes while there is none, for
    threads allocate memory unnoticed.
    """

    again_seconds: Final = 300.0

    def __init__(self) -> None:
        self._release_at = time.monotonic() + IDLE_SECONDS

    def is_used(self) -> None:
        self._release_at = time.monotonic() + IDLE_SECONDS

    def release_when_idle(self) -> bool:
        """Whether it is released now."""
        if time.monotonic() < self._release_at:
            return False
        self._release_at = time.monotonic() + self.again_seconds
        release()
        return True


def release() -> None:
    """Drop SQLite's cached pages, and return what the allocator keeps where that is possible."""
    gc.collect()
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA shrink_memory")
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc has it, musl has not
        if trim:
            trim(0)
