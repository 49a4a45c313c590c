"""A backup of a site at work is sound and complete; a copied database file is refused."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from scoring.engine.backups import make_backup, restore_backup
from scoring.engine.backups.integrity import CLEAN, DATABASE, find_damage
from scoring.engine.runs import planning
from scoring.models import Run, RunState, Score, Shard, Worker
from tests.support.fixtures.runs import MakeRun, MakeScorer
from tests.support.fixtures.sites import Site
from tests.support.paths import ROOT
from tests.support.waiting import DEADLINE_SECONDS, wait_until

pytestmark = pytest.mark.sqlite

GUNICORN = [sys.executable, "-m", "gunicorn", "-c", "python:evalsite.gunicorn_conf"]
GUNICORN += ["--bind", "127.0.0.1:0", "evalsite.wsgi"]
ANSWERS = ("Hello World", "hello world", "Hello", "", "other", None)
ROWS = "SELECT scorer_id, output_id, status, score, verdict FROM scoring_score ORDER BY 1, 2"


def rows_in(database: Path, sql: str = ROWS) -> list[Any]:
    with closing(sqlite3.connect(database, timeout=DEADLINE_SECONDS)) as opened:
        return opened.execute(sql).fetchall()


@pytest.fixture
def run_at_work(
    site: Site, make_run: MakeRun, make_scorer: MakeScorer, monkeypatch: pytest.MonkeyPatch
) -> Run:
    """A run in 150 shards, of which a real worker has done some."""
    monkeypatch.setattr(planning, "SHARD_OUTPUTS", 20)
    scorers = [make_scorer(name) for name in ("exact_match", "levenshtein", "includes")]
    run = make_run([ANSWERS[n % 6] for n in range(3_000)], *scorers)
    planning.plan_attempt(run)
    site.start("worker")
    wait_until(lambda: Shard.objects.filter(done_at__isnull=False).count() > 20)
    return run


def is_finished(run: Run) -> bool:
    return Run.objects.get(pk=run.pk).state == RunState.FINISHED


@pytest.mark.long("two workers score a run to its end")
def test_a_backup_while_a_run_scores_is_sound_and_goes_on_to_the_same_end(
    site: Site, run_at_work: Run, tmp_path: Path
) -> None:
    make_backup(site.folder, tmp_path / "b.tar", keys_elsewhere=[])
    assert not is_finished(run_at_work)
    other = tmp_path / "other"
    other.mkdir()
    restore_backup(tmp_path / "b.tar", other, spool=other / "spool")
    stored = rows_in(other / DATABASE)
    assert 0 < len(stored) < 9_000
    assert find_damage(other / DATABASE) == ""
    wait_until(lambda: is_finished(run_at_work))
    for table in ("scoring_run", "scoring_shard"):
        leases = f"SELECT DISTINCT lease_owner, lease_expires_at FROM {table}"
        assert rows_in(other / DATABASE, leases) == [("", None)]  # nobody has to wait for its end
    assert rows_in(other / DATABASE, "SELECT count(*) FROM scoring_worker") == [(0,)]
    copy = Site(other)
    try:
        copy.start("worker")
        state = f"SELECT state FROM scoring_run WHERE id = {run_at_work.pk}"
        wait_until(lambda: rows_in(other / DATABASE, state) == [("finished",)])
    finally:
        copy.end()
    assert rows_in(other / DATABASE) == rows_in(Path(connection.settings_dict["NAME"]))
    assert Score.objects.count() == 9_000


@pytest.fixture
def broken_site(fresh_site: Site, torn: Path) -> Site:
    torn.rename(fresh_site.folder / DATABASE)
    return fresh_site


@pytest.mark.parametrize("command", [("start", "--port", "0"), ("worker",)], ids=lambda c: c[0])
def test_a_copied_live_database_is_refused_with_a_sentence(
    broken_site: Site, command: tuple[str, ...]
) -> None:
    assert broken_site.start(*command).wait(DEADLINE_SECONDS) == 2
    assert "CommandError: the database cannot be used, for it is damaged" in broken_site.log
    assert "manage.py restore" in broken_site.log
    assert "Traceback" not in broken_site.log


def test_the_web_server_alone_refuses_it_too(broken_site: Site) -> None:
    done = subprocess.run(
        GUNICORN,
        env={**os.environ, "EVALSITE_DATA_DIR": str(broken_site.folder)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=DEADLINE_SECONDS,
        check=False,
    )
    assert done.returncode != 0
    assert "error: the database cannot be used, for it is damaged" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.long("two sites are started")
def test_a_site_stopped_in_order_marks_it_and_a_killed_one_does_not(site: Site) -> None:
    def begin() -> subprocess.Popen[str]:
        process = site.start("start", "--port", "0")
        wait_until(Worker.objects.exists)
        return process

    process = begin()
    process.terminate()
    assert process.wait(DEADLINE_SECONDS) == 0
    assert (site.folder / CLEAN).exists()
    assert not Worker.objects.exists()
    process = begin()
    assert not (site.folder / CLEAN).exists()
    process.kill()
    process.wait()
    wait_until(lambda: not site.members(process.pid))
    assert not (site.folder / CLEAN).exists()
