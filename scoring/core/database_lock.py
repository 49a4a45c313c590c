"""Errors of a database that stays locked by another process."""

from __future__ import annotations

from typing import Final

CODE: Final = "busy"
TEXT: Final = "The database is busy, so nothing was stored. Try again in a few seconds."
RETRY_SECONDS: Final = 5
_SQLITE: Final = ("SQLITE_BUSY", "SQLITE_LOCKED")
#: Serialisation, deadlock, lock not available; and a statement over the time that a page has.
_POSTGRESQL: Final = ("40001", "40P01", "55P03", "57014")


def is_locked(fault: BaseException | None) -> bool:
    """Whether this error, or one that led to it, is that of a locked database."""
    while fault is not None:
        if getattr(fault, "sqlite_errorname", "").startswith(_SQLITE):
            return True
        if getattr(fault, "sqlstate", "") in _POSTGRESQL:
            return True
        fault = fault.__cause__ or fault.__context__
    return False
