"""Who works on what: a lease of a run, a job or the like, which expires unless it is renewed.

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

from scoring.models import Job, Run, Shard, Upload

LEASE_SECONDS: Final = 30
RENEW_SECONDS: Final = 10

Leased = Job | Run | Shard | Upload


def own_name() -> str:
    """What `lease_owner` and the worker's row call this process."""
    return f"{socket.gethostname()[:60]}:{os.getpid()}"


def is_leased(row: Leased) -> bool:
    """Whether a living process has the lease, as the row was read.

    One that ends later than any lease taken now is left from before a clock was set back.
    """
    until, now = row.lease_expires_at, timezone.now()
    is_current = until is not None and now <= until <= now + timedelta(seconds=2 * LEASE_SECONDS)
    return bool(row.lease_owner) and is_current and not is_dead(row.lease_owner)


def acquire(row: Leased, **changes: Any) -> bool:
    """Take the lease if the row is free and nobody has taken it since it was read. The changes are
    stored with it.

    One that bears our own name is free, too: a restarted container may get its old pid again.
    """
    if is_leased(row) and row.lease_owner != own_name():
        return False
    unchanged = type(row)._default_manager.filter(
        pk=row.pk, lease_owner=row.lease_owner, lease_expires_at=row.lease_expires_at
    )
    return _extend(row, unchanged, **changes)


def renew(row: Leased) -> bool:
    """Extend the lease; False when it is no longer ours, or the row is gone."""
    ours = type(row)._default_manager.filter(pk=row.pk, lease_owner=own_name())
    return _extend(row, ours)


def release(row: Leased) -> None:
    """Release the lease, unless another process has taken it over."""
    ours = type(row)._default_manager.filter(pk=row.pk, lease_owner=own_name())
    ours.update(lease_owner="", lease_expires_at=None)


def is_dead(name: str) -> bool:
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


def _extend(row: Leased, wanted: QuerySet[Any], **changes: Any) -> bool:
    by, until = own_name(), timezone.now() + timedelta(seconds=LEASE_SECONDS)
    if not wanted.update(lease_owner=by, lease_expires_at=until, **changes):
        return False
    row.lease_owner, row.lease_expires_at = by, until
    return True
