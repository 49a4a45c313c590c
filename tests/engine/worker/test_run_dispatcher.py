from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError, transaction
from django.db.models.functions import Now
from django.utils import timezone

from scoring.core.custom import load_custom
from scoring.engine.jobs import lease
from scoring.engine.processes.process_pool import InlineExecutor, ProcessPool
from scoring.engine.runs import planning
from scoring.engine.worker import run_dispatcher, shard_scheduler
from scoring.engine.worker.run_dispatcher import RunDispatcher, run_to_end
from scoring.engine.worker.shard_scheduler import (
    NOT_STORED,
    NotStoredError,
    RunWork,
    ShardScheduler,
)
from scoring.models import (
    Attempt,
    AuditEntry,
    Job,
    Notice,
    OutputSet,
    Run,
    RunState,
    Score,
    Shard,
    User,
    Worker,
)
from tests.support.fixtures.runs import MakeRun, MakeScorer, RunOfYes, rows_of, verdicts_of
from tests.support.fixtures.sites import Site
from tests.support.fixtures.spy import Spy
from tests.support.waiting import wait_until

pytestmark = pytest.mark.django_db


class Recorder(InlineExecutor):
    """An inline pool that remembers the shards' numbers, and fails as told."""

    def __init__(self, processes: int = 0) -> None:
        self.processes = processes
        self.asked: list[tuple[str, int]] = []
        self.faults: dict[tuple[str, int], list[BaseException]] = {}
        self.restarts = 0
        self.is_broken = self.knows_at_once = False

    def submit(self, function: Callable[..., Any], *args: Any) -> Future[Any]:
        shard = Shard.objects.select_related("attempt__run").get(pk=args[0])
        name = shard.attempt.run.name, shard.number
        self.asked.append(name)
        if self.is_broken:
            raise BrokenProcessPool
        if self.faults.get(name):
            future: Future[Any] = Future()
            future.set_exception(self.faults[name].pop())
            self.is_broken = self.knows_at_once
            return future
        return super().submit(function, *args)

    def restart(self) -> None:
        self.restarts += 1
        self.is_broken = False


@pytest.fixture(autouse=True)
def tiny_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "SHARD_OUTPUTS", 2)


def test_a_run_is_worked_on_to_its_end(make_run: MakeRun, make_scorer: MakeScorer) -> None:
    run = make_run(["yes", "no", "yes"], make_scorer("exact_match"))
    run_to_end(run, InlineExecutor())
    assert (run.state, run.pass_count, run.fail_count) == ("finished", 2, 1)
    assert (run.lease_owner, run.lease_expires_at) == ("", None)
    assert None not in (run.started_at, run.finished_at, Attempt.objects.get().finished_at)
    actions = AuditEntry.objects.filter(target_id=run.uuid).order_by("pk")
    assert [entry.action for entry in actions] == ["run.created", "run.running", "run.finished"]


def test_nothing_ends_before_it_has_begun(run_of_yes: RunOfYes) -> None:
    """Though the clock is set back meanwhile."""
    run = run_of_yes(2)
    dispatcher = RunDispatcher(InlineExecutor())
    assert dispatcher.take(run)
    later = timezone.now() + timedelta(hours=1)
    Run.objects.update(started_at=later)
    Attempt.objects.update(created_at=later)
    while not dispatcher.is_idle:
        dispatcher.step(0)
    assert Run.objects.get().finished_at == later
    assert Attempt.objects.get().finished_at == later


def test_runs_take_turns(make_run: MakeRun, make_scorer: MakeScorer) -> None:
    pool = Recorder()
    dispatcher = RunDispatcher(pool)
    scorer = make_scorer("exact_match")
    big, small = make_run(["yes"] * 6, scorer, name="big"), make_run(["yes"], scorer, name="small")
    assert dispatcher.take(big)
    assert dispatcher.take(small)
    while not dispatcher.is_idle:
        dispatcher.step(0)
    assert pool.asked == [("big", 1), ("small", 1), ("big", 2), ("big", 3)]


def test_a_run_held_elsewhere_is_left_alone(run_of_yes: RunOfYes) -> None:
    run = run_of_yes(1)
    held = timezone.now() + timedelta(seconds=20)
    Run.objects.update(lease_owner="elsewhere:1", lease_expires_at=held)
    run.refresh_from_db()
    assert not RunDispatcher(InlineExecutor()).take(run)
    assert not Shard.objects.exists()


def test_waiting_runs_are_taken_but_for_those_whose_outputs_still_load(
    make_run: MakeRun, make_scorer: MakeScorer
) -> None:
    scorer = make_scorer("exact_match")
    ready, loading = make_run(["yes"], scorer, name="a"), make_run(["yes"], scorer, name="b")
    OutputSet.objects.filter(pk=loading.output_set_id).update(state="loading")
    pool = Recorder()
    dispatcher = RunDispatcher(pool)
    dispatcher.take_waiting()
    dispatcher.take_waiting()
    while not dispatcher.is_idle:
        dispatcher.step(0)
    assert pool.asked == [(ready.name, 1)]
    assert Run.objects.get(pk=loading.pk).state == RunState.QUEUED


def test_a_busy_worker_leaves_runs_to_others(make_run: MakeRun, make_scorer: MakeScorer) -> None:
    scorer = make_scorer("exact_match")
    for name in ("a", "b", "c"):
        make_run(["yes"] * 6, scorer, name=name)
    Worker.objects.create(name="elsewhere:1", started_at=Now(), seen_at=Now())
    dispatcher = RunDispatcher(InlineExecutor())
    leased = Run.objects.exclude(lease_owner="")
    for count in (1, 2, 3):
        dispatcher.take_waiting()
        assert leased.count() == count
    dispatcher.stop(0)
    Worker.objects.update(seen_at=Now() - timedelta(minutes=1))
    dispatcher.take_waiting()
    assert leased.count() == 3


def test_a_worker_takes_runs_of_its_queues(make_run: MakeRun, make_scorer: MakeScorer) -> None:
    computing = make_run(["yes"], make_scorer("exact_match"), name="computing")
    asking = make_run(["yes"], make_scorer("factuality", model="m"), name="asking")
    dispatcher = RunDispatcher(InlineExecutor(), InlineExecutor())
    leased = Run.objects.exclude(lease_owner="")
    dispatcher.take_waiting(frozenset({"imports"}))
    assert not leased.exists()
    dispatcher.take_waiting(frozenset({"judges", "jobs"}))
    assert list(leased) == [asking]
    dispatcher.take_waiting(frozenset({"scoring"}))
    assert list(leased.order_by("pk")) == [computing, asking]
    dispatcher.stop(0)


def test_a_busy_worker_leaves_nothing_to_those_that_do_not_take_it(
    make_run: MakeRun, make_scorer: MakeScorer
) -> None:
    scorer = make_scorer("exact_match")
    for name in ("a", "b", "c"):
        make_run(["yes"] * 6, scorer, name=name)
    Worker.objects.create(
        name="elsewhere:1", started_at=Now(), seen_at=Now(), queues=["imports", "judges"]
    )
    dispatcher = RunDispatcher(InlineExecutor())
    dispatcher.take_waiting(frozenset({"scoring", "imports"}))
    assert Run.objects.exclude(lease_owner="").count() == 3
    dispatcher.stop(0)


def test_a_run_lost_to_another_process_is_dropped(run_of_yes: RunOfYes) -> None:
    run = run_of_yes(6)
    dispatcher = RunDispatcher(InlineExecutor())
    dispatcher.take(run)
    dispatcher.step(0)
    Run.objects.update(lease_owner="elsewhere:1")
    dispatcher.step(0)
    assert dispatcher.is_idle
    run.refresh_from_db()
    assert (run.state, run.lease_owner, len(verdicts_of(run))) == ("running", "elsewhere:1", 2)


def test_shards_that_the_database_forgot_are_scored_again(
    run_of_yes: RunOfYes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a crash of the server, which takes back what had not reached its disk."""
    run = run_of_yes(6)
    pool, submit, forgotten = InlineExecutor(), InlineExecutor.submit, [2, 4]
    tried: list[int] = []

    def submit_and_forget(self: InlineExecutor, *args: Any) -> Future[Any]:
        tried.append(len(tried) + 1)
        with transaction.atomic():
            future = submit(self, *args)
            transaction.set_rollback(tried[-1] in forgotten)
        return future

    monkeypatch.setattr(InlineExecutor, "submit", submit_and_forget)
    run_to_end(run, pool)
    assert (run.state, run.pass_count, len(verdicts_of(run))) == ("finished", 6, 6)
    assert (len(tried), Attempt.objects.count(), run.lease_owner) == (5, 1, "")


def test_a_run_deleted_under_way_is_dropped(run_of_yes: RunOfYes) -> None:
    run = run_of_yes(6)
    dispatcher = RunDispatcher(InlineExecutor())
    dispatcher.take(run)
    dispatcher.step(0)
    run.delete()
    dispatcher.step(0)
    assert dispatcher.is_idle


@pytest.mark.parametrize(
    ("shards_before", "state", "judged"), [(1, "cancelled", 2), (3, "finished", 6)]
)
def test_cancel_keeps_what_was_scored(
    run_of_yes: RunOfYes, shards_before: int, state: str, judged: int
) -> None:
    """A cancel that comes after the last shard has nothing left to stop."""
    run = run_of_yes(6)
    pool = Recorder()

    def cancel_after() -> None:
        if len(pool.asked) == shards_before:
            planning.cancel_run(run, by=None)

    run_to_end(run, pool, cancel_after)
    assert (run.state, run.pass_count, len(verdicts_of(run))) == (state, judged, judged)
    assert run.lease_owner == ""


def test_holds_are_renewed_in_time(run_of_yes: RunOfYes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease, "RENEW_SECONDS", 0)
    run = run_of_yes(6)
    dispatcher = RunDispatcher(InlineExecutor())
    dispatcher.take(run)
    before = Run.objects.get().lease_expires_at
    dispatcher.step(0)
    after = Run.objects.get().lease_expires_at
    assert before is not None
    assert after is not None
    assert after > before


class TestFaults:
    def test_a_shard_that_crashes_thrice_becomes_errors_and_the_run_goes_on(
        self, run_of_yes: RunOfYes
    ) -> None:
        run = run_of_yes(6)
        pool = Recorder()
        pool.faults["first", 2] = [BrokenProcessPool() for _ in range(9)]
        run_to_end(run, pool)
        assert [verdict for _, _, verdict in verdicts_of(run)] == [
            "pass",
            "pass",
            "error",
            "error",
            "pass",
            "pass",
        ]
        assert {row[6] for row in rows_of(run)} == {"", "worker_crashed"}
        assert (run.state, pool.restarts, pool.asked.count(("first", 2))) == ("finished", 3, 3)

    def test_innocent_shards_under_way_are_not_counted_as_crashing(
        self, run_of_yes: RunOfYes
    ) -> None:
        run = run_of_yes(8)
        pool = Recorder(processes=2)
        for shard in (1, 2, 3):  # all three are lost with the pool, only the second is guilty
            pool.faults["first", shard] = [BrokenProcessPool()]
        pool.faults["first", 2] *= 9
        run_to_end(run, pool)
        tries = list(Shard.objects.order_by("number").values_list("try_count", flat=True))
        assert tries == [0, 3, 0, 0]
        assert verdicts_of(run)[2:4] == [(3, 0, "error"), (4, 0, "error")]
        assert run.error_count == 2

    def test_a_shard_the_broken_pool_does_not_take_is_innocent(self, run_of_yes: RunOfYes) -> None:
        run = run_of_yes(4)
        pool = Recorder()
        pool.is_broken = True
        run_to_end(run, pool)
        assert (run.state, run.pass_count, pool.restarts) == ("finished", 4, 1)
        assert pool.asked == [("first", 1), ("first", 1), ("first", 2)]
        assert set(Shard.objects.values_list("try_count", flat=True)) == {0}

    def test_a_pool_that_breaks_while_shards_are_handed_out_is_settled_first(
        self, run_of_yes: RunOfYes
    ) -> None:
        run = run_of_yes(6)
        pool = Recorder(processes=2)
        pool.faults["first", 1] = [BrokenProcessPool()]
        pool.knows_at_once = True
        run_to_end(run, pool)
        assert (run.state, run.pass_count, pool.restarts) == ("finished", 6, 1)
        assert pool.asked == [("first", n) for n in (1, 2, 1, 2, 3)]

    def test_one_crash_is_forgiven(self, run_of_yes: RunOfYes) -> None:
        run = run_of_yes(4)
        pool = Recorder()
        pool.faults["first", 1] = [BrokenProcessPool()]
        run_to_end(run, pool)
        assert (run.pass_count, run.error_count) == (4, 0)

    def test_a_shard_that_raises_thrice_becomes_errors_with_the_reason(
        self, run_of_yes: RunOfYes
    ) -> None:
        run = run_of_yes(4)
        pool = Recorder()
        pool.faults["first", 1] = [ValueError("what it said") for _ in range(9)]
        run_to_end(run, pool)
        assert rows_of(run)[0][6:8] == ("scorer_failed", "ValueError: what it said, 3 times")
        assert (run.error_count, pool.restarts) == (2, 0)

    def test_meanwhile_the_others_go_on(self, run_of_yes: RunOfYes) -> None:
        run = run_of_yes(6)
        pool = Recorder()
        pool.faults["first", 1] = [ValueError("what it said") for _ in range(9)]
        run_to_end(run, pool)
        assert pool.asked == [("first", n) for n in (1, 2, 3, 1, 1)]

    @pytest.mark.parametrize("fault", [OperationalError("disk is full"), NotStoredError()])
    def test_a_database_that_cannot_be_written_blames_no_scorer(
        self, run_of_yes: RunOfYes, fault: Exception, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(shard_scheduler, "PAUSE_SECONDS", 0.01)
        monkeypatch.setattr(run_dispatcher, "REPORT_SECONDS", 0)
        run = run_of_yes(4)
        pool = Recorder()
        pool.faults["first", 1] = [fault] * 9
        told: list[str] = []
        run_to_end(run, pool, lambda: told.append(Run.objects.get(pk=run.pk).stall_reason))
        assert (run.state, run.pass_count) == ("finished", 4)
        assert NOT_STORED in told
        assert Shard.objects.filter(try_count=0).count() == 2

    def test_it_is_told_until_a_shard_is_stored(
        self, run_of_yes: RunOfYes, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(shard_scheduler, "PAUSE_SECONDS", 0)
        run = run_of_yes(4)
        planning.plan_attempt(run)
        pool = Recorder()
        pool.faults["first", 1] = [OperationalError("disk is full")]
        scheduler = ShardScheduler(pool)
        scheduler.works.append(RunWork(run, deque(Shard.objects.values_list("pk", flat=True))))
        told = []
        while scheduler.works[0].waiting:
            scheduler.submit_waiting()
            scheduler.collect()
            told.append(scheduler.stall_reason)
        assert told == [NOT_STORED, "", ""]


def kill_idle_process(pool: ProcessPool) -> None:
    """And come back once the pool knows."""
    (process_id,) = pool.process_ids()
    os.kill(process_id, signal.SIGKILL)
    wait_until(lambda: refuses(pool))


def refuses(pool: ProcessPool) -> bool:
    try:
        pool.submit(os.getpid)
    except BrokenProcessPool:
        return True
    return False


@pytest.mark.django_db(transaction=True)
class TestRealProcesses:
    @pytest.fixture(autouse=True)
    def odd_types(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from scoring.core import registry

        monkeypatch.setattr(registry, "CUSTOM_TYPES", dict(registry.CUSTOM_TYPES))
        names = ("crash_on", "not_a_number")
        load_custom([f"tests.engine.odd_scorers.{name}" for name in names])

    def test_a_scorer_that_kills_its_process_costs_only_its_shard(
        self, site: Site, make_run: MakeRun, make_scorer: MakeScorer
    ) -> None:
        outputs = ["fine"] * 20
        outputs[9] = "boom"
        run = make_run(outputs, make_scorer("crash_on"))
        planning.plan_attempt(run)  # in this test's small shards
        site.start("worker", EVALSITE_SCORERS="tests.engine.odd_scorers.crash_on")
        wait_until(lambda: Run.objects.get().state == RunState.FINISHED)
        states = [verdict for _, _, verdict in verdicts_of(run)]
        assert states == ["pass"] * 8 + ["error"] * 2 + ["pass"] * 10
        errors = Score.objects.filter(status=1).values_list("code", "reason")
        assert set(errors) == {("worker_crashed", "the process that scored it died, 3 times")}
        assert Worker.objects.exists()

    def test_a_process_that_died_between_two_runs_costs_nothing(
        self, make_run: MakeRun, make_scorer: MakeScorer
    ) -> None:
        scorer = make_scorer("exact_match")
        first, second = (make_run(["yes"], scorer, name=name) for name in "ab")
        with ProcessPool(1) as pool:
            run_to_end(first, pool)
            kill_idle_process(pool)
            run_to_end(second, pool)
        assert (second.state, second.pass_count, second.error_count) == ("finished", 1, 0)

    def test_not_a_number_is_never_stored(self, make_run: MakeRun, make_scorer: MakeScorer) -> None:
        run = make_run(["nan", "1", "nan"], make_scorer("not_a_number"))
        run_to_end(run, InlineExecutor())
        assert [row[3:6] for row in rows_of(run)] == [(1, None, None), (0, 1.0, 0), (1, None, None)]


def test_retrying_runs_only_the_errors(
    make_run: MakeRun, make_scorer: MakeScorer, spy: Spy
) -> None:
    run = make_run(["1", "error", "0", "1", "error"], make_scorer("spy"))
    run_to_end(run, InlineExecutor())
    assert (run.error_count, len(spy.asked)) == (2, 5)
    spy.asked.clear()
    spy.answers["error"] = Spy().answer("1")
    assert planning.retry_errors(run, by=None)
    run_to_end(run, InlineExecutor())
    assert spy.asked == ["error", "error"]
    assert (run.state, run.error_count, run.pass_count) == ("finished", 0, 4)
    assert [attempt.kind for attempt in run.attempts.all()] == ["score", "retry"]


def test_a_run_that_another_process_ended_is_followed_up_once(
    run_of_yes: RunOfYes, alice: User
) -> None:
    run = run_of_yes(1)
    Run.objects.filter(pk=run.pk).update(created_by=alice)
    run_to_end(Run.objects.get(), InlineExecutor())
    seen = [list(table.objects.values()) for table in (Notice, Job, Attempt, AuditEntry)]
    assert (len(seen[0]), Job.objects.filter(kind="follow_up").count()) == (1, 1)
    run_dispatcher._finish(Run.objects.get())
    assert [list(table.objects.values()) for table in (Notice, Job, Attempt, AuditEntry)] == seen
