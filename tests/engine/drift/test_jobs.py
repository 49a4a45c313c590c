"""Who measures a drift line, and how few queries it takes to look at it."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.engine.drift import drift_lines, jobs, measure_series
from scoring.engine.jobs import job_queue, lease
from scoring.models import DatasetVersion, Job, JobKind, JobState, Run, RunState, User
from tests.conftest import MakeDataset
from tests.support.drift_runs import run_in_week, scorer_of


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset([{"key": f"q{number}", "tags": ["all"]} for number in range(4)])


def test_a_line_of_small_runs_is_measured_on_the_spot(version: DatasetVersion, bob: User) -> None:
    for week, letters in enumerate(["pppp", "ppff"]):
        run_in_week(version, week, 0.8, letters)
    (line,) = jobs.lines_or_enqueue(version.dataset, bob)
    assert line.is_measured
    assert line.points[1].broke == 2
    assert not Job.objects.exists()


def test_how_far_the_worker_is_is_told_while_it_measures(
    version: DatasetVersion, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "MAX_INLINE_OUTPUTS", 3)
    for week, letters in enumerate(["pppp", "ppff"]):
        run_in_week(version, week, 0.8, letters)
    jobs.lines_or_enqueue(version.dataset, bob)
    seen, tell = [jobs.measurement_progress(version.dataset, ["a"])], Job.store_progress

    def told(job: Job, progress: Any) -> None:
        tell(job, progress)
        seen.append(jobs.measurement_progress(version.dataset, [job.request["series"], "another"]))

    monkeypatch.setattr(Job, "store_progress", told)
    job = Job.objects.get()
    assert lease.acquire(job)
    job_queue.run_job(job)
    assert seen[0] is None
    assert [each and each[1:3] for each in seen[1:]] == [(n, 5) for n in range(1, 6)]
    assert seen[-1] is not None
    assert seen[-1].seconds_left == 0
    assert jobs.measurement_progress(version.dataset, ["a"]) is None


def test_a_line_of_large_runs_is_left_to_the_worker(
    version: DatasetVersion, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "MAX_INLINE_OUTPUTS", 3)
    for week, letters in enumerate(["pppp", "ppff"]):
        run_in_week(version, week, 0.8, letters)
    for _ in range(2):
        (line,) = jobs.lines_or_enqueue(version.dataset, bob)
        assert not line.is_measured
        assert (line.points[1].mean, line.points[1].broke) == (0.8, None)
    job = Job.objects.get()  # asked twice, left once
    assert (job.kind, job.requested_by) == (JobKind.MEASURE_DRIFT, bob)
    job_queue.run_job(job)
    job.refresh_from_db()
    assert (job.state, job.answer) == (JobState.DONE, {"written": 5})
    (line,) = jobs.lines_or_enqueue(version.dataset, bob)
    assert (line.is_measured, line.points[1].broke) == (True, 2)


def test_a_dataset_that_is_gone_needs_no_measuring(version: DatasetVersion) -> None:
    jobs.enqueue_measurement(version.dataset, "a", None)
    version.dataset.delete()
    job = Job.objects.get()
    job_queue.run_job(job)
    job.refresh_from_db()
    assert (job.state, job.answer) == (JobState.DONE, {"written": 0})


@pytest.mark.parametrize(
    ("state", "is_left"), [(RunState.FINISHED, True), (RunState.CANCELLED, False)]
)
def test_a_finished_run_leaves_its_series_to_the_worker(
    version: DatasetVersion, state: RunState, is_left: bool
) -> None:
    run = run_in_week(version, 1, 0.8, "pppp")
    run.state = state
    jobs.enqueue_measuring([run])
    assert Job.objects.filter(kind=JobKind.MEASURE_DRIFT).exists() == is_left


def test_a_run_that_ends_while_its_series_is_measured_is_measured_after_it(
    version: DatasetVersion,
) -> None:
    """The job under way has read its runs already."""
    jobs.enqueue_measuring([run_in_week(version, 1, 0.8, "pppp")])
    Job.objects.update(state=JobState.WORKING)
    later = run_in_week(version, 2, 0.8, "ppff")
    for _ in range(2):
        jobs.enqueue_measuring([later])
    assert list(Job.objects.order_by("pk").values_list("state", flat=True)) == [
        JobState.WORKING,
        JobState.WAITING,
    ]


@pytest.mark.parametrize("count", [2, 20])
def test_lines_take_five_queries_however_many_runs(
    version: DatasetVersion, count: int, django_assert_num_queries: Any
) -> None:
    scorers = [scorer_of(version, name) for name in ("close", "same")]
    for week in range(count):
        run_in_week(version, week, 0.8, "ppff", scorers=scorers)
    measure_series(version.dataset, "a")
    dataset = Run.objects.latest("pk").output_set.version.dataset
    with django_assert_num_queries(5):
        lines = drift_lines(dataset)
        for line in lines:
            assert line.is_measured
            assert line.sentences
            assert len(line.points) == count
    assert len(lines) == 2
