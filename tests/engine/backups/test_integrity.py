"""The check of the database at the start of a site, where the last shutdown was not clean."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from scoring.engine.backups import integrity
from scoring.engine.backups.integrity import CLEAN, DATABASE, UnsoundError, find_damage, open_site
from scoring.models import OutputSet
from tests.support.waiting import wait_until

pytestmark = pytest.mark.sqlite


@pytest.fixture
def folder_in_use(folder: Path, settings: Settings) -> Path:
    settings.DATA_DIR = folder
    return folder


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The databases that were checked."""
    seen: list[Path] = []
    check = find_damage

    def note(path: Path) -> str:
        seen.append(path)
        return check(path)

    monkeypatch.setattr(integrity, "find_damage", note)
    return seen


def test_after_a_clean_shutdown_nothing_is_checked(
    folder_in_use: Path, looked_at: list[Path]
) -> None:
    with open_site():  # of a folder that no shutdown has marked
        assert len(looked_at) == 1
        assert not (folder_in_use / CLEAN).exists()
    with open_site():
        assert len(looked_at) == 1


def test_after_a_kill_and_after_a_change_it_is_checked(
    folder_in_use: Path, looked_at: list[Path]
) -> None:
    with open_site():
        pass
    (folder_in_use / CLEAN).unlink()  # as a process that is killed leaves it
    with open_site():
        pass
    assert len(looked_at) == 2
    with closing(sqlite3.connect(folder_in_use / DATABASE)) as database, database:
        database.execute("CREATE TABLE another (id)")
    with open_site():
        assert len(looked_at) == 3


def test_only_the_last_to_go_ends_the_site(folder_in_use: Path, looked_at: list[Path]) -> None:
    with open_site():
        with open_site():
            assert len(looked_at) == 1
        assert not (folder_in_use / CLEAN).exists()
    assert (folder_in_use / CLEAN).exists()


def test_a_new_folder_needs_no_check(
    tmp_path: Path, settings: Settings, looked_at: list[Path]
) -> None:
    settings.DATA_DIR = tmp_path
    with open_site():
        assert looked_at == []
    assert not (tmp_path / CLEAN).exists()


def test_a_large_database_is_checked_beside_and_ends_the_site(
    folder_in_use: Path, torn: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(integrity, "BACKGROUND_BYTES", 1)
    killed: list[int] = []
    monkeypatch.setattr(integrity.os, "kill", lambda pid, _: killed.append(pid))
    torn.replace(folder_in_use / DATABASE)
    with pytest.raises(UnsoundError, match="is damaged"), open_site():
        wait_until(lambda: killed)
    wait_until(lambda: killed)  # where the check was quicker than the start, which then refuses
    assert killed == [os.getpid()]
    with pytest.raises(UnsoundError, match="is damaged"), open_site():
        pytest.fail("it was opened")


def test_a_mended_database_is_taken_again(folder_in_use: Path, torn: Path) -> None:
    sound = (folder_in_use / DATABASE).read_bytes()
    (folder_in_use / DATABASE).write_bytes(torn.read_bytes())
    with pytest.raises(UnsoundError), open_site():
        pytest.fail("it was opened")
    (folder_in_use / DATABASE).write_bytes(sound)
    with open_site():
        assert OutputSet.objects.count() == 0


def test_a_database_that_cannot_be_read_is_not_called_damaged(tmp_path: Path) -> None:
    """On a full disk, say, there is no room for what SQLite needs to read it."""
    with pytest.raises(sqlite3.OperationalError, match="unable to open"):
        find_damage(tmp_path / "none" / DATABASE)


def test_neither_a_note_of_damage_nor_a_clean_mark_is_made_of_that(
    folder_in_use: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: Path) -> str:
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(integrity, "find_damage", fail)
    with pytest.raises(sqlite3.OperationalError), open_site():
        pass
    assert not (folder_in_use / integrity.UNSOUND).exists()
    assert not (folder_in_use / CLEAN).exists()
