"""A disk without room, told as what it is, whoever found none."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Final

from scoring.core.files.rows import FileProblem

CODE: Final = "disk_full"
TEXT: Final = (
    "There is no room left on the site's disk, so nothing was stored. Send it again once whoever "
    "runs the site has made some."
)
_NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT)
_SQLITE: Final = "SQLITE_FULL"
_POSTGRESQL: Final = "53100"  # disk_full, in appendix A of its manual


def is_full_disk(fault: BaseException) -> bool:
    """Whether the system, or a database under the error that Django makes of its own, says so."""
    told = fault.__cause__ or fault
    return (
        (isinstance(fault, OSError) and fault.errno in _NO_ROOM)
        or getattr(told, "sqlite_errorname", "") == _SQLITE
        or getattr(told, "sqlstate", "") == _POSTGRESQL
    )


@contextmanager
def full_disk_told() -> Iterator[None]:
    """Raises FileProblem `disk_full` where there was no room."""
    try:
        yield
    except Exception as fault:
        if is_full_disk(fault):
            raise FileProblem(CODE, TEXT) from None
        raise


def close_quietly(file: IO[bytes]) -> None:
    """Close a temporary file: what it still held is of no use, if there is no room for it."""
    with suppress(OSError):
        file.close()
