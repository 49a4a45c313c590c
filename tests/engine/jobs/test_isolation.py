from __future__ import annotations

import errno
import sqlite3

import pytest
from django.db import InterfaceError, OperationalError

from scoring.engine.jobs.isolation import do_each, is_unwritable


def test_a_row_that_fails_harms_no_other(caplog: pytest.LogCaptureFixture) -> None:
    done: list[int] = []

    def step(row: int) -> bool:
        done.append(10 // row)
        return row > 1

    assert do_each([1, 0, 2, 5], step, "dividing") == 2
    assert done == [10, 5, 2]
    assert "dividing failed for 0" in caplog.text


def test_a_database_that_cannot_be_written_ends_the_loop() -> None:
    def step(_: int) -> None:
        raise OperationalError("database is locked")

    with pytest.raises(OperationalError):
        do_each([1, 2], step, "storing")


def caused(name: str) -> OperationalError:
    fault, cause = OperationalError("?"), sqlite3.OperationalError("?")
    cause.sqlite_errorname = name
    fault.__cause__ = cause
    return fault


@pytest.mark.parametrize(
    ("fault", "is_of_the_database"),
    [
        (OperationalError("server closed the connection"), True),
        (InterfaceError("connection already closed"), True),
        (caused("SQLITE_BUSY"), True),
        (caused("SQLITE_FULL"), True),
        (caused("SQLITE_IOERR_WRITE"), True),
        (caused("SQLITE_ERROR"), False),
        (OSError(errno.ENOSPC, "no room"), True),
        (OSError(errno.ENOENT, "no file"), False),
        (ValueError("no"), False),
    ],
)
def test_faults_of_the_database_are_known(fault: Exception, is_of_the_database: bool) -> None:
    assert is_unwritable(fault) is is_of_the_database
