"""The runner of jobs: who comes first, and what is begun again after a worker's end."""

from __future__ import annotations

import signal
from collections.abc import Callable
from concurrent.futures import Future
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone
from pytest_django.fixtures import Settings

from scoring.engine.drift import jobs, measure_series
from scoring.engine.jobs import job_queue, lease
from scoring.engine.jobs.runner import JobRunner
from scoring.engine.processes.process_pool import InlineExecutor
from scoring.models import (
    Comparison,
    DatasetVersion,
    Job,
    JobKind,
    JobState,
    Run,
    RunStep,
    Team,
    User,
    Worker,
)
from scoring.models.job import MAX_TRIES
from tests.conftest import MakeDataset, MakeOutputs
from tests.engine.tryout.test_connection_test import connected
from tests.stub.scenarios import RIGHT_KEY
from tests.stub.server import Stub
from tests.support.finished_runs import run_with
from tests.support.fixtures.sites import Site
from tests.support.run_states import queued_run
from tests.support.waiting import wait_until

MEASURE, COMPARE, TEST = (JobKind.MEASURE_DRIFT, JobKind.COMPARE, JobKind.TEST_CONNECTION)
DEAD = "elsewhere:1"  # without a time: a hold that ran out


class Waiting:
    """An executor that begins nothing, and remembers what it was given."""

    def __init__(self) -> None:
        self.given: list[Job] = []

    def submit(self, work: Callable[..., Any], job: Job) -> Future[Any]:
        self.given.append(job)
        return Future()

    def restart(self) -> None:
        """Nothing runs."""


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset([{"expected": "yes"} for _ in range(4)])


@pytest.fixture
def runs(version: DatasetVersion) -> tuple[Run, Run]:
    old, new = (run_with(version, {"close": [score] * 4}) for score in (1.0, 0.0))
    return old, new


def left(team: Team, number: int) -> None:
    job_queue.enqueue(MEASURE, team, {"dataset": str(UUID(int=number)), "series": "a"})


def test_a_person_comes_before_what_follows_runs(team: Team, alice: User) -> None:
    left(team, 1)
    left(team, 2)
    job_queue.enqueue_once(TEST, team, alice, {"connection": "1"})
    executor = Waiting()
    JobRunner(executor).step()
    assert [job.kind for job in executor.given] == [TEST, MEASURE]


def test_what_follows_runs_is_done_one_at_a_time(team: Team) -> None:
    for number in range(3):
        left(team, number)
    runner = JobRunner(InlineExecutor())
    done = []
    for _ in range(4):
        runner.step()
        done.append(Job.objects.filter(state=JobState.DONE).count())
    assert done == [1, 2, 3, 3]


def test_what_somebody_waits_for_is_theirs_and_comes_first(team: Team, alice: User) -> None:
    left(team, 1)
    left(team, 2)
    second = str(UUID(int=2))
    asked = job_queue.enqueue_once(MEASURE, team, alice, {"dataset": second, "series": "a"})
    assert (Job.objects.count(), Job.objects.get(pk=asked.pk).requested_by) == (2, alice)
    executor = Waiting()
    JobRunner(executor).step()
    assert [job.request["dataset"] == second for job in executor.given] == [True, False]


def test_a_comparison_whose_worker_died_is_done_by_the_next(runs: tuple[Run, Run]) -> None:
    old, new = runs
    request = {"baseline": str(old.uuid), "candidate": str(new.uuid)}
    job_queue.enqueue(COMPARE, old.team, request)
    Job.objects.update(state=JobState.WORKING, lease_owner=DEAD, try_count=1)
    JobRunner(InlineExecutor()).step()
    job = Job.objects.get()
    assert (job.state, job.problem, job.try_count) == (JobState.DONE, "", 2)
    assert Comparison.objects.get().figures["broke"] == 4


def test_one_that_ends_its_worker_each_time_is_given_up(runs: tuple[Run, Run]) -> None:
    job_queue.enqueue(COMPARE, runs[0].team, {"baseline": "x", "candidate": "y"})
    Job.objects.update(state=JobState.WORKING, lease_owner=DEAD, try_count=MAX_TRIES)
    JobRunner(InlineExecutor()).step()
    job = Job.objects.get()
    assert (job.state, job.problem) == (JobState.FAILED, "the worker ended meanwhile; ask again")


@pytest.mark.parametrize(("kind", "state"), [(MEASURE, JobState.WAITING), (TEST, JobState.FAILED)])
def test_a_runner_that_stops_puts_back_what_costs_nothing(
    team: Team, kind: JobKind, state: JobState
) -> None:
    job_queue.enqueue_once(kind, team, None, {"dataset": "1", "series": "a"})
    runner = JobRunner(Waiting())
    runner.step()
    Job.objects.update(state=JobState.WORKING)
    runner.stop()
    job = Job.objects.get()
    assert (job.state, job.lease_owner, lease.is_leased(job)) == (state, "", False)


def test_what_was_done_meanwhile_is_not_put_back(team: Team) -> None:
    left(team, 1)
    Job.objects.update(state=JobState.DONE)
    job_queue.requeue_job(Job.objects.get())
    assert Job.objects.get().state == JobState.DONE


def test_done_twice_it_is_there_once(runs: tuple[Run, Run]) -> None:
    """Two processes may do the same at once; the rows come out as by one."""
    old, new = runs
    for _ in range(2):
        job_queue.enqueue(
            COMPARE, old.team, {"baseline": str(old.uuid), "candidate": str(new.uuid)}
        )
        jobs.enqueue_measuring([new])
        for job in Job.objects.unfinished():
            job_queue.run_job(job)
    assert (Comparison.objects.count(), RunStep.objects.count()) == (1, 1)
    assert measure_series(old.output_set.version.dataset, "a") == 0


@pytest.mark.long("a worker is killed and another one started")
def test_a_killed_worker_leaves_no_run_uncompared(
    site: Site, version: DatasetVersion, make_outputs: MakeOutputs
) -> None:
    """Killed as soon as the runs have ended; the next worker does what follows, once."""
    first, second = (
        queued_run(make_outputs(version, [answer] * 4, series="a"), name=answer)
        for answer in ("yes", "no")
    )
    worker = site.start("worker")
    wait_until(lambda: not Run.objects.unfinished().exists())
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    assert Job.objects.filter(kind=JobKind.FOLLOW_UP).count() == 2
    site.start("worker")
    wait_until(lambda: not Job.objects.unfinished().exists())
    kept, step = Comparison.objects.get(), RunStep.objects.get()
    assert (kept.baseline, kept.candidate, kept.figures["broke"]) == (first, second, 4)
    assert (step.before, step.after, step.broke) == (first, second, 4)


def test_old_jobs_are_forgotten(team: Team) -> None:
    old, new = (job_queue.enqueue_once(TEST, team, None, {"connection": str(n)}) for n in range(2))
    yesterday = timezone.now() - timedelta(hours=25)
    Job.objects.filter(pk=old.pk).update(created_at=yesterday, state=JobState.DONE)
    Job.objects.filter(pk=new.pk).update(state=JobState.DONE)
    JobRunner(InlineExecutor()).step()
    assert list(Job.objects.all()) == [new]


def test_a_waiting_job_is_run_once(team: Team, stub: Stub) -> None:
    row = connected(team, stub.url())
    job = job_queue.enqueue_once(TEST, team, None, {"connection": str(row.uuid)})
    runner = JobRunner(InlineExecutor())
    runner.step()
    job.refresh_from_db()
    assert (job.state, job.lease_owner) == ("done", "")
    runner.step()
    assert len(stub.requests) == 1


def test_a_job_whose_worker_died_is_not_paid_twice(team: Team, stub: Stub) -> None:
    row = connected(team, stub.url())
    job = job_queue.enqueue_once(TEST, team, None, {"connection": str(row.uuid)})
    Job.objects.update(state=JobState.WORKING, lease_owner="elsewhere:1")
    JobRunner(InlineExecutor()).step()
    job.refresh_from_db()
    assert (job.state, job.problem) == ("failed", "the worker ended meanwhile; ask again")
    assert stub.requests == []


def test_a_job_that_somebody_does_is_left_alone(team: Team) -> None:
    job = job_queue.enqueue_once(TEST, team, None, {"connection": "1"})
    later = timezone.now() + timedelta(seconds=20)
    held = {"lease_owner": "elsewhere:1", "lease_expires_at": later, "state": JobState.WORKING}
    Job.objects.update(**held)
    JobRunner(InlineExecutor()).step()
    job.refresh_from_db()
    assert (job.state, job.lease_owner) == ("working", "elsewhere:1")


def test_a_real_worker_answers_while_the_person_waits(
    site: Site, team: Team, stub: Stub, settings: Settings
) -> None:
    row = connected(team, stub.url())
    shared = {"EVALSITE_ENCRYPTION_KEY": settings.EVALSITE_ENCRYPTION_KEY}
    site.start("worker", **shared, EVALSITE_MODEL_HOSTS=",".join(stub.hosts))
    wait_until(Worker.objects.exists)
    for _ in range(2):  # the first one imports the client
        job = job_queue.enqueue_once(TEST, team, None, {"connection": str(row.uuid)})
        wait_until(lambda: not Job.objects.get(pk=job.pk).is_open)  # noqa: B023
    job.refresh_from_db()
    assert job.answer["is_ok"], job.answer
    assert RIGHT_KEY not in site.log
