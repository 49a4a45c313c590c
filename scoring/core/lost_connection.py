"""Errors of a database server that cannot be reached, or has ended the connection."""

from __future__ import annotations

from typing import Final

CODE: Final = "database_unreachable"
TEXT: Final = (
    "The database cannot be reached. Try again in a few seconds; if this was a change, see first"
    " whether it has been stored."
)
RETRY_SECONDS: Final = 5
#: From appendix A of PostgreSQL's manual: an idle session was ended, in a transaction or outside;
#: the server is shutting down, has crashed, or is not up yet; the session was idle too long; it has
#: no room for another connection.
_SQLSTATES: Final = ("25P03", "57P01", "57P02", "57P03", "57P05", "53300")
_CONNECTION_EXCEPTIONS: Final = "08"
_DRIVERS_OWN: Final = ("OperationalError", "InterfaceError", "ConnectionTimeout")


def is_lost(fault: BaseException | None) -> bool:
    """Whether this error, or one that led to it, is that of a server that is out of reach."""
    while fault is not None:
        if _is_servers_word(fault) or _is_drivers_word(fault):
            return True
        fault = fault.__cause__ or fault.__context__
    return False


def _is_servers_word(fault: BaseException) -> bool:
    state = getattr(fault, "sqlstate", None) or ""
    return state in _SQLSTATES or state.startswith(_CONNECTION_EXCEPTIONS)


def _is_drivers_word(fault: BaseException) -> bool:
    """What psycopg says by itself has no state: refused, reset, closed."""
    kind = type(fault)
    is_psycopg = kind.__module__.partition(".")[0] == "psycopg"
    return is_psycopg and kind.__name__ in _DRIVERS_OWN and getattr(fault, "sqlstate", None) is None
