"""Who publishes a draft: the page a small one, the worker a large one, and each once."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from scoring.engine import drafts, imports
from scoring.engine.drafts import DraftError, case_copy, jobs
from scoring.engine.jobs import job_queue
from scoring.models import Case, DatasetVersion, Draft, Job, JobKind, User
from tests.engine.drafts.test_publishing import edited


def test_it_is_published_once(draft: Draft, alice: User) -> None:
    edited(draft, alice)
    jobs.publish_or_enqueue(draft, "Why", alice)
    with pytest.raises(DraftError, match="published meanwhile"):
        jobs.publish_or_enqueue(draft, "Why", alice)
    assert DatasetVersion.objects.count() == 2


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch, draft: Draft, alice: User) -> Draft:
    """A draft that only the worker publishes, and has been asked to."""
    monkeypatch.setattr(jobs, "MAX_INLINE_CASES", 2)
    edited(draft, alice)
    assert jobs.publish_or_enqueue(draft, "Why", alice) is None
    return draft


def test_a_large_draft_is_left_to_the_worker(large: Draft, alice: User) -> None:
    assert jobs.publish_or_enqueue(large, "Why", alice) is None  # asked twice, published once
    job = Job.objects.get(kind=JobKind.PUBLISH_DRAFT)
    job_queue.run_job(job)
    job.refresh_from_db()
    assert job.answer == {"version": 2}
    large.refresh_from_db()
    assert large.published is not None
    assert large.published.created_by == alice


def test_while_it_is_published_nothing_is_edited(large: Draft, alice: User) -> None:
    with pytest.raises(DraftError, match="being published"):
        drafts.delete_case(large, "q3", alice)


def test_a_killed_worker_leaves_no_half_version(
    large: Draft, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed between two parts of the copy; begun again, it is whole."""
    monkeypatch.setattr(case_copy, "ROWS_PER_TRANSACTION", 1)
    version = DatasetVersion.with_loading.create(dataset=large.dataset)
    case_copy.store_copies(version, list(case_copy.iterate_cases(large.based_on))[:1])
    job = Job.objects.get(kind=JobKind.PUBLISH_DRAFT)
    job_queue.run_job(job)
    assert list(DatasetVersion.objects.values_list("number", "case_count")) == [(2, 3), (1, 3)]
    DatasetVersion.with_loading.filter(pk=version.pk).update(created_at="2020-01-01T00:00Z")
    imports.remove_abandoned()
    assert not DatasetVersion.with_loading.filter(pk=version.pk).exists()
    assert Case.objects.filter(version=version.pk).count() == 0


def test_what_is_being_published_is_not_swept_away(large: Draft) -> None:
    version = DatasetVersion.with_loading.create(dataset=large.dataset)
    DatasetVersion.with_loading.filter(pk=version.pk).update(created_at="2020-01-01T00:00Z")
    imports.remove_abandoned()
    assert DatasetVersion.with_loading.filter(pk=version.pk).exists()


def test_how_far_it_is_is_counted_from_the_cases_that_are_stored(large: Draft) -> None:
    before = jobs.publish_progress(large)
    assert before.done == 0
    assert before.seconds_left is None
    version = DatasetVersion.with_loading.create(
        dataset=large.dataset, source_name="edits of version 1"
    )
    begun = timezone.now() - timedelta(seconds=10)
    DatasetVersion.with_loading.filter(pk=version.pk).update(created_at=begun)
    Case.objects.create(version=version, position=1, key="q1", input_json='"One?"')
    now = jobs.publish_progress(large)
    assert (now.done, now.total) == (1, before.total)
    assert now.seconds_left == pytest.approx(10 * (now.total - 1), rel=0.2)


def test_a_draft_that_nobody_publishes_any_more_opens_again(large: Draft) -> None:
    jobs.reopen_abandoned_drafts()
    large.refresh_from_db()
    assert large.is_publishing
    job_queue.fail_abandoned(Job.objects.get(kind=JobKind.PUBLISH_DRAFT))
    jobs.reopen_abandoned_drafts()
    large.refresh_from_db()
    assert not large.is_publishing
