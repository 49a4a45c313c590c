"""Checks that the database file is sound, when the last shutdown was not clean.

Every long-lived process of a site holds a shared lock on its data folder. The first one reads the
marker that the last one left at its end, and checks the database where there is none.
"""

from __future__ import annotations

import fcntl
import logging
import os
import signal
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Final

from django.conf import settings
from django.db import connections

from scoring.core.private_files import open_private

log = logging.getLogger(__name__)

DATABASE: Final = "evalsite.sqlite3"
LOCK: Final = "site.lock"
CLEAN: Final = "clean_shutdown"  # the size and time that the database had at the last shutdown
UNSOUND: Final = "database_unsound"  # what a check found
BACKGROUND_BYTES: Final = 1024**3
DAMAGED: Final = ("SQLITE_CORRUPT", "SQLITE_NOTADB")  # what SQLite calls a file that is no database
ADVICE: Final = (
    "Restore a backup into a new data folder with `manage.py restore`; docs/backup.md says how"
)


class UnsoundError(Exception):
    """The database is damaged; the text says how, and what to do."""


class SiteRunsError(Exception):
    """A process of a site holds the data folder."""


@contextmanager
def open_site() -> Iterator[None]:
    """Hold the data folder as a part of a running site, and mark the shutdown as clean at the end.

    Checks the database first where the last shutdown was not clean, a large one in the background:
    if that fails, this process gets SIGTERM. Raises UnsoundError, at the beginning or at the end.
    """
    folder: Path = settings.DATA_DIR
    with open_private(folder / LOCK, "a+b") as lock:
        if _try_to_lock(lock):
            _check_last_shutdown(folder)
        fcntl.flock(lock, fcntl.LOCK_SH)  # waits while another process checks
        _refuse_unsound(folder)
        pid = os.getpid()
        try:
            yield
        finally:
            if os.getpid() == pid and _try_to_lock(lock):
                connections.close_all()  # the last one to close moves what is in the -wal file
                # A database that is still being checked is checked again at the next start.
                if (folder / DATABASE).exists() and not _is_checking.is_set():
                    mark_clean(folder)
        _refuse_unsound(folder)


@contextmanager
def lock_exclusively(folder: Path) -> Iterator[None]:
    """Keep every site away from the folder. Raises SiteRunsError."""
    with open_private(folder / LOCK, "a+b") as lock:
        if not _try_to_lock(lock):
            raise SiteRunsError
        yield


def find_damage(path: Path) -> str:
    """What `PRAGMA quick_check` finds first; "" where the database is sound.

    Raises sqlite3.OperationalError where it could not be read, as on a full disk.
    """
    try:
        with closing(sqlite3.connect(path, timeout=20)) as database:
            (damage,) = database.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.DatabaseError as fault:
        if not fault.sqlite_errorname.startswith(DAMAGED):
            raise
        damage = str(fault)
    return "" if damage == "ok" else " ".join(str(damage).removeprefix("*** in database").split())


def mark_clean(folder: Path) -> None:
    """Record that the database file as it is now was shut down cleanly."""
    with open_private(folder / CLEAN, "wb") as marker:
        marker.write(_state_of(folder / DATABASE))


def _check_last_shutdown(folder: Path) -> None:
    """Check the database unless the marker says it is clean; the marker is removed."""
    database = folder / DATABASE
    if not _is_clean(folder):
        if database.stat().st_size > BACKGROUND_BYTES and not (folder / UNSOUND).exists():
            _is_checking.set()  # before the thread begins, as the site may end before that
            threading.Thread(target=_check_in_background, args=[folder], daemon=True).start()
        else:
            _check(folder)
    (folder / CLEAN).unlink(missing_ok=True)


_is_checking = threading.Event()


def _check_in_background(folder: Path) -> None:
    log.info("the last shutdown was not clean: the database is being checked")
    _check(folder)
    if (folder / UNSOUND).exists():
        log.error("%s", (folder / UNSOUND).read_text())
        os.kill(os.getpid(), signal.SIGTERM)
        return
    log.info("the database is sound")
    _is_checking.clear()


def _check(folder: Path) -> None:
    """Record the damage of the database, or that there is none any more."""
    if damage := find_damage(folder / DATABASE):
        text = f"the database cannot be used, for it is damaged ({damage}). {ADVICE}"
        with open_private(folder / UNSOUND, "wb") as file:
            file.write(text.encode())
    else:
        (folder / UNSOUND).unlink(missing_ok=True)


def _refuse_unsound(folder: Path) -> None:
    if (folder / UNSOUND).exists():
        raise UnsoundError((folder / UNSOUND).read_text())


def _is_clean(folder: Path) -> bool:
    database, marker = folder / DATABASE, folder / CLEAN
    if not database.exists() or not database.stat().st_size:
        return True
    return marker.exists() and marker.read_bytes() == _state_of(database)


def _state_of(database: Path) -> bytes:
    stat = database.stat()
    return f"{stat.st_size} {stat.st_mtime_ns}\n".encode()


def _try_to_lock(lock: IO[bytes]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
