"""Errors of a statement that no database would do, however often it is tried."""

from __future__ import annotations

from typing import Final

_SQLITE: Final = "SQLITE_ERROR"
_PROGRAM_LIMITS: Final = "54"  # a class of PostgreSQL's errors, from appendix A of its manual


def is_refused(fault: BaseException) -> bool:
    """Whether a database error is the statement's fault: a sum that overflows, too many columns.

    Both drivers call that an OperationalError, as they call a database that is out of reach.
    """
    cause = fault.__cause__
    state = getattr(cause, "sqlstate", None) or ""
    return getattr(cause, "sqlite_errorname", "") == _SQLITE or state.startswith(_PROGRAM_LIMITS)
