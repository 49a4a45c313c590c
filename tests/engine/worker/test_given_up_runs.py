"""A run that cannot be brought to its end is given up with its cause; the worker goes on."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import OperationalError, connection

from scoring.engine.processes.process_pool import InlineExecutor
from scoring.engine.runs import lifecycle, notifications, planning
from scoring.engine.runs.progress import run_progress
from scoring.engine.worker import run_dispatcher, shard_scheduler
from scoring.engine.worker.run_dispatcher import RunDispatcher, run_to_end
from scoring.models import AuditEntry, Job, Notice, Run, RunScorer, RunState, User
from tests.support.fixtures.runs import MakeRun, MakeScorer, RunOfYes, verdicts_of

pytestmark = pytest.mark.django_db

STEPS = {
    "planning": (planning, "plan_attempt"),
    "services": (run_dispatcher, "run_needs_services"),
    "summarising": (run_dispatcher, "summarize_run"),
    "finishing": (notifications, "notify_run_end"),
}


class Broken:
    """A step that fails for the run of that name, and else is the real one."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, step: str, name: str = "broken") -> None:
        owner, function = STEPS[step]
        self._real, self._name = getattr(owner, function), name
        self.fault: Exception = OverflowError("9000000000000000000 is too large")
        self.is_mended = False
        monkeypatch.setattr(owner, function, self)

    def __call__(self, run: Run, *rest: Any) -> Any:
        if run.name == self._name and not self.is_mended and not run.failure:
            raise self.fault
        return self._real(run, *rest)


@pytest.fixture
def two(make_run: MakeRun, make_scorer: MakeScorer) -> tuple[Run, Run]:
    """One that is going to break, and a later one."""
    scorer = make_scorer("exact_match")
    return make_run(["yes"] * 3, scorer, name="broken"), make_run(["yes"] * 3, scorer, name="sound")


def work_off(dispatcher: RunDispatcher) -> None:
    dispatcher.take_waiting()
    while not dispatcher.is_idle:
        dispatcher.step(0)


def read(run: Run) -> Run:
    return Run.objects.get(pk=run.pk)


@pytest.mark.parametrize("step", STEPS)
def test_a_fault_of_one_run_ends_that_run_alone(
    two: tuple[Run, Run], monkeypatch: pytest.MonkeyPatch, alice: User, step: str
) -> None:
    broken, sound = two
    Run.objects.filter(pk=broken.pk).update(created_by=alice)
    Broken(monkeypatch, step)
    dispatcher = RunDispatcher(InlineExecutor())
    work_off(dispatcher)
    assert (read(sound).state, read(sound).failure) == ("finished", "")
    given_up = read(broken)
    cause = "OverflowError: 9000000000000000000 is too large"
    assert (given_up.state, given_up.failure) == ("cancelled", cause)
    assert (given_up.lease_owner, given_up.lease_expires_at) == ("", None)
    assert given_up.finished_at is not None
    entry = AuditEntry.objects.filter(target_id=broken.uuid).order_by("pk").last()
    assert entry is not None
    assert (entry.action, entry.new["cause"]) == ("run.cancelled", cause)
    assert Notice.objects.get(run=broken).text == f"broken was given up: {cause}"
    assert Job.objects.filter(request={"run": str(broken.uuid)}).exists()
    work_off(dispatcher)  # nothing takes it up again by itself
    assert read(broken).state == RunState.CANCELLED


def test_it_is_resumed_once_the_cause_is_mended(
    two: tuple[Run, Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, _ = two
    fault = Broken(monkeypatch, "summarising")
    work_off(RunDispatcher(InlineExecutor()))
    given_up = read(broken)
    assert len(verdicts_of(given_up)) == 3  # what was scored is kept
    assert planning.resume_run(given_up, by=None)
    assert read(broken).failure == ""
    fault.is_mended = True
    work_off(RunDispatcher(InlineExecutor()))
    assert (read(broken).state, read(broken).pass_count) == ("finished", 3)


def test_it_can_be_deleted(two: tuple[Run, Run], monkeypatch: pytest.MonkeyPatch) -> None:
    broken, _ = two
    Broken(monkeypatch, "summarising")
    work_off(RunDispatcher(InlineExecutor()))
    lifecycle.delete_run(read(broken), by=None)
    assert not Run.objects.filter(pk=broken.pk).exists()


def test_a_cancel_meanwhile_ends_it_too(
    two: tuple[Run, Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, _ = two
    Broken(monkeypatch, "summarising")
    dispatcher = RunDispatcher(InlineExecutor())
    dispatcher.take_waiting()
    assert planning.cancel_run(read(broken), by=None)
    while not dispatcher.is_idle:
        dispatcher.step(0)
    assert (read(broken).state, read(broken).failure[:13]) == ("cancelled", "OverflowError")


def test_a_run_that_cannot_even_be_given_up_is_left_alone_for_a_while(
    two: tuple[Run, Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, sound = two
    Broken(monkeypatch, "planning")

    def refuse(*_: object) -> bool:
        raise ValueError("no")

    monkeypatch.setattr(planning, "give_up_run", refuse)
    dispatcher = RunDispatcher(InlineExecutor())
    work_off(dispatcher)
    assert read(sound).state == RunState.FINISHED
    asked: list[Run] = []
    monkeypatch.setattr(dispatcher, "take", asked.append)
    dispatcher.take_waiting()
    assert asked == []
    monkeypatch.setattr(run_dispatcher.time, "monotonic", lambda: 1e12)
    dispatcher.take_waiting()
    assert asked == [broken]


@pytest.mark.parametrize("step", STEPS)
def test_a_database_that_cannot_be_written_is_no_runs_fault(
    two: tuple[Run, Run], monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    Broken(monkeypatch, step).fault = OperationalError("database is locked")
    with pytest.raises(OperationalError):
        work_off(RunDispatcher(InlineExecutor()))
    assert not Run.objects.exclude(failure="").exists()


def test_a_run_deleted_before_it_is_planned_is_dropped(
    two: tuple[Run, Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, sound = two
    real = planning.plan_attempt

    def plan(run: Run) -> Any:
        if run.name == "broken":
            RunScorer.objects.filter(run=run).delete()
            Run.objects.filter(pk=run.pk).delete()
        return real(run)

    monkeypatch.setattr(planning, "plan_attempt", plan)
    work_off(RunDispatcher(InlineExecutor()))
    assert read(sound).state == RunState.FINISHED
    assert not Run.objects.filter(pk=broken.pk).exists()


def test_a_shard_whose_errors_cannot_be_stored_ends_its_run(
    two: tuple[Run, Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, sound = two

    def execute(shard: int) -> None:
        from scoring.engine.runs.execution import execute_shard
        from scoring.models import Shard

        if Shard.objects.get(pk=shard).attempt.run_id == broken.pk:
            raise ValueError("cannot be scored")
        execute_shard(shard)

    def fail(*_: object) -> None:
        raise TypeError("cannot be stored")

    monkeypatch.setattr(shard_scheduler, "execute_shard", execute)
    monkeypatch.setattr(shard_scheduler, "fail_shard", fail)
    work_off(RunDispatcher(InlineExecutor()))
    assert read(sound).state == RunState.FINISHED
    assert read(broken).failure == "TypeError: cannot be stored"


def test_the_cause_is_one_line_that_is_stored_everywhere(run_of_yes: RunOfYes) -> None:
    run = run_of_yes(1)
    assert planning.give_up_run(run, "a\n\0b\ud83d " + "x" * 999)
    stored = read(run).failure
    assert (stored[:4], len(stored)) == ("a b ", planning.FAILURE_CHARS)
    assert not planning.give_up_run(run, "again")
    assert run_progress(read(run)).cause is None


def test_whoever_waits_for_the_run_is_told(
    two: tuple[Run, Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, _ = two
    Broken(monkeypatch, "summarising")
    run_to_end(broken, InlineExecutor())
    assert (broken.state, broken.failure[:13]) == ("cancelled", "OverflowError")


@pytest.mark.sqlite  # whose sums alone overflow so
def test_a_sum_that_overflows_is_the_runs_fault(
    two: tuple[Run, Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As counts of tokens did that an endpoint invented, in databases of earlier versions."""
    broken, sound = two

    def summarize(run: Run) -> None:
        if run.name == "broken":
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT sum(x) FROM (SELECT 9223372036854775807 x UNION ALL SELECT 1)"
                )
                cursor.fetchone()

    monkeypatch.setattr(run_dispatcher, "summarize_run", summarize)
    work_off(RunDispatcher(InlineExecutor()))
    assert read(broken).failure == "OperationalError: integer overflow"
    assert read(sound).state == RunState.FINISHED
