"""Errors of locked databases, also below the errors that they cause."""

from __future__ import annotations

import pytest

from scoring.core.database_lock import is_locked


class DatabaseError(Exception):
    """An error with the attributes of a driver's own."""

    def __init__(self, **attributes: str) -> None:
        self.__dict__ |= attributes


def caused_by(cause: Exception) -> Exception:
    fault = ValueError()
    fault.__cause__ = cause
    return fault


@pytest.mark.parametrize(
    ("fault", "locked"),
    [
        (DatabaseError(sqlite_errorname="SQLITE_BUSY_SNAPSHOT"), True),
        (DatabaseError(sqlite_errorname="SQLITE_FULL"), False),
        (DatabaseError(sqlstate="40P01"), True),
        (DatabaseError(sqlstate="53100"), False),
        (caused_by(caused_by(DatabaseError(sqlstate="55P03"))), True),
        (caused_by(OSError()), False),
        (None, False),
    ],
)
def test_a_lock_is_known_by_what_databases_say(fault: Exception | None, locked: bool) -> None:
    assert is_locked(fault) is locked
