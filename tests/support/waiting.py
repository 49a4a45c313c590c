"""Waits for what another thread or process does: for a condition, never for a fixed time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

#: For a machine ten times slower than usual; a test that passes never waits so long.
DEADLINE_SECONDS: Final = 60


def wait_until(condition: Callable[[], object], seconds: float = DEADLINE_SECONDS) -> None:
    """Come back as soon as the condition holds; fail when it does not within the time."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not within {seconds} s"
        time.sleep(0.02)
