"""Whatever the umask, nobody but its owner reads anything in the data folder."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from scoring.core.private_files import make_private, open_private
from tests.support.fixtures.sites import Site, fresh_site
from tests.support.waiting import DEADLINE_SECONDS, wait_until

__all__ = ["fresh_site"]


@pytest.fixture(params=[0o000, 0o022, 0o277], ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield int(request.param)
    os.umask(before)


def open_to_others(folder: Path) -> list[str]:
    paths = [path for path in (folder, *folder.rglob("*")) if path.name != "log"]
    return [path.name for path in paths if path.exists() and path.stat().st_mode & 0o077]


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.sqlite
@pytest.mark.long("a whole site starts and works")
@pytest.mark.parametrize("mask", [0o000, pytest.param(0o022, marks=pytest.mark.slow)])
def test_a_site_at_work_keeps_everything_to_itself(fresh_site: Site, mask: int) -> None:
    """Its folder was there before, with a database that everybody might read."""
    folder = fresh_site.folder
    folder.chmod(0o777)
    for name in ("evalsite.sqlite3", "worker.lock"):
        (folder / name).touch()
        (folder / name).chmod(0o666)
    before = os.umask(mask)
    try:
        process = fresh_site.start("start", "--port", "0")
    finally:
        os.umask(before)
    wait_until(lambda: "Ctrl-C stops it" in fresh_site.log)
    wait_until((folder / "evalsite.sqlite3-shm").exists)
    names = {path.name for path in folder.iterdir()}
    assert {"evalsite.sqlite3-wal", "worker.lock", "site.lock", "spool", "secret_key"} <= names
    assert open_to_others(folder) == []
    process.terminate()
    process.wait(DEADLINE_SECONDS)
    assert open_to_others(folder) == []


def test_a_file_is_private_from_its_first_moment(tmp_path: Path, umask: int) -> None:
    with open_private(tmp_path / "new", "wb") as file:
        assert os.fstat(file.fileno()).st_mode & 0o077 == 0
    with pytest.raises(FileExistsError):
        open_private(tmp_path / "new", "wb", exclusive=True)


def test_rights_of_others_are_taken_away(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    for name, expected in (("file", 0o600), ("folder", 0o700)):
        (tmp_path / name).chmod(0o777)
        make_private(tmp_path / name)
        assert mode_of(tmp_path / name) == expected
    make_private(tmp_path / "nothing")


def test_a_folder_for_everybody_stays_one(tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)
    make_private(tmp_path)
    assert mode_of(tmp_path) == 0o1777
