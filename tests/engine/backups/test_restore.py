"""A backup is restored whole or not at all, into a folder that nobody used."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from scoring.engine.backups import BackupError
from scoring.engine.backups.integrity import DATABASE, lock_exclusively, open_site
from tests.support.fixtures.backups import OTHER, refuse, restored


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
