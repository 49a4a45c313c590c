"""What the page of corrections says of the worker's jobs."""

from __future__ import annotations

import pytest

from evalsite.pages.review.correction_jobs import CarriedOutputs, CorrectionJobs
from scoring.models import Dataset, Job, JobKind, JobState, Run, User

pytestmark = pytest.mark.django_db

APPROVE, CARRY = JobKind.APPROVE_CORRECTIONS, JobKind.CARRY_OVER


@pytest.fixture
def dataset(run: Run) -> Dataset:
    return run.output_set.version.dataset


def job(dataset: Dataset, kind: JobKind, state: JobState, **more: object) -> Job:
    request = {"dataset": str(dataset.uuid), **more}
    return Job.objects.create(team=dataset.team, kind=kind, state=state, request=request)


def test_without_jobs_there_is_nothing_to_show(dataset: Dataset) -> None:
    jobs = CorrectionJobs(dataset)
    assert (jobs.open, jobs.failed, jobs.carried, jobs.is_approving) == ([], [], None, False)


def test_only_an_open_approval_keeps_others_from_deciding(dataset: Dataset) -> None:
    job(dataset, CARRY, JobState.WAITING)
    assert len(CorrectionJobs(dataset).open) == 1
    assert not CorrectionJobs(dataset).is_approving
    job(dataset, APPROVE, JobState.WORKING)
    assert CorrectionJobs(dataset).is_approving


def test_the_latest_of_a_kind_counts(dataset: Dataset) -> None:
    failed = job(dataset, APPROVE, JobState.FAILED)
    Job.objects.filter(pk=failed.pk).update(problem="somebody decided meanwhile")
    (shown,) = CorrectionJobs(dataset).failed
    assert shown.failure == "Nothing was approved: somebody decided meanwhile."
    job(dataset, APPROVE, JobState.DONE)
    assert not CorrectionJobs(dataset).failed


def test_jobs_of_other_datasets_are_not_shown(dataset: Dataset) -> None:
    other = Dataset.objects.create(team=dataset.team, name="Other")
    job(other, APPROVE, JobState.WAITING)
    assert not CorrectionJobs(dataset).open


def test_carried_outputs_are_offered_until_a_run_scores_them(
    dataset: Dataset, run: Run, alice: User
) -> None:
    done = job(dataset, CARRY, JobState.DONE, run=str(run.uuid))
    Job.objects.filter(pk=done.pk).update(answer={"outputs": str(run.output_set.uuid)})
    assert CorrectionJobs(dataset).carried is None
    run.delete()
    carried = CarriedOutputs(run.output_set.name, str(run.uuid))
    assert CorrectionJobs(dataset).carried == carried
