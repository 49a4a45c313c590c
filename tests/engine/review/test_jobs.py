"""Large approvals and carry-overs are left to the worker: done once, begun again when killed."""

from __future__ import annotations

import pytest

from scoring.engine.drafts import case_copy
from scoring.engine.jobs import job_queue
from scoring.engine.jobs.progress import JobProgress
from scoring.engine.review import corrections, jobs
from scoring.engine.review.corrections import CorrectionError
from scoring.engine.review.jobs import (
    approve_or_enqueue,
    carry_over_or_enqueue,
    latest_jobs,
)
from scoring.models import (
    Correction,
    CorrectionState,
    Dataset,
    DatasetVersion,
    Job,
    JobKind,
    JobState,
    Output,
    OutputSet,
    OutputSetState,
    Run,
    User,
)
from tests.engine.review.test_corrections import dataset_of, propose

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _all_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "CASES_AT_ONCE", 5)
    monkeypatch.setattr(jobs, "OUTPUTS_AT_ONCE", 5)


@pytest.fixture
def made(run: Run, rita: User) -> list[Correction]:
    return [propose(run, rita, 2, "new"), propose(run, rita, 5, None)]


def enqueued(kind: JobKind) -> Job:
    return Job.objects.select_related("team", "requested_by").get(kind=kind)


def ended(kind: JobKind) -> Job:
    """The job of this kind after the worker has run it."""
    job_queue.run_job(enqueued(kind))
    return enqueued(kind)


@pytest.fixture
def approving(run: Run, made: list[Correction], erin: User) -> Dataset:
    dataset = dataset_of(run)
    assert approve_or_enqueue(dataset, made, by=erin) is None
    return dataset


def test_a_large_version_is_made_by_the_worker(
    approving: Dataset, made: list[Correction], erin: User
) -> None:
    assert set(Correction.objects.values_list("state", flat=True)) == {CorrectionState.OPEN}
    assert approve_or_enqueue(approving, made, by=erin) is None  # asked twice, made once
    job = ended(JobKind.APPROVE_CORRECTIONS)
    assert (job.state, job.answer) == (JobState.DONE, {"version": 2})
    rows = Correction.objects.values_list("state", "decided_by", "version__number")
    assert set(rows) == {(CorrectionState.APPROVED, erin.pk, 2)}
    assert DatasetVersion.objects.count() == 2


def test_a_small_version_is_made_at_once(
    run: Run, made: list[Correction], erin: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "CASES_AT_ONCE", 6)
    version = approve_or_enqueue(dataset_of(run), made, by=erin)
    assert version is not None
    assert version.number == 2
    assert not Job.objects.filter(kind=JobKind.APPROVE_CORRECTIONS).exists()


def test_what_forbids_an_approval_is_said_at_once(
    run: Run, made: list[Correction], rita: User
) -> None:
    with pytest.raises(CorrectionError, match="You cannot decide on your own"):
        approve_or_enqueue(dataset_of(run), made, by=rita)
    assert not Job.objects.filter(kind=JobKind.APPROVE_CORRECTIONS).exists()


def test_what_was_decided_meanwhile_fails_the_job(
    approving: Dataset, made: list[Correction], erin: User
) -> None:
    corrections.reject(made[:1], "no", by=erin)
    job = ended(JobKind.APPROVE_CORRECTIONS)
    assert job.state == JobState.FAILED
    assert "decided in the meantime: case-2 rejected" in job.problem
    assert Correction.objects.get(pk=made[1].pk).is_open
    assert DatasetVersion.with_loading.count() == 1


def test_progress_is_reported(approving: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[JobProgress] = []
    monkeypatch.setattr(
        Job, "store_progress", lambda _, answer: told.append(JobProgress(**answer)) or True
    )
    ended(JobKind.APPROVE_CORRECTIONS)
    assert (told[0].doing, told[0].total) == ("cases stored", 6)


def test_a_killed_worker_leaves_no_half_version(
    approving: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert approving.latest is not None
    left = DatasetVersion.with_loading.create(
        dataset=approving, source_name=corrections.source_name(approving.latest)
    )
    case_copy.store_copies(left, list(case_copy.iterate_cases(approving.latest))[:1])
    Job.objects.filter(kind=JobKind.APPROVE_CORRECTIONS).update(try_count=1)
    assert ended(JobKind.APPROVE_CORRECTIONS).answer == {"version": 2}
    assert not DatasetVersion.with_loading.filter(pk=left.pk).exists()


def test_a_job_that_was_done_before_its_worker_ended_says_so(approving: Dataset) -> None:
    ended(JobKind.APPROVE_CORRECTIONS)
    assert ended(JobKind.APPROVE_CORRECTIONS).answer == {"version": 2}
    assert DatasetVersion.objects.count() == 2


def test_a_person_who_is_gone_approves_nothing(approving: Dataset) -> None:
    Job.objects.filter(kind=JobKind.APPROVE_CORRECTIONS).update(requested_by=None)
    job = ended(JobKind.APPROVE_CORRECTIONS)
    assert (job.state, job.answer) == (JobState.FAILED, {})
    assert "no longer there" in job.problem


@pytest.fixture
def latest(run: Run, made: list[Correction], erin: User) -> DatasetVersion:
    return corrections.approve(dataset_of(run), made, by=erin)


def test_many_outputs_are_copied_by_the_worker(
    run: Run, latest: DatasetVersion, erin: User
) -> None:
    assert carry_over_or_enqueue(run, latest, erin) is None
    assert carry_over_or_enqueue(run, latest, erin) is None
    job = ended(JobKind.CARRY_OVER)
    carried = OutputSet.objects.get(copied_from=run.output_set)
    assert (job.state, job.answer) == (JobState.DONE, {"outputs": str(carried.uuid)})
    assert (carried.output_count, carried.created_by) == (6, erin)
    assert carry_over_or_enqueue(run, latest, erin) == carried
    assert latest_jobs(latest.dataset) == [job]


def test_few_outputs_are_copied_at_once(
    run: Run, latest: DatasetVersion, erin: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "OUTPUTS_AT_ONCE", 6)
    carried = carry_over_or_enqueue(run, latest, erin)
    assert carried is not None
    assert carried.output_count == 6


def test_a_killed_worker_leaves_no_half_copy(run: Run, latest: DatasetVersion, erin: User) -> None:
    carry_over_or_enqueue(run, latest, erin)
    left = OutputSet.objects.create(version=latest, copied_from=run.output_set, name="half")
    case = latest.cases.get(position=1)
    Output.objects.create(output_set=left, case=case, text="half")
    Job.objects.filter(kind=JobKind.CARRY_OVER).update(try_count=1)
    assert ended(JobKind.CARRY_OVER).state == JobState.DONE
    carried = OutputSet.objects.get(copied_from=run.output_set)
    assert (carried.state, carried.output_count) == (OutputSetState.READY, 6)


def test_outputs_without_a_matching_case_fail_the_job(
    run: Run, latest: DatasetVersion, erin: User
) -> None:
    carry_over_or_enqueue(run, latest, erin)
    latest.cases.update(input_json='"another"')
    job = ended(JobKind.CARRY_OVER)
    assert (job.state, job.problem) == (
        JobState.FAILED,
        "no case of version 2 has the same input",
    )
    assert not OutputSet.objects.filter(copied_from=run.output_set).exists()
