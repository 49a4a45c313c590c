from __future__ import annotations

import sqlite3

import pytest
from django.db import OperationalError
from psycopg import errors

from scoring.core.refused_statement import is_refused


def of_sqlite(name: str) -> sqlite3.OperationalError:
    fault = sqlite3.OperationalError("?")
    fault.sqlite_errorname = name
    return fault


@pytest.mark.parametrize(
    ("cause", "refused"),
    [
        (of_sqlite("SQLITE_ERROR"), True),
        (of_sqlite("SQLITE_BUSY"), False),
        (errors.ProgramLimitExceeded("the row is too long for an index"), True),
        (errors.TooManyColumns("1664"), True),
        (errors.DiskFull("no room"), False),
        (errors.TooManyConnections("no more"), False),
        (None, False),
    ],
)
def test_the_fault_of_a_statement_is_known(cause: Exception | None, *, refused: bool) -> None:
    fault = OperationalError("?")
    fault.__cause__ = cause
    assert is_refused(fault) is refused
