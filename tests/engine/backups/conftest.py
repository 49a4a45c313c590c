"""A site's data folder with a real database, and backups of it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from scoring.engine.backups import BackupError, make_backup, restore_backup
from scoring.engine.backups.integrity import DATABASE

SECRET, ENCRYPTION, OTHER = "secret" * 10, "encryption" * 6, "another key" * 6


def copy_whole(target: Path) -> None:
    """The test's database as it is, in another file."""
    with closing(sqlite3.connect(target)) as made:
        connection.ensure_connection()
        with closing(sqlite3.connect(connection.settings_dict["NAME"])) as live:
            live.backup(made)


@pytest.fixture
def folder(transactional_db: None, tmp_path: Path) -> Path:
    """The data folder of a stopped site."""
    made = tmp_path / "site"
    (made / "spool").mkdir(parents=True, mode=0o700)
    copy_whole(made / DATABASE)
    (made / "secret_key").write_text(SECRET)
    (made / "encryption_key").write_text(ENCRYPTION)
    return made


@pytest.fixture
def unused(tmp_path: Path) -> Path:
    """A data folder as any command leaves it that needs no database."""
    made = tmp_path / "unused"
    (made / "spool").mkdir(parents=True)
    (made / "secret_key").write_text(OTHER)
    return made


@pytest.fixture(params=["backup.tar", "backup.tar.gz"])
def backup(request: pytest.FixtureRequest, folder: Path, tmp_path: Path) -> Path:
    target = tmp_path / str(request.param)
    make_backup(folder, target, keys_elsewhere=[])
    return target


@pytest.fixture
def torn(transactional_db: None, tmp_path: Path) -> Path:
    """What `cp` makes of a database that is written to and checkpointed while it copies."""
    copy_whole(live := tmp_path / "live.sqlite3")
    with closing(sqlite3.connect(live)) as database:
        database.execute("PRAGMA journal_mode=WAL")
        database.executescript(
            "CREATE TABLE pile (id INTEGER PRIMARY KEY, text TEXT); CREATE INDEX p ON pile (text);"
        )
        many = [(f"{n * 7919 % 10_000}" * 30,) for n in range(10_000)]
        with database:
            database.executemany("INSERT INTO pile (text) VALUES (?)", many)
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        half = live.stat().st_size // 2
        first = live.read_bytes()[:half]
        with database:
            database.execute("DELETE FROM pile WHERE id % 3")
            database.executemany("INSERT INTO pile (text) VALUES (?)", many)
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (tmp_path / "torn.sqlite3").write_bytes(first + live.read_bytes()[half:])
    return tmp_path / "torn.sqlite3"


def restored(backup: Path, unused: Path) -> Any:
    return restore_backup(backup, unused, spool=unused / "spool")


def refuse(backup: Path, unused: Path, pattern: str) -> None:
    """Nothing of a refused backup is left, and what was there stays."""
    with pytest.raises(BackupError, match=pattern):
        restored(backup, unused)
    assert {path.name for path in unused.iterdir()} == {"spool", "secret_key", "site.lock"}
    assert (unused / "secret_key").read_text() == OTHER
