"""Which jobs may be begun, and which are forgotten."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from scoring.models import Job, JobKind, JobState, Team
from scoring.models.job import MAX_TRIES, RETENTION


@pytest.mark.parametrize(
    ("kind", "state", "try_count", "can_start"),
    [
        (JobKind.TRY_SCORER, JobState.WAITING, 0, True),
        (JobKind.TRY_SCORER, JobState.WORKING, 1, False),
        (JobKind.COMPARE, JobState.WORKING, MAX_TRIES - 1, True),
        (JobKind.COMPARE, JobState.WORKING, MAX_TRIES, False),
        (JobKind.COMPARE, JobState.WAITING, MAX_TRIES, True),
        (JobKind.COMPARE, JobState.DONE, 0, False),
        (JobKind.COMPARE, JobState.FAILED, 0, False),
    ],
)
def test_only_what_is_repeatable_is_begun_again(
    kind: JobKind, state: JobState, try_count: int, can_start: bool
) -> None:
    assert Job(kind=kind, state=state, try_count=try_count).can_start == can_start


def test_progress_is_kept_while_the_job_is_worked_on(team: Team) -> None:
    job = Job.objects.create(team=team, kind=JobKind.COMPARE, state=JobState.WORKING)
    assert job.store_progress({"done": 1})
    job.refresh_from_db()
    assert job.answer == {"done": 1}
    Job.objects.update(state=JobState.FAILED)
    assert not job.store_progress({"done": 2})


@pytest.mark.parametrize(
    ("kind", "state", "is_forgotten"),
    [
        (JobKind.COMPARE, JobState.DONE, True),
        (JobKind.COMPARE, JobState.WAITING, False),
        (JobKind.TRY_SCORER, JobState.WAITING, True),
    ],
)
def test_of_old_jobs_only_what_follows_a_change_is_still_done(
    team: Team, kind: JobKind, state: JobState, is_forgotten: bool
) -> None:
    for days in (0, 1):
        job = Job.objects.create(team=team, kind=kind, state=state)
        created = timezone.now() - days * (RETENTION + timedelta(minutes=1))
        Job.objects.filter(pk=job.pk).update(created_at=created)
    Job.objects.delete_expired()
    assert Job.objects.count() == (1 if is_forgotten else 2)
