"""The database a command finds: set up, current, or a sentence on what to do."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from django.conf import settings
from django.core.management.base import OutputWrapper
from django.db import Error, connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.recorder import MigrationRecorder

from scoring.engine.backups import move
from scoring.engine.upgrades import INITIAL, find_upgrade_problem, known_migrations
from scoring.management.console import usage_error

ROOT: Final = Path(__file__).resolve().parents[2]
ACCOUNT: Final = "0001_user"
MIGRATION_LOCK: Final = 0x6576616C  # any number that other programs will not take


def check_database() -> None:
    """Raises CommandError where there is no database yet, or one that is older than the code."""
    if not _is_set_up():
        missing = (
            f"there is no database in {settings.DATA_DIR} yet"
            if connection.vendor == "sqlite"
            else f"{database_name()} is empty"
        )
        raise usage_error(f"{missing}; `manage.py migrate` sets it up")
    if problem := find_problem(connection):
        raise usage_error(problem)
    if connection.vendor == "postgresql" and move.is_unfinished():
        raise usage_error("a move into it has not ended: `manage.py move` goes on with it")
    if known_migrations() - applied_migrations(connection):
        text = "the database is older than this code; `manage.py migrate` brings it up to date"
        raise usage_error(text)


def database_name() -> str:
    """What messages call the database: by its folder on SQLite, else by its name and host."""
    if connection.vendor == "sqlite":
        return f"the database in {settings.DATA_DIR}"
    known = connection.settings_dict
    return f"the database {known['NAME']} on {known['HOST'] or 'this machine'}"


@contextmanager
def migration_lock(database: BaseDatabaseWrapper) -> Iterator[None]:
    """Keep other machines from migrating the same database meanwhile; SQLite has one machine.

    Who holds it may take it again.
    """
    if database.vendor != "postgresql":
        yield
        return
    with database.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [MIGRATION_LOCK])
    try:
        yield
    finally:
        with suppress(Error), database.cursor() as cursor:  # a lost connection holds no lock
            cursor.execute("SELECT pg_advisory_unlock(%s)", [MIGRATION_LOCK])


def set_up_database(stderr: OutputWrapper) -> None:
    """Set the database up where there is none, on SQLite, and say so; else check it."""
    if connection.vendor == "sqlite" and not _is_set_up():
        with (settings.DATA_DIR / "setup.lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not _is_set_up():  # another command has done it meanwhile
                _set_up(stderr)
    check_database()


def _set_up(stderr: OutputWrapper) -> None:
    """In a process of its own: this one may have loaded some of the apps only."""
    start = time.monotonic()
    connection.close()
    command = [sys.executable, str(ROOT / "manage.py"), "migrate", "--verbosity", "0"]
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "evalsite.settings"}
    done = subprocess.run(command, env=environment, stderr=subprocess.PIPE, text=True, check=False)  # noqa: S603  our own command
    if done.returncode:
        reason = done.stderr.strip().rpartition("\n")[2]
        raise usage_error(f"the database could not be set up: {reason}")
    seconds = time.monotonic() - start
    stderr.write(f"set up a new database in {settings.DATA_DIR} ({seconds:.1f} s)")


def _is_set_up() -> bool:
    """Whether Django has ever set tables up there. A file that is not there is not made."""
    if connection.vendor == "sqlite" and not Path(str(connection.settings_dict["NAME"])).exists():
        return False
    return MigrationRecorder(connection).has_table()


def find_problem(database: BaseDatabaseWrapper) -> str:
    """Why this version cannot upgrade the database, in a sentence; "" where it can or is empty."""
    applied = applied_migrations(database)
    problem = find_upgrade_problem(applied) if applied else ""
    place = settings.DATA_DIR if database.vendor == "sqlite" else database_name()
    return f"{place}: {problem}" if problem else ""


def note_account_table(database: BaseDatabaseWrapper) -> None:
    """Record `0001_user` where the account's table is there already.

    `0001_schema` made it until it got a migration of its own, which has to come first.
    """
    applied = applied_migrations(database)
    if INITIAL in applied and ACCOUNT not in applied:
        MigrationRecorder(database).record_applied("scoring", ACCOUNT)


def applied_migrations(database: BaseDatabaseWrapper) -> set[str]:
    """The migrations of this app that the database has."""
    applied = MigrationRecorder(database).applied_migrations()  # none without a table
    return {name for app, name in applied if app == "scoring"}
