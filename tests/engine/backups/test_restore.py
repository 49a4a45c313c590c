"""A backup is restored whole or not at all, into a folder that nobody used."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from scoring.engine.backups import BackupError, make_backup
from scoring.engine.backups.integrity import DATABASE, lock_exclusively, open_site
from tests.support.fixtures.backups import OTHER, refuse, restored

pytestmark = pytest.mark.sqlite


@pytest.mark.parametrize("name", [DATABASE, "spool/some.rows"])
def test_a_used_folder_is_refused(backup: Path, unused: Path, name: str) -> None:
    (unused / name).write_text("precious")
    with pytest.raises(BackupError, match="is used already"):
        restored(backup, unused)
    assert (unused / name).read_text() == "precious"
    assert (unused / "secret_key").read_text() == OTHER


def test_a_running_site_is_refused(backup: Path, unused: Path, settings: Settings) -> None:
    settings.DATA_DIR = unused
    with open_site():
        refuse(backup, unused, "a site or worker runs on")
    with lock_exclusively(unused):
        refuse(backup, unused, "a site or worker runs on")


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ("INSERT INTO django_migrations (app, name, applied) VALUES ('scoring', '9999_x', '')",
         r"newer Evalsite \(9999_x\)"),
        ("UPDATE django_migrations SET name = '0001_initial_schema' WHERE app = 'scoring'",
         "too old to be upgraded"),
        ("DELETE FROM django_migrations WHERE app = 'scoring'", "is not one of Evalsite"),
    ],
)  # fmt: skip
def test_a_database_that_cannot_be_upgraded_is_refused(
    folder: Path, tmp_path: Path, unused: Path, change: str, error: str
) -> None:
    with closing(sqlite3.connect(folder / DATABASE)) as database, database:
        database.execute(change)
    make_backup(folder, tmp_path / "b.tar", keys_elsewhere=[])
    refuse(tmp_path / "b.tar", unused, error)
