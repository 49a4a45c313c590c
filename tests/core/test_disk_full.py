"""A full disk is known by its error, whoever tells of it."""

from __future__ import annotations

import errno

import pytest

from scoring.core.disk_full import is_disk_full


class ToldError(Exception):
    """What a database's own error says of itself."""

    def __init__(self, **said: str) -> None:
        self.__dict__ |= said


def caused(cause: BaseException) -> BaseException:
    fault = ValueError("as Django passes it on")
    fault.__cause__ = cause
    return fault


@pytest.mark.parametrize(
    ("fault", "is_full"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), True),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), True),
        (OSError(errno.EIO, "Input/output error"), False),
        (FileNotFoundError(errno.ENOENT, "No such file"), False),
        (caused(ToldError(sqlite_errorname="SQLITE_FULL")), True),
        (caused(ToldError(sqlite_errorname="SQLITE_BUSY")), False),
        (caused(ToldError(sqlstate="53100")), True),
        (caused(ToldError(sqlstate="53200")), False),
        (ValueError("full"), False),
    ],
)
def test_a_full_disk_is_known_by_what_system_and_databases_say(
    fault: BaseException, is_full: bool
) -> None:
    assert is_disk_full(fault) is is_full
