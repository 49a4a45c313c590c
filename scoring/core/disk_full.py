"""Errors of a full disk, from the system or from a database."""

from __future__ import annotations

import errno
from contextlib import suppress
from typing import IO, Final

CODE: Final = "disk_full"
TEXT: Final = (
    "There is no room left on the site's disk, so nothing was stored. Send it again once whoever "
    "runs the site has made some."
)
_NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT)
#: The second where there is no room for the file through which processes share its log.
_SQLITE: Final = ("SQLITE_FULL", "SQLITE_IOERR_SHMSIZE")
_POSTGRESQL: Final = "53100"  # disk_full, in appendix A of its manual


def is_disk_full(fault: BaseException) -> bool:
    """Whether it is the system's error, or Django's for that of a database."""
    cause = fault.__cause__ or fault
    return (
        (isinstance(fault, OSError) and fault.errno in _NO_ROOM)
        or getattr(cause, "sqlite_errorname", "") in _SQLITE
        or getattr(cause, "sqlstate", "") == _POSTGRESQL
    )


def close_quietly(file: IO[bytes]) -> None:
    """Close a temporary file, whose buffered bytes are not needed if there is no room for them."""
    with suppress(OSError):
        file.close()
