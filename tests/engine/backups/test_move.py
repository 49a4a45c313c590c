"""A site moves from SQLite to PostgreSQL with every row, wherever it is cut short."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.support.database import empty_database
from tests.support.paths import ROOT
from tests.support.waiting import wait_until

ROWS = [
    {"key": f"q{n}", "input": {"b": 1e22, "a": [-0.0, None]}, "expected": "Ä", "output": "ä" * n}
    for n in range(40)
]
SUITE = "name: quick\nscorers:\n- type: exact_match\n- type: levenshtein\n"
SCORES = "SELECT scorer_id, output_id, status, score, verdict FROM scoring_score ORDER BY 1, 2"
NOTES = "SELECT step FROM evalsite_move WHERE step LIKE 'copied %'"
#: A step after each row, so that there are many places to be killed at.
SLOWLY = """
import django
from django.core.management import execute_from_command_line

django.setup()
from scoring.engine.backups import move

move.ROWS_A_STEP = 1
execute_from_command_line(["manage.py", "move"])
"""

pytestmark = [pytest.mark.postgresql, pytest.mark.django_db]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder of a site on SQLite with a scored run, which nobody uses."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    (folder / "quick.yaml").write_text(SUITE)
    imported = manage(folder, "import", str(folder / "rows.jsonl"), "--dataset", "Answers")
    assert imported.returncode == 0, imported.stderr
    evaluated = evaluate(folder)
    assert evaluated.returncode == 0, evaluated.stderr
    return folder


@pytest.fixture
def target() -> Iterator[dict[str, str]]:
    with empty_database(has_tables=True) as environment:
        yield environment


def manage(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A command, on SQLite unless the environment names another database."""
    return subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=ROOT,
        env=environment_of(folder) | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def evaluate(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return manage(
        folder, "evaluate", "Answers", "--suite", str(folder / "quick.yaml"), **environment
    )


def environment_of(folder: Path) -> dict[str, str]:
    own = {key: value for key, value in os.environ.items() if key != "DATABASE_URL"}
    return own | {"EVALSITE_DATA_DIR": str(folder), "DJANGO_SETTINGS_MODULE": "evalsite.settings"}


def scores_there(folder: Path) -> list[Any]:
    with closing(sqlite3.connect(folder / "evalsite.sqlite3")) as there:
        return there.execute(SCORES).fetchall()


def scores_here(target: dict[str, str]) -> list[Any]:
    with psycopg.connect(target["DATABASE_URL"]) as here:
        return here.execute(SCORES).fetchall()


def test_every_row_arrives_and_the_site_goes_on(folder: Path, target: dict[str, str]) -> None:
    moved = manage(folder, "move", **target)
    assert moved.returncode == 0, moved.stderr
    assert "and compared both sides" in moved.stdout
    assert scores_here(target) == scores_there(folder) != []
    assert manage(folder, "verify_audit", **target).returncode == 0
    with psycopg.connect(target["DATABASE_URL"]) as here:
        keys = "SELECT count(*) FROM pg_constraint WHERE contype = 'f' AND convalidated"
        assert here.execute(keys).fetchone() > (100,)
        config = "SELECT input_json FROM scoring_case WHERE key = 'q1'"
        assert here.execute(config).fetchone() == ('{"b":1e+22,"a":[-0.0,null]}',)
    # New rows get ids of their own, and what was scored is found again.
    again = evaluate(folder, **target)
    assert again.returncode == 0, again.stderr
    assert len(scores_here(target)) == 2 * len(scores_there(folder))
    refused = manage(folder, "move", **target)
    assert (refused.returncode, "name an empty database" in refused.stderr) == (2, True)


def test_a_move_that_was_killed_is_gone_on_with(folder: Path, target: dict[str, str]) -> None:
    for table in ("auth_permission", "scoring_auditentry", "scoring_case"):
        kill_once_copied(table, folder, target)
        assert "`manage.py move` goes on with it" in evaluate(folder, **target).stderr
    assert manage(folder, "move", **target).returncode == 0
    assert scores_here(target) == scores_there(folder)


def test_what_changed_between_two_moves_is_told(
    folder: Path, target: dict[str, str], tmp_path: Path
) -> None:
    own = tmp_path / "site"
    shutil.copytree(folder, own)
    kill_once_copied("scoring_dataset", own, target)
    with closing(sqlite3.connect(own / "evalsite.sqlite3")) as there:
        there.execute("UPDATE scoring_dataset SET name = 'Other'")
        there.commit()
    told = manage(own, "move", **target)
    assert told.returncode == 2
    assert "scoring_dataset is not the same on both sides (rows: 1 there, 1 here)" in told.stderr


def kill_once_copied(table: str, folder: Path, target: dict[str, str]) -> None:
    """Move in the smallest steps, and kill the process in the table or soon after it."""
    process = subprocess.Popen(
        [sys.executable, "-c", SLOWLY], cwd=ROOT, env=environment_of(folder) | target
    )
    try:
        wait_until(lambda: f"copied {table}" in notes(target))
    finally:
        process.kill()
        process.wait()


def notes(target: dict[str, str]) -> set[str]:
    with psycopg.connect(target["DATABASE_URL"]) as here:
        if here.execute("SELECT to_regclass('evalsite_move')").fetchone() == (None,):
            return set()
        return {step for (step,) in here.execute(NOTES).fetchall()}
