"""Real workers on a real database file: kills, double starts, stops."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from django.db import OperationalError, connection, transaction
from django.utils import timezone

from scoring.engine.jobs import lease
from scoring.engine.runs import planning
from scoring.models import OutputSet, Run, RunState, Score, Shard, Worker
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.fixtures.runs import MakeRun, MakeScorer, rows_of, verdicts_of
from tests.support.fixtures.sites import Site
from tests.support.paths import ROOT
from tests.support.thoroughness import KILLS
from tests.support.waiting import DEADLINE_SECONDS, wait_until

ANSWERS = ["yes", "yes!", "no", "YES", "perhaps", None]


@pytest.fixture
def three(make_scorer: MakeScorer) -> list[object]:
    return [make_scorer("exact_match"), make_scorer("levenshtein"), make_scorer("includes")]


@pytest.fixture
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "SHARD_OUTPUTS", 5)


@pytest.fixture
def planned_run(site: Site, small_shards: None, make_run: MakeRun, three: list[object]) -> MakeRun:
    """A run of `count` outputs in shards of five, begun and left behind."""

    def make(outputs: int | OutputSet, name: str = "first") -> Run:
        given = [ANSWERS[n % 6] for n in range(outputs)] if isinstance(outputs, int) else outputs
        run = make_run(given, *three, name=name)
        planning.plan_attempt(run)
        return run

    return make


def is_finished(run: Run) -> bool:
    return Run.objects.get(pk=run.pk).state == RunState.FINISHED


def done_shards(run: Run) -> int:
    return Shard.objects.filter(attempt__run=run, done_at__isnull=False).count()


def kill(process: subprocess.Popen[str], *, group: bool) -> None:
    (os.killpg if group else os.kill)(process.pid, signal.SIGKILL)
    process.wait()


@pytest.mark.kills
@pytest.mark.long("a worker is killed twice")
def test_kills_leave_the_same_rows_as_an_undisturbed_run(
    site: Site, planned_run: MakeRun, make_outputs: MakeOutputs, chance: Random
) -> None:
    count = 100 * max(KILLS, 10)
    run = planned_run(count)
    for kills in range(KILLS):
        worker = site.start("worker")
        target = done_shards(run) + chance.randrange(1, 20)
        wait_until(lambda: done_shards(run) >= target)  # noqa: B023  called within this round
        kill(worker, group=kills % 2 == 0)
        assert not is_finished(run)
        wait_until(lambda: not site.members(worker.pid))  # noqa: B023
    site.start("worker")
    wait_until(lambda: is_finished(run))
    calm = planned_run(
        make_outputs(run.output_set.version, [ANSWERS[n % 6] for n in range(count)], series="b")
    )
    wait_until(lambda: is_finished(calm))
    assert rows_of(run) == rows_of(calm)
    assert verdicts_of(run) == verdicts_of(calm)
    assert Score.objects.filter(scorer__run=run).count() == 3 * count
    for field in ("pass_count", "fail_count", "error_count", "skipped_count"):
        assert len({getattr(Run.objects.get(pk=each.pk), field) for each in (run, calm)}) == 1


def test_a_worker_that_stood_still_longer_than_its_lease_goes_on(
    site: Site, planned_run: MakeRun, make_outputs: MakeOutputs
) -> None:
    run = planned_run(1_000)
    worker = site.start("worker")
    wait_until(lambda: done_shards(run))
    wait_until(lambda: is_frozen_outside_a_transaction(worker.pid, run))
    os.killpg(worker.pid, signal.SIGCONT)
    wait_until(lambda: is_finished(run))
    calm = planned_run(
        make_outputs(run.output_set.version, [ANSWERS[n % 6] for n in range(1_000)], series="b")
    )
    wait_until(lambda: is_finished(calm))
    assert rows_of(run) == rows_of(calm)
    assert "Traceback" not in site.log


def is_frozen_outside_a_transaction(worker: int, run: Run) -> bool:
    """Whether the worker could be paused where it locks nothing; its lease is over then."""
    is_sqlite = connection.vendor == "sqlite"
    limit = "PRAGMA busy_timeout = 200" if is_sqlite else "SET lock_timeout = '200ms'"
    connection.cursor().execute(limit)
    os.killpg(worker, signal.SIGSTOP)
    try:
        with transaction.atomic():
            past = timezone.now() - lease.DURATION
            return bool(Run.objects.filter(pk=run.pk).update(lease_expires_at=past))
    except OperationalError:
        os.killpg(worker, signal.SIGCONT)
        return False
    finally:
        connection.close()  # with its limit


def test_a_worker_told_to_stop_lets_go_and_leaves_nothing_running(
    site: Site, planned_run: MakeRun
) -> None:
    run = planned_run(1_000)
    worker = site.start("worker")
    wait_until(lambda: done_shards(run))
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(DEADLINE_SECONDS) == 0
    wait_until(lambda: not site.members(worker.pid))
    run.refresh_from_db()
    assert (run.state, run.lease_owner, run.lease_expires_at) == ("running", "", None)
    assert not Worker.objects.exists()
    assert "Traceback" not in site.log


@pytest.mark.long("a worker scores a run in two halves")
def test_a_cancelled_run_stops_and_a_resumed_one_goes_on(site: Site, planned_run: MakeRun) -> None:
    run = planned_run(1_000)
    site.start("worker")
    wait_until(lambda: done_shards(run))
    assert planning.cancel_run(run, by=None)
    wait_until(lambda: Run.objects.get().state == RunState.CANCELLED)
    run.refresh_from_db()
    done = done_shards(run)
    assert 0 < done < 200
    assert run.pass_count is not None
    assert sum(count or 0 for count in run.verdict_counts.values()) == 5 * done
    assert run.lease_owner == ""
    assert planning.resume_run(run, by=None)
    wait_until(lambda: is_finished(run))
    assert len(verdicts_of(run)) == 1_000


def test_a_small_run_is_not_stuck_behind_a_big_one(
    site: Site, planned_run: MakeRun, make_outputs: MakeOutputs, make_dataset: MakeDataset
) -> None:
    big = planned_run(1_000)
    small = planned_run(make_outputs(make_dataset([{"expected": "yes"}], name="B"), ["yes"]))
    site.start("worker")
    wait_until(lambda: is_finished(small))
    assert not is_finished(big)


def test_a_worker_ends_at_once_when_its_parents_pipe_closes(
    site: Site, planned_run: MakeRun
) -> None:
    run = planned_run(1_000)
    ours, theirs = os.pipe()
    worker = subprocess.Popen(
        [sys.executable, str(ROOT / "manage.py"), "worker", "--parent-fd", str(ours)],
        env={**os.environ, "EVALSITE_DATA_DIR": str(site.folder)},
        pass_fds=[ours],
        start_new_session=True,
        text=True,
    )
    site.processes.append(worker)
    os.close(ours)
    wait_until(lambda: done_shards(run))
    os.close(theirs)
    assert worker.wait(DEADLINE_SECONDS) == 1
    wait_until(lambda: not site.members(worker.pid))
    run.refresh_from_db()
    assert (run.state, bool(run.lease_owner)) == ("running", True)  # it took no time to let go


def test_a_worker_may_be_started_in_any_folder_and_stopped_with_ctrl_c(
    site: Site, planned_run: MakeRun, tmp_path: Path
) -> None:
    run = planned_run(100)
    worker = site.start("worker", cwd=tmp_path)
    wait_until(lambda: is_finished(run))
    worker.send_signal(signal.SIGINT)
    assert worker.wait(DEADLINE_SECONDS) == 0
    assert not Worker.objects.exists()
    assert "Traceback" not in site.log
    assert Score.objects.filter(code="worker_crashed").count() == 0
