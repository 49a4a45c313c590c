"""Errors of a server that is out of reach, also below the errors that they cause."""

from __future__ import annotations

import sqlite3

import psycopg
import pytest
from psycopg import errors

from scoring.core.lost_connection import is_lost


def caused_by(cause: Exception) -> Exception:
    fault = ValueError()
    fault.__cause__ = cause
    return fault


@pytest.mark.parametrize(
    ("fault", "lost"),
    [
        (psycopg.OperationalError("connection refused"), True),
        (errors.ConnectionTimeout("no answer"), True),
        (psycopg.InterfaceError("the cursor is closed"), True),
        (errors.AdminShutdown("terminating connection"), True),
        (errors.CannotConnectNow("starting up"), True),
        (errors.ConnectionFailure("08006"), True),
        (caused_by(caused_by(errors.IdleSessionTimeout("idle"))), True),
        (errors.DeadlockDetected("deadlock"), False),
        (errors.UndefinedTable("no such table"), False),
        (psycopg.DataError("NUL"), False),
        (sqlite3.OperationalError("database is locked"), False),
        (caused_by(OSError()), False),
        (None, False),
    ],
)
def test_a_lost_server_is_known_by_what_its_driver_says(
    fault: Exception | None, *, lost: bool
) -> None:
    assert is_lost(fault) is lost
