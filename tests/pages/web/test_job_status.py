"""What is said while somebody waits for the worker: how far it is, and how long it takes yet."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.template.loader import render_to_string
from django.utils import timezone

from evalsite.pages.web.job_status import JobStatus, open_job_status, progress_label
from evalsite.templatetags.formatting import time_left
from scoring.engine.jobs import lease
from scoring.engine.jobs.progress import JobProgress
from scoring.engine.runs import progress
from scoring.models import Job, JobKind, JobState, Team, Worker
from tests.support.html import Reader

HALF = JobProgress("replies", 25, 50, 0.5, 11.2)

pytestmark = pytest.mark.django_db


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that lives on, however slow the machine is."""
    monkeypatch.setattr(progress, "ALIVE_SECONDS", 3600)
    now = timezone.now()
    Worker.objects.create(name=lease.own_name(), started_at=now, seen_at=now)


@pytest.fixture
def job(team: Team) -> Job:
    return Job.objects.create(team=team, kind=JobKind.PREVIEW_SCORER)


def begun(job: Job, told: JobProgress | None) -> Job:
    answer = told._asdict() if told else {}
    assert lease.acquire(job)
    Job.objects.filter(pk=job.pk).update(state=JobState.WORKING, answer=answer)
    job.refresh_from_db()
    return job


def shown(job: Job) -> Reader:
    context = {"text": "Scoring 50 cases.", "url": "/there/", "label": "Scoring", "says": "it"}
    page = render_to_string("web/_job_status.html", context | {"status": open_job_status(job)})
    return Reader(page)


def words(job: Job) -> str:
    return " ".join(shown(job).text.split())


def bar(job: Job) -> dict[str, Any]:
    (found,) = [attributes for tag, attributes in shown(job).elements if tag == "progress"]
    return {name: found.get(name) for name in ("max", "value", "aria-label")}


def test_it_says_how_many_are_done_and_how_long_the_rest_takes(job: Job, worker: None) -> None:
    begun(job, HALF)
    assert "Replies: 25 of 50 about 12 s left" in words(job)
    assert "Scoring: half done" in words(job)
    assert bar(job) == {"max": "1", "value": "0.500", "aria-label": "Scoring"}


def test_where_the_rest_is_not_known_the_time_so_far_is_told(job: Job, worker: None) -> None:
    Job.objects.update(created_at=timezone.now() - timedelta(seconds=7.5))
    begun(job, HALF._replace(seconds_left=None))
    assert "Replies: 25 of 50 7 s so far" in words(job)


@pytest.mark.parametrize("is_begun", [False, True])
def test_before_anything_is_told_the_bar_promises_nothing(
    job: Job, worker: None, is_begun: bool
) -> None:
    if is_begun:
        begun(job, None)
    assert bar(job) == {"max": None, "value": None, "aria-label": "Scoring"}
    assert f"Scoring: {'begun' if is_begun else 'not begun'}" in words(job)
    assert "0 s so far" in words(job)
    assert "left" not in words(job)


def test_without_a_worker_it_says_so_in_place_of_a_bar(job: Job) -> None:
    begun(job, HALF)
    assert "No worker: start manage.py worker." in words(job)
    assert "Scoring: standing still" in words(job)
    assert "progress" not in [tag for tag, _ in shown(job).elements]


def test_what_changes_each_second_is_read_out_by_nobody(job: Job, worker: None) -> None:
    """Only the words that seldom change are a live region; the others lie in one that is off."""
    begun(job, HALF)
    live = [
        attributes["aria-live"]
        for _, attributes in shown(job).elements
        if "aria-live" in attributes
    ]
    assert live == ["off", "polite"]


def test_without_scripts_there_is_a_way_to_look_again(job: Job, worker: None) -> None:
    assert "/there/" in [attributes.get("href") for _, attributes in shown(job).elements]


@pytest.mark.parametrize("state", [JobState.DONE, JobState.FAILED])
def test_what_has_ended_is_waited_for_no_more(job: Job, state: JobState) -> None:
    job.state = state
    assert open_job_status(job) is None
    assert open_job_status(None) is None


def test_a_clock_that_was_put_back_counts_no_time(job: Job) -> None:
    job.created_at = timezone.now() + timedelta(hours=1)
    assert JobStatus(job).seconds == 0


@pytest.mark.parametrize(
    ("share", "said"),
    [
        (None, "not begun"),
        (0.0, "begun"),
        (0.24, "begun"),
        (0.25, "a quarter done"),
        (0.5, "half done"),
        (0.99, "three quarters done"),
        (1.0, "three quarters done"),
    ],
)
def test_how_far_it_is_in_words_that_seldom_change(share: float | None, said: str) -> None:
    assert progress_label(share) == said


@pytest.mark.parametrize(
    ("seconds", "text"), [(1, "about 1 s"), (59, "about 59 s"), (60, "1 min"), (190, "3 min")]
)
def test_below_a_minute_seconds_are_told(seconds: int, text: str) -> None:
    assert time_left(seconds) == text
