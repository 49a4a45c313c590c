"""Who works on what: a hold on a run, upload or errand, which runs out unless it is renewed.

A process that dies cannot let go; its holds end by themselves after HOLD_SECONDS, or at once for
a process on the same machine that sees it gone.
"""

from __future__ import annotations

import os
import socket
from datetime import datetime, timedelta
from typing import Final

from django.utils import timezone

from scoring.models import Errand, Run, Upload

HOLD_SECONDS: Final = 30
RENEW_SECONDS: Final = 10

Held = Errand | Run | Upload


def own_name() -> str:
    """What `held_by` and the worker's row call this process."""
    return f"{socket.gethostname()[:60]}:{os.getpid()}"


def is_held(row: Held) -> bool:
    """Whether a living process holds the row, as it was read."""
    is_current = row.held_until is not None and row.held_until >= timezone.now()
    return bool(row.held_by) and is_current and not is_gone(row.held_by)


def take(row: Held) -> bool:
    """Hold the row if it is free and nobody has taken it since it was read.

    One that bears our own name is free, too: a restarted container may get its old pid again.
    """
    if is_held(row) and row.held_by != own_name():
        return False
    unchanged = type(row)._default_manager.filter(
        pk=row.pk, held_by=row.held_by, held_until=row.held_until
    )
    return _hold(row, unchanged.update(held_by=own_name(), held_until=_deadline()))


def renew(row: Held) -> bool:
    """Hold the row for longer; False when it is no longer ours, or gone."""
    ours = type(row)._default_manager.filter(pk=row.pk, held_by=own_name())
    return _hold(row, ours.update(held_until=_deadline()))


def release(row: Held) -> None:
    """Let go of the row, unless another process has taken it over."""
    ours = type(row)._default_manager.filter(pk=row.pk, held_by=own_name())
    ours.update(held_by="", held_until=None)


def is_gone(name: str) -> bool:
    """Whether the named process was on this machine and has ended."""
    host, _, pid = name.rpartition(":")
    if host != socket.gethostname()[:60] or not pid.isdecimal():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def _hold(row: Held, changed: int) -> bool:
    if changed:
        row.refresh_from_db(fields=["held_by", "held_until"])
    return bool(changed)


def _deadline() -> datetime:
    return timezone.now() + timedelta(seconds=HOLD_SECONDS)
