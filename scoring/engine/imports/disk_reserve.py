"""Room on the disk that an import keeps aside, to take its rows away again if the disk gets full.

SQLite writes what it deletes into its log first, so on a full disk nothing could be deleted.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryFile
from typing import Final

from django.conf import settings
from django.db import connection

#: The log is copied into the database at 4 MiB; until then both hold what was stored last.
RESERVE_BYTES: Final = 16 * 2**20


@contextmanager
def reserve_disk() -> Iterator[None]:
    """Free again where the block ends. Raises OSError where there is no such room.

    The file has no name, so that nothing is left of it however the process ends.
    """
    if connection.vendor != "sqlite" or not hasattr(os, "posix_fallocate"):
        yield
        return
    with TemporaryFile(dir=settings.SPOOL_DIR) as file:
        os.posix_fallocate(file.fileno(), 0, RESERVE_BYTES)
        yield
