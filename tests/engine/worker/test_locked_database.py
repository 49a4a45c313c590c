"""A worker whose database is locked or whose disk is full: it loses nothing and goes on."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import connection

from scoring.engine.runs import planning
from scoring.engine.runs.progress import live_workers
from scoring.engine.worker import main as worker_main
from scoring.engine.worker.main import DatabaseChanges, WorkerLoop
from scoring.models import Run, RunState, Score, Team, Worker
from tests.engine.worker.conftest import Interrupt
from tests.support.fixtures.runs import MakeRun, MakeScorer
from tests.support.waiting import wait_until

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.sqlite,  # locks the file
]


@contextmanager
def locked() -> Iterator[None]:
    """Another connection holds a write transaction for longer than anybody here waits."""
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA busy_timeout")
        (usual,) = cursor.fetchone()
        cursor.execute("PRAGMA busy_timeout = 50")
    other = sqlite3.connect(str(connection.settings_dict["NAME"]), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        other.rollback()
        other.close()
        with connection.cursor() as cursor:  # threads still write what follows a run
            cursor.execute(f"PRAGMA busy_timeout = {usual}")


def state_of(run: Run) -> str:
    return Run.objects.get(pk=run.pk).state


@pytest.mark.parametrize("rounds", [0, 1, 2, 3, 4])
def test_a_run_is_finished_after_the_lock_whenever_that_came(
    interrupt_run: Interrupt, rounds: int
) -> None:
    interrupt_run(locked(), rounds)


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


class TestFullDisk:
    @pytest.fixture
    def full(self, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
        """Whether the disk is full, as its last item says."""
        answers = [True]
        monkeypatch.setattr(worker_main, "DISK_SECONDS", 0)
        monkeypatch.setattr(worker_main, "HEARTBEAT_SECONDS", 0)
        monkeypatch.setattr(worker_main.disk_space, "watch_disk", lambda: answers[-1])
        return answers

    def test_the_worker_waits_for_room_and_is_seen_to_live(
        self,
        work: WorkerLoop,
        full: list[bool],
        make_run: MakeRun,
        make_scorer: MakeScorer,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        caplog.set_level("INFO", "scoring")
        run = make_run(["yes"] * 3, make_scorer("exact_match"))
        for _ in range(3):
            work.try_round()
        assert state_of(run) == RunState.QUEUED
        assert live_workers()
        assert caplog.text.count("no room on the site's disk") == 1
        full.append(False)
        wait_until(lambda: (work.try_round(), state_of(run))[1] == RunState.FINISHED)
        assert "there is room on the disk again" in caplog.text

    def test_what_is_under_way_is_taken_up_again(
        self,
        work: WorkerLoop,
        full: list[bool],
        make_run: MakeRun,
        make_scorer: MakeScorer,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(planning, "SHARD_OUTPUTS", 2)
        full.append(False)
        run = make_run(["yes"] * 6, make_scorer("exact_match"))
        work.try_round()
        full.append(True)
        work.try_round()
        assert state_of(run) == RunState.RUNNING
        full.append(False)
        wait_until(lambda: (work.try_round(), state_of(run))[1] == RunState.FINISHED)
        assert Score.objects.filter(scorer__run=run).count() == 6

    def test_an_error_of_a_full_disk_gives_up_the_reserve(
        self, work: WorkerLoop, full: list[bool], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        full.append(False)
        released: list[bool] = []

        def fail() -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(work, "_round", fail)
        release = "scoring.engine.processes.disk_space.release_reserve"
        monkeypatch.setattr(release, lambda: released.append(True))
        work.try_round()
        assert released == [True]

    def test_another_error_of_the_system_is_raised(
        self, work: WorkerLoop, full: list[bool], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        full.append(False)

        def fail() -> None:
            raise OSError(errno.EIO, "Input/output error")

        monkeypatch.setattr(work, "_round", fail)
        with pytest.raises(OSError, match="Input/output"):
            work.try_round()
