"""What pages ask of the worker: done once, and answered or explained."""

from __future__ import annotations

import logging
from datetime import timedelta
from threading import Event
from typing import Any

import pytest
from django.db import transaction
from django.utils.module_loading import import_string

from scoring.engine.jobs import job_queue
from scoring.engine.tryout import connection_test
from scoring.models import Job, JobKind, JobState, Team, User
from scoring.models.job import JobQuerySet
from tests.support.concurrency import SECONDS, call_all_at_once, call_at_once, wait_for_all

TEST = JobKind.TEST_CONNECTION


def test_asking_the_same_twice_asks_once(team: Team, alice: User, charlie: User) -> None:
    def ask(request: Any, team: Team = team) -> Job:
        return job_queue.enqueue_once(TEST, team, alice, request)

    first = ask({"connection": "1"})
    assert ask({"connection": "1"}) == first
    assert ask({"connection": "2"}) != first
    assert ask({"connection": "1"}, Team.objects.get(slug="elsewhere")) != first
    Job.objects.filter(pk=first.pk).update(state=JobState.DONE)
    assert ask({"connection": "1"}) != first
    assert first.requested_by == alice


def test_only_a_waiting_job_makes_another_needless(team: Team) -> None:
    """One that runs already may not see the latest rows."""
    job_queue.enqueue(TEST, team, {"connection": "1"})
    for state, count in ((JobState.WAITING, 1), (JobState.WORKING, 2), (JobState.DONE, 3)):
        Job.objects.update(state=state)
        job_queue.enqueue(TEST, team, {"connection": "1"})
        assert Job.objects.count() == count


def test_a_job_that_breaks_says_so_and_tells_no_secret(
    team: Team, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def breaks(job: Job) -> dict[str, Any]:
        return {}["nothing"]  # type: ignore[no-any-return]

    monkeypatch.setattr(connection_test, "run_connection_test", breaks)
    job = job_queue.enqueue_once(TEST, team, None, {})
    with caplog.at_level(logging.ERROR):
        job_queue.run_job(job)
    job.refresh_from_db()
    assert (job.state, job.problem) == ("failed", "it failed with KeyError")
    assert str(job.uuid) in caplog.text


def test_every_kind_of_job_has_a_function() -> None:
    assert set(job_queue.HANDLERS) == set(JobKind)
    assert all(callable(import_string(path)) for path in job_queue.HANDLERS.values())


def test_a_job_of_a_kind_that_this_worker_does_not_know_fails(team: Team) -> None:
    job = Job.objects.create(team=team, kind="of_a_newer_version", request={})
    job_queue.run_job(job)
    job.refresh_from_db()
    assert (job.state, job.problem) == (JobState.FAILED, "it failed with KeyError")


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ({"a\x00": ["\ud800b", 1, None, True]}, {"a�": ["�b", 1, None, True]}),
        ({"when": timedelta(1)}, {"when": "1 day, 0:00:00"}),
    ],
)
def test_an_answer_is_made_keepable(value: Any, kept: Any) -> None:
    assert job_queue.without_nul(value) == kept


def test_an_infinite_number_is_no_answer() -> None:
    with pytest.raises(ValueError, match="Out of range"):
        job_queue.without_nul({"x": float("inf")})


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("waits", [False, True])
def test_what_many_ask_for_at_once_is_asked_for_once(
    team: Team, alice: User, monkeypatch: pytest.MonkeyPatch, waits: bool
) -> None:
    monkeypatch.setattr(JobQuerySet, "create", wait_for_all(JobQuerySet.create))
    request = {"connection": "1"}
    if waits:
        call_at_once(lambda: job_queue.enqueue_once(TEST, team, alice, request))
    else:
        call_at_once(lambda: job_queue.enqueue(TEST, team, request))
    assert Job.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_job_that_waits_is_not_begun_before_what_it_was_asked_for_is_there(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else it would miss the rows that whoever finds it waiting is about to store."""
    seen: list[str] = []
    is_asked, is_running = Event(), Event()

    def look(job: Job) -> dict[str, Any]:
        seen.append(Team.objects.get(pk=job.team_id).name)
        is_running.set()
        return {}

    def store() -> None:
        with transaction.atomic():
            Team.objects.filter(pk=team.pk).update(name="Renamed")
            job_queue.enqueue(TEST, team, {})
            is_asked.set()
            is_running.wait(SECONDS)

    def work() -> None:
        is_asked.wait(10)
        job_queue.run_job(Job.objects.get())

    monkeypatch.setattr(connection_test, "run_connection_test", look)
    job_queue.enqueue(TEST, team, {})
    call_all_at_once([store, work])
    assert seen == ["Renamed"]
    assert Job.objects.get().state == JobState.DONE
