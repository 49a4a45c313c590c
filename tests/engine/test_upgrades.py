"""A backup whose database this version cannot upgrade is refused."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from scoring.engine.backups import make_backup
from scoring.engine.backups.integrity import DATABASE
from scoring.engine.upgrades import INITIAL, find_upgrade_problem, known_migrations
from tests.support.fixtures.backups import refuse


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


@pytest.mark.parametrize(
    "applied",
    [
        {"0001_initial", "0002_model_calls"},
        {"0001_initial_schema", "0002_threshold_history", "0005_waivers"},
        {"0001_initial_schema", "0001_squashed_0016_correction_jobs", "0016_correction_jobs"},
    ],
)
def test_databases_from_before_the_schema_are_too_old(applied: set[str]) -> None:
    assert "too old to be upgraded" in find_upgrade_problem(applied)


def test_a_database_of_this_version_or_an_earlier_one_can_be_upgraded() -> None:
    assert find_upgrade_problem(known_migrations()) == ""
    assert find_upgrade_problem({INITIAL}) == ""
