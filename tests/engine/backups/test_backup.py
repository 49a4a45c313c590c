"""A backup is one private file, whole or absent, and is restored whole or not at all."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest

from scoring.engine.backups import BackupError, make_backup
from scoring.engine.backups import backup as making
from scoring.engine.backups.backup import applied_migrations
from scoring.engine.backups.integrity import DATABASE
from scoring.models import Team
from tests.support.fixtures.backups import ENCRYPTION, SECRET, restored

pytestmark = pytest.mark.sqlite


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def mode_of(path: Path) -> str:
    return oct(stat.S_IMODE(path.stat().st_mode))


def test_what_was_backed_up_comes_back(
    open_umask: None, team: Team, folder: Path, backup: Path, unused: Path
) -> None:
    manifest = restored(backup, unused)
    assert mode_of(backup) == "0o600"
    assert mode_of(unused) == "0o700"
    for name in ("secret_key", "encryption_key", DATABASE):
        assert mode_of(unused / name) == "0o600", name
    assert (unused / "secret_key").read_text() == SECRET
    assert (unused / "encryption_key").read_text() == ENCRYPTION
    with closing(sqlite3.connect(unused / DATABASE)) as database:
        assert database.execute("SELECT slug FROM scoring_team").fetchall() == [("support",)]
    assert manifest.migrations == applied_migrations(folder / DATABASE) != []
    assert not [path.name for path in unused.iterdir() if path.name.startswith(".restore")]
    assert not [path.name for path in backup.parent.iterdir() if path.name.startswith(".")]


def test_a_file_that_is_there_is_only_replaced_on_request(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "b.tar"
    target.write_text("precious")
    with pytest.raises(BackupError, match="is there already"):
        make_backup(folder, target, keys_elsewhere=[])
    assert target.read_text() == "precious"
    make_backup(folder, target, keys_elsewhere=[], overwrites=True)
    assert target.stat().st_size > 100_000


def test_a_file_that_comes_meanwhile_is_not_replaced(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "b.tar"
    write = making.write_archive

    def write_late(*given: Any, **named: Any) -> None:
        write(*given, **named)
        target.write_text("precious")

    monkeypatch.setattr(making, "write_archive", write_late)
    with pytest.raises(BackupError, match="is there already"):
        make_backup(folder, target, keys_elsewhere=[])
    assert target.read_text() == "precious"
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_backup_that_fails_leaves_nothing(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(making, "write_archive", fail)
    before = set(tmp_path.iterdir())
    with pytest.raises(OSError, match="No space"):
        make_backup(folder, tmp_path / "b.tar", keys_elsewhere=[])
    assert set(tmp_path.iterdir()) == before


def test_a_damaged_site_is_not_backed_up(folder: Path, tmp_path: Path) -> None:
    damage(folder / DATABASE)
    with pytest.raises(BackupError, match=r"(damaged|cannot be read).*docs/backup\.md"):
        make_backup(folder, tmp_path / "b.tar", keys_elsewhere=[])
    assert not (tmp_path / "b.tar").exists()


def damage(path: Path) -> None:
    """Pages of nothing but noise, as after a disk's fault."""
    content = bytearray(path.read_bytes())
    for page in range(3, len(content) // 4096, 4):
        content[page * 4096 : page * 4096 + 4096] = Random(page).randbytes(4096)
    path.write_bytes(content)


def test_keys_of_the_environment_stay_out_of_the_file(
    folder: Path, tmp_path: Path, unused: Path
) -> None:
    target = tmp_path / "b.tar"
    make_backup(folder, target, keys_elsewhere=["encryption_key"])
    assert ENCRYPTION.encode() not in target.read_bytes()
    assert restored(target, unused).keys_elsewhere == ["encryption_key"]
    assert not (unused / "encryption_key").exists()
