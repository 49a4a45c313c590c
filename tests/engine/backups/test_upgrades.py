"""A backup whose database this version cannot upgrade is refused."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from scoring.engine.backups import make_backup
from scoring.engine.backups.integrity import DATABASE
from scoring.engine.backups.upgrades import INITIAL, find_upgrade_problem
from tests.engine.backups.conftest import refuse


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ("INSERT INTO django_migrations (app, name, applied) VALUES ('scoring', '9999_x', '')",
         r"newer Evalsite \(9999_x\)"),
        ("UPDATE django_migrations SET name = '0001_initial' WHERE app = 'scoring'",
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


def test_a_database_made_at_once_by_an_earlier_version_is_upgraded() -> None:
    """The squashed migration is named by its last step, so that each version has another one."""
    steps = {INITIAL, "0002_threshold_history"}
    assert find_upgrade_problem({*steps, "0001_squashed_0002_threshold_history"}) == ""
    assert "newer Evalsite (9999_x)" in find_upgrade_problem({*steps, "9999_x"})
