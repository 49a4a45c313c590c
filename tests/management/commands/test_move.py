"""`manage.py move`: what it refuses, each with a sentence and exit code 2."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tests.engine.backups.test_move import folder, manage, target
from tests.support.fixtures.sites import Site
from tests.support.waiting import wait_until

__all__ = ["folder", "target"]


@pytest.mark.sqlite
def test_on_sqlite_the_target_is_asked_for(db: None) -> None:
    with pytest.raises(CommandError, match="set it to an empty one") as refused:
        call_command("move")
    assert refused.value.returncode == 2


def has_worker(folder: Path) -> bool:
    with closing(sqlite3.connect(folder / "evalsite.sqlite3")) as there:
        return there.execute("SELECT count(*) FROM scoring_worker").fetchone() == (1,)


@pytest.mark.postgresql
@pytest.mark.django_db
@pytest.mark.parametrize("state", ["running", "empty"])
def test_what_cannot_be_moved_is_told(
    folder: Path, target: dict[str, str], tmp_path: Path, state: str
) -> None:
    site = Site(folder if state == "running" else tmp_path)
    if state == "running":
        site.start("worker", DATABASE_URL="")
        wait_until(lambda: has_worker(folder))
    told = manage(site.folder, "move", **target)
    site.end()
    assert told.returncode == 2
    assert ("stop it first" if state == "running" else "there is no site on SQLite") in told.stderr
