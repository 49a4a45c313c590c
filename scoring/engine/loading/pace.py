"""How fast an upload is read or stored, and how long it will still take."""

from __future__ import annotations

import time
from collections import deque
from typing import Final

from scoring.engine import hold
from scoring.models import Upload, UploadKind, UploadState

_LATEST: Final = 10  # beats that the pace is taken from: some five seconds


class Trail:
    """How far the work was at its latest beats."""

    def __init__(self) -> None:
        self._beats = deque([(time.monotonic(), 0, 0.0)], maxlen=_LATEST)

    def pace(self, row_count: int, share: float) -> tuple[float | None, float | None]:
        """Rows a second lately, and seconds left at that pace; None for what cannot be told."""
        now = time.monotonic()
        began, rows, start = self._beats[0]
        self._beats.append((now, row_count, share))
        seconds = now - began
        if share >= 1 or seconds <= 0:
            return None, None
        left = (1 - share) / (share - start) * seconds if share > start else None
        return max(0, row_count - rows) / seconds or None, left


def stage_of(upload: Upload) -> str:
    """In words what is being done, by the upload as it was just read."""
    if not hold.is_held(upload):
        return "waiting for the worker"
    is_through = upload.share_read >= 1
    if upload.state == UploadState.CHECKING:
        return "comparing with what is there" if is_through else "reading and checking every row"
    if is_through:
        return "making the rows visible"
    what = "cases" if upload.kind == UploadKind.DATASET else "outputs"
    return f"reading the rows and storing {what}"
