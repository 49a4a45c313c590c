"""Who works on what: a lease of a run, an upload or a job, which expires unless it is renewed.

A process that dies cannot release its leases; they expire after LEASE_SECONDS, or at once for a
process on the same machine that sees it gone.
"""

from __future__ import annotations

import os
import socket
from datetime import timedelta
from typing import Any, Final

from django.db.models import QuerySet
from django.utils import timezone

from scoring.models import Job, Run, Upload

LEASE_SECONDS: Final = 30
RENEW_SECONDS: Final = 10

Leased = Job | Run | Upload


def own_name() -> str:
    """What `held_by` and the worker's row call this process."""
    return f"{socket.gethostname()[:60]}:{os.getpid()}"


def is_held(row: Leased) -> bool:
    """Whether a living process has the lease, as the row was read."""
    is_current = row.held_until is not None and row.held_until >= timezone.now()
    return bool(row.held_by) and is_current and not is_gone(row.held_by)


def take(row: Leased) -> bool:
    """Take the lease if the row is free and nobody has taken it since it was read.

    One that bears our own name is free, too: a restarted container may get its old pid again.
    """
    if is_held(row) and row.held_by != own_name():
        return False
    unchanged = type(row)._default_manager.filter(
        pk=row.pk, held_by=row.held_by, held_until=row.held_until
    )
    return _extend(row, unchanged)


def renew(row: Leased) -> bool:
    """Extend the lease; False when it is no longer ours, or the row is gone."""
    ours = type(row)._default_manager.filter(pk=row.pk, held_by=own_name())
    return _extend(row, ours)


def release(row: Leased) -> None:
    """Release the lease, unless another process has taken it over."""
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
        pass
    return False


def _extend(row: Leased, wanted: QuerySet[Any]) -> bool:
    by, until = own_name(), timezone.now() + timedelta(seconds=LEASE_SECONDS)
    if not wanted.update(held_by=by, held_until=until):
        return False
    row.held_by, row.held_until = by, until
    return True
