from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest
from django.utils import timezone

from scoring.engine.jobs import lease
from scoring.engine.runs import planning
from scoring.engine.runs.execution import execute_shard
from scoring.engine.runs.progress import (
    NO_WORKER,
    count_worker_processes,
    find_worker_problem,
    has_other_workers,
    live_workers,
    run_progress,
)
from scoring.models import OutputSet, Run, Shard, Worker, WorkQueue
from tests.support.fixtures.runs import MakeRun, MakeScorer, finish
from tests.support.fixtures.spy import Spy

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(make_run: MakeRun, make_scorer: MakeScorer, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setattr(planning, "SHARD_OUTPUTS", 2)
    return make_run(["yes"] * 5, make_scorer("exact_match"))


def worker(seconds_ago: float, name: str = "elsewhere:1", queues: Sequence[str] = ()) -> None:
    seen = timezone.now() - timedelta(seconds=seconds_ago)
    Worker.objects.create(name=name, started_at=seen, seen_at=seen, queues=list(queues))


def test_progress_is_counted_from_done_shards(run: Run) -> None:
    assert run_progress(run)[:2] == (0, 5)
    planning.plan_attempt(run)
    assert run_progress(run)[:2] == (0, 5)
    first, *_ = Shard.objects.all()
    execute_shard(first.pk)
    assert run_progress(run)[:2] == (2, 5)
    finish(run)
    assert run_progress(run) == (5, 5, "finished", None, None, None, "scoring")


def test_the_rate_is_that_of_the_latest_shards(run: Run) -> None:
    planning.plan_attempt(run)
    now = timezone.now()
    for number, seconds_ago in ((1, 4.0), (2, 2.0)):
        done = now - timedelta(seconds=seconds_ago)
        Shard.objects.filter(number=number).update(done_at=done)
    found = run_progress(run)
    assert found.rate == pytest.approx(1.0)
    assert found.seconds_left == pytest.approx(1.0)


def test_one_done_shard_tells_no_rate(run: Run) -> None:
    planning.plan_attempt(run)
    Shard.objects.filter(number=1).update(done_at=timezone.now())
    assert run_progress(run)[4:6] == (None, None)


def test_a_retry_has_a_progress_of_its_own(
    make_run: MakeRun, make_scorer: MakeScorer, spy: Spy
) -> None:
    run = make_run(["1", "error", "0"], make_scorer("spy"))
    finish(run)
    planning.retry_errors(run, by=None)
    assert run_progress(run)[:3] == (0, 1, "queued")


class TestCause:
    def test_without_a_worker_it_says_how_to_start_one(self, run: Run) -> None:
        assert run_progress(run).cause == NO_WORKER == "no worker: start `manage.py worker`"

    def test_a_living_worker_has_not_come_to_it_yet(self, run: Run) -> None:
        worker(5)
        assert run_progress(run).cause == "waiting for the worker"

    def test_outputs_that_still_load_are_waited_for(self, run: Run) -> None:
        OutputSet.objects.update(state="loading")
        run.output_set.refresh_from_db()
        assert run_progress(run).cause == "waiting for outputs"

    def test_a_held_run_moves(self, run: Run) -> None:
        lease.acquire(run)
        assert run_progress(run).cause is None

    @pytest.mark.parametrize("state", ["running", "cancelling"])
    def test_a_run_whose_hold_ran_out_does_not_move(self, run: Run, state: str) -> None:
        Run.objects.update(
            state=state,
            lease_owner="elsewhere:1",
            lease_expires_at=timezone.now() - timedelta(seconds=1),
        )
        run.refresh_from_db()
        assert run_progress(run).cause == NO_WORKER

    @pytest.mark.parametrize("state", ["finished", "cancelled"])
    def test_a_run_that_ended_needs_no_cause(self, run: Run, state: str) -> None:
        Run.objects.update(state=state)
        run.refresh_from_db()
        assert run_progress(run).cause is None


class TestQueues:
    LACKING = "no worker that takes {0}: start `manage.py worker --queues {0}`"

    def test_a_run_that_no_living_worker_takes_says_so(self, run: Run) -> None:
        worker(5, queues=["judges", "jobs"])
        assert run_progress(run).cause == self.LACKING.format("scoring")
        worker(5, "elsewhere:2", ["scoring"])
        assert run_progress(run).cause == "waiting for the worker"

    def test_a_run_that_one_takes_waits_for_it(
        self, make_run: MakeRun, make_scorer: MakeScorer
    ) -> None:
        judged = make_run(["yes"], make_scorer("factuality", model="m"))
        worker(5, queues=["judges"])
        assert run_progress(judged).cause == "waiting for the worker"

    def test_what_nobody_takes_is_found(self) -> None:
        assert find_worker_problem() == NO_WORKER
        worker(5, queues=["scoring", "judges", "jobs"])
        assert find_worker_problem(WorkQueue.JOBS) == ""
        assert find_worker_problem(WorkQueue.IMPORTS) == self.LACKING.format("imports")
        told = "no worker that takes embeddings or imports: start `manage.py worker --queues "
        assert find_worker_problem() == f"{told}embeddings,imports`"
        worker(5, "elsewhere:2")
        assert find_worker_problem() == ""

    def test_others_count_that_take_the_same(self) -> None:
        worker(5, queues=["imports"])
        assert has_other_workers()
        assert not has_other_workers(frozenset({"scoring", "judges"}))


@pytest.mark.parametrize(("seconds_ago", "alive"), [(0, True), (15, True), (25, False)])
def test_a_worker_is_alive_when_it_said_so_lately(seconds_ago: float, alive: bool) -> None:
    worker(seconds_ago)
    assert bool(live_workers()) is alive


def test_no_worker_is_not_alive() -> None:
    assert not live_workers()


def test_the_processes_of_living_workers_are_counted() -> None:
    assert count_worker_processes() == 0
    for seconds_ago, count in ((0, 2), (1, 3), (600, 8)):
        worker(seconds_ago, name := f"elsewhere:{count}")
        Worker.objects.filter(name=name).update(process_count=count)
    assert count_worker_processes() == 5
