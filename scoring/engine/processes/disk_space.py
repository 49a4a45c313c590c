"""Room on the disk of the data folder, some of which is kept aside for when all else is used.

SQLite needs room to open a database, to sign somebody out and to record that the worker is alive.
A file of RESERVE_BYTES keeps it. Once the disk is full the file is removed, and until there is room
for it again, the site is read: the worker pauses, and nothing but signing in and out is stored.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Final

from django.conf import settings

from scoring.core.private_files import open_private

RESERVE: Final = "disk_reserve"
RESERVE_BYTES: Final = 8 * 2**20  # twice what SQLite's log takes before it is used anew
FULL_BYTES: Final = 2**20  # with less room than this the disk is as good as full
DISK_FULL: Final = "no room on the site's disk: nothing is stored until there is some"


def watch_disk() -> bool:
    """Release the reserve when the disk is full, else keep it; whether the disk is full.

    Called every few seconds by the worker, and before a site opens its database.
    """
    free = _free_bytes()
    if _has_reserve():
        if free >= FULL_BYTES:
            return False
        release_reserve()
        return True
    if free < 2 * RESERVE_BYTES:
        return True
    _keep_reserve()
    return False


def release_reserve() -> None:
    """Make room for what has to be stored now."""
    _reserve().unlink(missing_ok=True)


def is_out_of_space() -> bool:
    """Whether the reserve had to be released, or is about to be."""
    free = _free_bytes()
    if free >= 2 * RESERVE_BYTES:
        return False
    return free < FULL_BYTES or not _has_reserve()


def _keep_reserve() -> None:
    """Fill the reserve; where that fails, for want of room or otherwise, there is none."""
    with suppress(OSError), open_private(_reserve(), "wb") as file:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, RESERVE_BYTES)
        else:
            file.write(bytes(RESERVE_BYTES))
    if not _has_reserve():
        release_reserve()


def _has_reserve() -> bool:
    """Whether it is there and whole: a process may have been killed while it was filled."""
    try:
        return _reserve().stat().st_size == RESERVE_BYTES
    except FileNotFoundError:
        return False


def _reserve() -> Path:
    folder: Path = settings.DATA_DIR
    return folder / RESERVE


def _free_bytes() -> int:
    return shutil.disk_usage(settings.DATA_DIR).free
