"""A worker whose database another process keeps locked: it loses nothing and goes on."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import connection

from scoring.engine.processes.process_pool import InlineExecutor
from scoring.engine.processes.thread_pool import ThreadPool
from scoring.engine.runs import planning
from scoring.engine.worker import main as worker_main
from scoring.engine.worker.main import DatabaseChanges, WorkerLoop
from scoring.models import Run, RunState, Score, Team, Worker
from tests.support.fixtures.runs import MakeRun, MakeScorer
from tests.support.waiting import wait_until

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "sqlite", reason="locks the file"),
]


@contextmanager
def locked() -> Iterator[None]:
    """Another connection holds a write transaction for longer than anybody here waits."""
    connection.cursor().execute("PRAGMA busy_timeout = 50")
    other = sqlite3.connect(str(connection.settings_dict["NAME"]), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        other.rollback()
        other.close()


@pytest.fixture
def work(threads: ThreadPool, monkeypatch: pytest.MonkeyPatch) -> WorkerLoop:
    for name in ("LOCKED_SECONDS", "IDLE_CHECK_SECONDS", "POLL_SECONDS"):
        monkeypatch.setattr(worker_main, name, 0)
    monkeypatch.setattr("scoring.engine.worker.shard_scheduler.PAUSE_SECONDS", 0)
    return WorkerLoop(InlineExecutor(), threads, InlineExecutor())


def state_of(run: Run) -> str:
    return Run.objects.get(pk=run.pk).state


@pytest.mark.parametrize("rounds", [0, 1, 2, 3, 4])
def test_a_run_is_finished_after_the_lock_whenever_that_came(
    work: WorkerLoop,
    make_run: MakeRun,
    make_scorer: MakeScorer,
    monkeypatch: pytest.MonkeyPatch,
    rounds: int,
) -> None:
    monkeypatch.setattr(planning, "SHARD_OUTPUTS", 2)
    run = make_run(["yes", "no", "yes", "no", "yes"], make_scorer("exact_match"))
    for _ in range(rounds):
        work.try_round()
    with locked():
        for _ in range(3):
            work.try_round()

    def is_finished_after_a_round() -> bool:
        work.try_round()
        return state_of(run) == RunState.FINISHED

    wait_until(is_finished_after_a_round)
    assert Score.objects.filter(scorer__run=run).count() == 5


def test_a_heartbeat_that_cannot_be_stored_is_stored_later(work: WorkerLoop) -> None:
    with locked():
        work.try_round()
    assert not Worker.objects.exists()
    work._next_beat = 0.0
    work.try_round()
    assert Worker.objects.exists()


def test_nothing_is_looked_for_while_nothing_is_stored(team: Team) -> None:
    changes = DatabaseChanges()
    assert changes.are_due()
    assert not changes.are_due()
    other = sqlite3.connect(str(connection.settings_dict["NAME"]))
    with other:
        other.execute("UPDATE scoring_team SET name = 'Other'")
    other.close()
    assert changes.are_due()
    assert not changes.are_due()
    changes.expect()
    assert changes.are_due()


def test_it_is_looked_for_now_and_then_all_the_same(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_main, "IDLE_CHECK_SECONDS", 0.05)
    changes = DatabaseChanges()
    assert changes.are_due()
    wait_until(changes.are_due)
