"""Who works a comparison out: the page at once, or the worker."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from scoring.engine.compare import comparison
from scoring.engine.compare import jobs as compare_jobs
from scoring.engine.compare.comparison import NotComparableError
from scoring.engine.jobs import job_queue
from scoring.engine.processes.process_pool import InlineExecutor
from scoring.engine.runs import follow_up
from scoring.engine.worker.run_dispatcher import run_to_end
from scoring.models import (
    Baseline,
    Comparison,
    DatasetVersion,
    Job,
    JobKind,
    JobState,
    Run,
    RunState,
)
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.finished_runs import run_with
from tests.support.run_states import queued_run

pytestmark = pytest.mark.django_db
CASES = 4


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset([{"expected": "yes"} for _ in range(CASES)])


@pytest.fixture
def runs(version: DatasetVersion) -> tuple[Run, Run]:
    old, new = (run_with(version, {"close": [score] * CASES}) for score in (1.0, 0.0))
    return old, new


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of four cases are large ones."""
    monkeypatch.setattr(compare_jobs, "MAX_INLINE_PAIRS", CASES - 1)


def test_a_small_comparison_is_there_at_once(runs: tuple[Run, Run]) -> None:
    found = compare_jobs.compare_or_enqueue(*runs, by=None)
    assert found is not None
    assert (found.figures["broke"], Job.objects.count()) == (CASES, 0)


@pytest.mark.usefixtures("few")
def test_a_large_one_is_left_to_the_worker_once(runs: tuple[Run, Run]) -> None:
    assert compare_jobs.compare_or_enqueue(*runs, by=None) is None
    assert compare_jobs.compare_or_enqueue(*runs, by=None) is None
    (job,) = Job.objects.all()
    assert (job.kind, Comparison.objects.count()) == (JobKind.COMPARE, 0)
    job_queue.run_job(job)
    job.refresh_from_db()
    assert (job.state, job.problem) == (JobState.DONE, "")
    found = compare_jobs.compare_or_enqueue(*runs, by=None)
    assert found is not None
    assert found.figures["broke"] == CASES
    assert Job.objects.count() == 1


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("asks", [True, False])
def test_what_cannot_be_compared_is_refused_before_it_is_asked(
    runs: tuple[Run, Run], asks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compare_jobs, "MAX_INLINE_PAIRS", 0 if asks else CASES)
    runs[1].state = RunState.RUNNING
    with pytest.raises(NotComparableError):
        compare_jobs.compare_or_enqueue(*runs, by=None)
    assert not Job.objects.exists()


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("missing", ["baseline", "candidate"])
def test_a_job_about_a_run_that_is_gone_says_so(runs: tuple[Run, Run], missing: str) -> None:
    named = {"baseline": str(runs[0].uuid), "candidate": str(runs[1].uuid), missing: str(uuid4())}
    job = job_queue.enqueue_once(JobKind.COMPARE, runs[0].team, None, named)
    job_queue.run_job(job)
    job.refresh_from_db()
    assert job.problem == "one of the runs is no longer there"


def test_a_job_about_a_run_begun_again_says_so(runs: tuple[Run, Run]) -> None:
    Run.objects.filter(pk=runs[0].pk).update(state=RunState.RUNNING)
    named = {"baseline": str(runs[0].uuid), "candidate": str(runs[1].uuid)}
    job = job_queue.enqueue_once(JobKind.COMPARE, runs[0].team, None, named)
    job_queue.run_job(job)
    job.refresh_from_db()
    assert "is running: wait" in job.problem


def ended(version: DatasetVersion, make_outputs: MakeOutputs, *, series: str = "a") -> Run:
    """A run that the dispatcher brings to its end."""
    run = queued_run(make_outputs(version, ["yes"] * CASES, series=series))
    run_to_end(run, InlineExecutor())
    job_queue.run_waiting(run.team, JobKind.FOLLOW_UP)
    run.refresh_from_db()
    return run


def asked_pairs() -> list[tuple[str, str]]:
    asked = [job.request for job in Job.objects.filter(kind=JobKind.COMPARE).order_by("pk")]
    return [(each["baseline"], each["candidate"]) for each in asked]


def test_at_the_end_of_a_run_its_comparison_is_left_to_the_worker(
    version: DatasetVersion, make_outputs: MakeOutputs
) -> None:
    first = ended(version, make_outputs)
    assert asked_pairs() == []  # nothing came before it
    ended(version, make_outputs, series="b")
    assert asked_pairs() == []
    second = ended(version, make_outputs)
    assert asked_pairs() == [(str(first.uuid), str(second.uuid))]
    Baseline.objects.pin(first, by=None)
    third = ended(version, make_outputs)
    assert asked_pairs()[1:] == [(str(first.uuid), str(third.uuid))]


def test_what_follows_a_run_is_left_in_the_transaction_that_ends_it(
    version: DatasetVersion, make_outputs: MakeOutputs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever becomes of the process, no run has ended without it."""
    ended(version, make_outputs)
    run = queued_run(make_outputs(version, ["no"] * CASES, series="a"))

    def power_goes(_: Run) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(follow_up, "enqueue", power_goes)
        with pytest.raises(KeyboardInterrupt):
            run_to_end(run, InlineExecutor())
    run.refresh_from_db()
    assert run.is_unfinished
    run_to_end(run, InlineExecutor())
    job_queue.run_waiting(run.team, JobKind.FOLLOW_UP)
    assert (run.state, len(asked_pairs())) == (RunState.FINISHED, 1)


def test_a_run_that_ends_before_its_baseline_is_compared_when_that_ends(
    version: DatasetVersion, make_outputs: MakeOutputs
) -> None:
    first, second = (queued_run(make_outputs(version, ["yes"] * CASES, series="a")) for _ in "xy")
    run_to_end(second, InlineExecutor())
    job_queue.run_waiting(second.team, JobKind.FOLLOW_UP)
    assert asked_pairs() == []
    run_to_end(first, InlineExecutor())
    job_queue.run_waiting(first.team, JobKind.FOLLOW_UP)
    assert asked_pairs() == [(str(first.uuid), str(second.uuid))]


@pytest.mark.parametrize(("at_once", "compared"), [(CASES, [2]), (CASES - 1, [1, 2])])
def test_of_runs_that_end_together_the_newest_and_large_ones_are_compared(
    version: DatasetVersion, monkeypatch: pytest.MonkeyPatch, at_once: int, compared: list[int]
) -> None:
    monkeypatch.setattr(compare_jobs, "MAX_INLINE_PAIRS", at_once)
    runs = [run_with(version, {"close": [1.0] * CASES}) for _ in range(3)]
    compare_jobs.enqueue_comparisons(runs)
    pairs = {(str(runs[n - 1].uuid), str(runs[n].uuid)) for n in compared}
    assert set(asked_pairs()) == pairs


def test_a_cancelled_run_leaves_nothing(runs: tuple[Run, Run]) -> None:
    runs[1].state = RunState.CANCELLED
    compare_jobs.enqueue_after(runs[1])
    assert asked_pairs() == []


def test_a_run_scored_again_is_asked_for_again(runs: tuple[Run, Run]) -> None:
    comparison.compare_runs(*runs)
    assert runs[1].finished_at
    runs[1].finished_at += timedelta(seconds=1)
    assert (
        comparison.stored_comparison(*runs) is not None
    )  # it looks at the rows, not at what it was given
    runs[1].save()
    assert comparison.stored_comparison(*runs) is None


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(
    ("states", "has_failed"),
    [
        ([], False),
        ([JobState.WAITING], False),
        ([JobState.FAILED], True),
        ([JobState.FAILED, JobState.WAITING], False),
        ([JobState.DONE, JobState.FAILED], True),
    ],
)
def test_only_the_latest_try_tells_of_a_failure(
    runs: tuple[Run, Run], states: list[JobState], has_failed: bool
) -> None:
    for state in states:
        compare_jobs.compare_or_enqueue(*runs, by=None)
        Job.objects.filter(pk=Job.objects.latest("pk").pk).update(state=state)
    assert (compare_jobs.failed_job(*runs) is not None) == has_failed
    assert compare_jobs.failed_job(runs[1], runs[0]) is None


def test_kept_comparisons_of_several_runs_are_read_in_one_query(
    version: DatasetVersion, runs: tuple[Run, Run], django_assert_num_queries: Any
) -> None:
    old, new = runs
    third = run_with(version, {"close": [0.5] * CASES})
    comparison.compare_runs(old, new)
    comparison.compare_runs(old, third)
    with django_assert_num_queries(1):
        found = comparison.stored_comparisons(old, [new, third])
    assert set(found) == {new.pk, third.pk}
    Run.objects.filter(pk=new.pk).update(finished_at=timezone.now())
    assert set(comparison.stored_comparisons(old, [new, third])) == {third.pk}
