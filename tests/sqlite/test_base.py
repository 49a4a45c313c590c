"""The database file is its owner's alone, whatever the umask and whoever made it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from evalsite.sqlite.base import DatabaseWrapper


@pytest.fixture(params=[0o000, 0o077], ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


def connect(name: object) -> None:
    """As Django does for each connection."""
    wrapper = DatabaseWrapper({"NAME": name, "OPTIONS": {}}, "other")
    made = wrapper.get_new_connection(wrapper.get_connection_params())
    with closing(made) as database:
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("CREATE TABLE IF NOT EXISTS t (a)")


@pytest.mark.parametrize("is_there", [False, True])
def test_nobody_else_reads_it(tmp_path: Path, umask: None, is_there: bool) -> None:
    path = tmp_path / "db.sqlite3"
    if is_there:
        for name in ("", "-wal"):
            path.with_name(path.name + name).touch(0o666)
    connect(path)
    assert {each.stat().st_mode & 0o777 for each in tmp_path.iterdir()} == {0o600}


@pytest.mark.parametrize("name", [":memory:", "file:some?mode=memory"])
def test_what_is_no_file_makes_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    connect(name)
    assert list(tmp_path.iterdir()) == []
