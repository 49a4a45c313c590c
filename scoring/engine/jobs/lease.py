"""Who works on what: a lease of a run, a job or the like, which expires unless it is renewed.

Leases begin and end by the database's clock, as those of machines differ. A process that dies
cannot release its leases; they expire after LEASE_SECONDS, or at once for a process on the same
machine that sees it gone.
"""

from __future__ import annotations

import hashlib
import os
import socket
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any, Final

from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from scoring.models import Job, Run, Shard, Upload

LEASE_SECONDS: Final = 30
RENEW_SECONDS: Final = 10
DURATION: Final = timedelta(seconds=LEASE_SECONDS)

Leased = Job | Run | Shard | Upload


def own_name() -> str:
    """What `lease_owner` and the worker's row call this process."""
    return f"{machine_name()}:{os.getpid()}"


@cache
def machine_name() -> str:
    """The host's name, and twelve hexadecimal digits of what its processes' numbers hold for.

    Two machines may have one name, and two containers of one machine count processes apart.
    """
    digest = hashlib.sha256(_number_space().encode()).hexdigest()
    return f"{socket.gethostname()[:48]}/{digest[:12]}"


def _number_space() -> str:
    """Where process numbers are unique: since the start of the machine, in a container."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:  # not Linux
        return ""


def is_current() -> Q:
    """Whether the lease of a row has not run out.

    One that ends later than any lease taken now is left from before a clock was set back.
    """
    lasts = Q(lease_expires_at__gte=Now(), lease_expires_at__lte=Now() + 2 * DURATION)
    return ~Q(lease_owner="") & lasts


def is_leased(row: Leased) -> bool:
    """Whether a living process has the lease, as the row was read and by this process's clock.

    This is what pages show; `acquire` and `is_current` ask the database's clock.
    """
    until, now = row.lease_expires_at, timezone.now()
    lasts = until is not None and now <= until <= now + 2 * DURATION
    return bool(row.lease_owner) and lasts and not is_dead(row.lease_owner)


def acquire(row: Leased, **changes: Any) -> bool:
    """Take the lease if the row is free and its state is as it was read: another process may have
    brought it to its end since. The changes are stored with the lease.

    One that bears our own name is free, too: a restarted container may get its old pid again.
    """
    is_free = ~is_current() | Q(lease_owner=own_name())
    if is_dead(row.lease_owner):
        is_free |= Q(lease_owner=row.lease_owner)
    state = {"done_at": row.done_at} if isinstance(row, Shard) else {"state": row.state}
    rows = type(row)._default_manager.filter(is_free, pk=row.pk, **state)
    return _extend(row, rows, **changes)


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
    machine, _, pid = name.rpartition(":")
    if machine != machine_name() or not pid.isdecimal():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass
    return False


def _extend(row: Leased, wanted: QuerySet[Any], **changes: Any) -> bool:
    by = own_name()
    if not wanted.update(lease_owner=by, lease_expires_at=Now() + DURATION, **changes):
        return False
    row.lease_owner, row.lease_expires_at = by, timezone.now() + DURATION
    return True
