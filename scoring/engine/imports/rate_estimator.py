"""How fast an upload is read or stored, and how long it will still take."""

from __future__ import annotations

import time
from collections import deque
from typing import Final

from scoring.engine.imports import shared_storage
from scoring.engine.jobs import lease
from scoring.models import Upload, UploadKind, UploadState

_LATEST: Final = 10  # beats that the rate is taken from: about five seconds


class RateEstimator:
    """Estimates rate and remaining time from the progress at the latest beats."""

    def __init__(self) -> None:
        self._beats = deque([(time.monotonic(), 0, 0.0)], maxlen=_LATEST)

    def pace(self, row_count: int, share: float) -> tuple[float | None, float | None]:
        """Rows a second lately, and seconds left at that rate; None for what is not known."""
        now = time.monotonic()
        then, first_count, first_share = self._beats[0]
        self._beats.append((now, row_count, share))
        seconds = now - then
        if share >= 1 or seconds <= 0:
            return None, None
        left = (1 - share) / (share - first_share) * seconds if share > first_share else None
        return max(0, row_count - first_count) / seconds or None, left


def stage_of(upload: Upload) -> str:
    """What is being done with the upload, in words."""
    if not lease.is_leased(upload):
        is_out_of_reach = any(each["code"] == shared_storage.CODE for each in upload.problems)
        return "waiting for the storage of files" if is_out_of_reach else "waiting for the worker"
    is_read = upload.share_read >= 1
    if upload.state == UploadState.CHECKING:
        return "comparing with what is there" if is_read else "reading and checking every row"
    if is_read:
        return "making the rows visible"
    noun = "cases" if upload.kind == UploadKind.DATASET else "outputs"
    return f"reading the rows and storing {noun}"
