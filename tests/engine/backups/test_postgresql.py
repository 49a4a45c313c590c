"""PostgreSQL's own tools back a site up: what is dumped during a run is a site that goes on."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from pytest_django.fixtures import Settings

from scoring.engine.backups.integrity import DATABASE
from scoring.engine.backups.postgresql import backup_advice, restore_advice
from scoring.engine.processes.process_pool import InlineExecutor
from scoring.engine.runs import planning
from scoring.engine.worker.run_dispatcher import run_to_end
from scoring.models import Run, Shard
from tests.support.database import empty_database
from tests.support.fixtures.runs import MakeRun, MakeScorer
from tests.support.fixtures.sites import Site
from tests.support.postgresql_server import find_programs
from tests.support.waiting import wait_until

ANSWERS = ["yes", "yes!", "no", "YES", "perhaps", None] * 100
SCORES = """
    SELECT s.output_id, f.position, s.status, s.score, s.verdict
    FROM scoring_score s JOIN scoring_runscorer f ON f.id = s.scorer_id
    WHERE f.run_id = %s ORDER BY 1, 2
"""


def test_the_advice_names_the_keys_where_they_are() -> None:
    folder, target = Path("/srv/evals"), Path("/backups/all of it.dump")
    assert backup_advice(folder, target, ["secret_key"]).splitlines()[1:] == [
        """  pg_dump --format=custom --file='/backups/all of it.dump' "$DATABASE_URL\"""",
        "Without its keys it cannot be used. Keep beside it EVALSITE_SECRET_KEY and "
        "/srv/evals/encryption_key.",
    ]
    assert "Put back /srv/evals/secret_key and" in restore_advice(folder, target, [])


@pytest.mark.postgresql
@pytest.mark.parametrize("command", ["backup", "restore"])
def test_the_commands_say_so(db: None, command: str, tmp_path: Path, settings: Settings) -> None:
    """Also where the data folder still holds the database that was there before."""
    settings.DATA_DIR = tmp_path
    (tmp_path / DATABASE).touch()
    with pytest.raises(CommandError, match="whose own tools") as refused:
        call_command(command, tmp_path / "site.dump")
    assert refused.value.returncode == 2
    assert not (tmp_path / "site.dump").exists()


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_what_is_dumped_during_a_run_goes_on_elsewhere(
    site: Site,
    make_run: MakeRun,
    make_scorer: MakeScorer,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(planning, "SHARD_OUTPUTS", 20)
    scorers = [make_scorer("exact_match"), make_scorer("levenshtein")]
    run = make_run(ANSWERS, *scorers)
    planning.plan_attempt(run)
    site.start("worker")
    wait_until(lambda: bool(done_shards(run)))
    dump = tmp_path / "site.dump"
    run_tool("pg_dump", "--format=custom", f"--file={dump}", os.environ["DATABASE_URL"])
    site.end()
    with empty_database() as environment:
        url = environment["DATABASE_URL"]
        run_tool("pg_restore", "--no-owner", "--exit-on-error", f"--dbname={url}", str(dump))
        other = Site(tmp_path)
        other.environment = environment
        other.start("worker")
        with psycopg.connect(url, autocommit=True) as restored:
            state = "SELECT state FROM scoring_run WHERE id = %s"
            wait_until(lambda: restored.execute(state, [run.pk]).fetchone() == ("finished",))
            rows = restored.execute(SCORES, [run.pk]).fetchall()
        other.end()
    run_to_end(calm := make_run(run.output_set, *scorers, name="calm"), InlineExecutor())
    assert rows == scores_of(calm)


def done_shards(run: Run) -> int:
    return Shard.objects.filter(attempt__run=run, done_at__isnull=False).count()


def run_tool(name: str, *arguments: str) -> None:
    programs = find_programs()
    assert programs is not None
    subprocess.run([programs / name, *arguments], check=True)


def scores_of(run: Run) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(SCORES, [run.pk])
        return cursor.fetchall()
