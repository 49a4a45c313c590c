"""What is said of a site as a whole."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from scoring.engine.operations.site_figures import Queue, SiteFigures, read_site_figures
from scoring.engine.runs import planning
from scoring.engine.runs.execution import execute_shard
from scoring.models import (
    Attempt,
    Job,
    JobKind,
    JobState,
    OutgoingMail,
    Run,
    RunState,
    Shard,
    Team,
    Upload,
    Worker,
)
from tests.support.fixtures.runs import RunOfYes

pytestmark = pytest.mark.django_db

QUERIES = 7


def queue(name: str) -> Queue:
    (found,) = [each for each in read_site_figures().queues if each.name == name]
    return found


def test_an_idle_site_has_nothing_to_do() -> None:
    names = ("runs", "shards", "uploads", "jobs", "mail")
    assert read_site_figures() == SiteFigures([], [Queue(name, 0) for name in names], 0)


def test_living_workers_are_counted_the_eldest_first() -> None:
    now = timezone.now()
    for name, hours, processes in (("b:1", 1, 2), ("a:1", 2, 4)):
        started = now - timedelta(hours=hours)
        Worker.objects.create(name=name, started_at=started, seen_at=now, process_count=processes)
    Worker.objects.create(name="gone:1", started_at=now, seen_at=now - timedelta(minutes=5))
    figures = read_site_figures()
    assert [worker.name for worker in figures.workers] == ["a:1", "b:1"]
    assert figures.process_count == 6


def test_shards_are_open_until_they_are_scored(
    run_of_yes: RunOfYes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planning, "SHARD_OUTPUTS", 2)
    planning.plan_attempt(run_of_yes(5))
    attempt = Attempt.objects.get()
    assert queue("runs").length == 1
    assert queue("shards") == Queue("shards", 3, attempt.created_at)
    execute_shard(Shard.objects.earliest("number").pk)
    figures = read_site_figures()
    assert (figures.outputs_a_minute, figures.queues[1].length) == (2, 2)


def test_what_was_scored_before_the_last_minute_is_no_rate(run_of_yes: RunOfYes) -> None:
    planning.plan_attempt(run_of_yes(2))
    execute_shard(Shard.objects.get().pk)
    Attempt.objects.update(finished_at=timezone.now())
    assert read_site_figures().outputs_a_minute == 2
    Shard.objects.update(done_at=timezone.now() - timedelta(seconds=61))
    assert read_site_figures().outputs_a_minute == 0


def test_a_cancelled_run_leaves_nothing_to_do(run_of_yes: RunOfYes) -> None:
    planning.plan_attempt(run_of_yes(2))
    Run.objects.update(state=RunState.CANCELLED)
    assert (queue("runs").length, queue("shards")) == (0, Queue("shards", 0))


def test_jobs_uploads_and_mail_wait(team: Team) -> None:
    first = Job.objects.create(team=team, kind=JobKind.COMPARE)
    Job.objects.create(team=team, kind=JobKind.COMPARE, state=JobState.WORKING)
    Job.objects.create(team=team, kind=JobKind.COMPARE, state=JobState.DONE)
    for number, state in enumerate(("received", "checking", "loading", "done")):
        Upload.objects.create(team=team, state=state, stored_name=f"{number}", size_bytes=1)
    url = "https://evals.example.org/"
    mail = OutgoingMail.objects.create(address="ada@example.org", link=url)
    OutgoingMail.objects.create(address="bob@example.org", link=url, next_try_at=None)  # given up
    assert queue("jobs") == Queue("jobs", 2, first.created_at)
    assert queue("uploads") == Queue("uploads", 2)
    assert queue("mail") == Queue("mail", 1, mail.created_at)


def test_it_takes_seven_queries(run_of_yes: RunOfYes) -> None:
    planning.plan_attempt(run_of_yes(2))
    with CaptureQueriesContext(
        connection,
    ) as asked:
        read_site_figures()
    assert len(asked) == QUERIES
