"""What a comparison's page says while the worker works it out."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from scoring.engine.compare import jobs as compare_jobs
from scoring.engine.jobs import job_queue, lease
from scoring.models import DatasetVersion, Job, JobState, Run, Worker
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with
from tests.support.html import Reader
from tests.support.undone import undone

CASES = 4
POLL = {"HX-Request": "true", "HX-Target": "waiting"}
SCORES = "scores of close, scorer 1 of 3"


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset([{"key": f"q{n}"} for n in range(CASES)])


@pytest.fixture
def runs(version: DatasetVersion, monkeypatch: pytest.MonkeyPatch) -> list[Run]:
    """Large ones: the baseline and two candidates; a worker is alive."""
    monkeypatch.setattr(compare_jobs, "MAX_INLINE_PAIRS", CASES - 1)
    now = timezone.now()
    Worker.objects.create(name=lease.own_name(), seen_at=now, started_at=now)
    return [
        run_with(version, {"close": [score] * CASES}, name=f"{score}") for score in (0.9, 0.2, 0.3)
    ]


def url(baseline: Run, *candidates: Run) -> str:
    asked = [("baseline", baseline.uuid), *(("candidate", run.uuid) for run in candidates)]
    return f"{reverse('compare', args=[baseline.team.slug])}?{urlencode(asked)}"


def begin(candidate: Run, share: float, seconds_left: float | None, **told: Any) -> None:
    """The worker holds the job and has told so much."""
    job = Job.objects.get(request__candidate=str(candidate.uuid))
    assert lease.acquire(job)
    answer = {"doing": SCORES, "done": 1_200, "total": 4_000, **told}
    answer |= {"share": share, "seconds_left": seconds_left}
    Job.objects.filter(pk=job.pk).update(state=JobState.WORKING, answer=answer)


def words(answer: HttpResponse) -> str:
    """All text of the page's middle, or of its part that was asked for, as one line."""
    page = answer.text
    middle = page[page.index("<main") : page.index("</main>")] if "<main" in page else page
    return " ".join(Reader(middle).text.split())


def bar(page: str) -> dict[str, str | None]:
    (found,) = [attributes for tag, attributes in Reader(page).elements if tag == "progress"]
    return {name: found.get(name) for name in ("max", "value")}


def said(page: str) -> str:
    return page.partition('data-says="compared"')[2].partition(">")[2].partition("<")[0]


def test_it_says_what_is_done_and_how_long_the_rest_takes(bobs: Client, runs: list[Run]) -> None:
    address = url(*runs[:2])
    bobs.get(address)
    begin(runs[1], 0.41, 5.2)
    for headers in ({}, POLL):
        answer = bobs.get(address, headers=headers)
        assert "Scores of close, scorer 1 of 3: 1,200 of 4,000" in words(answer)
        assert "about 6 s left" in words(answer)
        assert bar(answer.text) == {"max": "1", "value": "0.410"}


def test_time_left_is_told_as_exactly_as_it_is_known(
    bobs: Client, runs: list[Run], subtests: pytest.Subtests
) -> None:
    cases: list[tuple[float | None, str]] = [
        (0.2, "about 1 s left"),
        (59.5, "1 min left"),
        (190.0, "3 min left"),
        (None, ""),
    ]
    for seconds, text in cases:
        with subtests.test(seconds=seconds, text=text), undone():
            bobs.get(url(*runs[:2]))
            begin(runs[1], 0.5, seconds)
            answer = words(bobs.get(url(*runs[:2])))
            assert text in answer
            assert (" left" in answer) == bool(text)


def test_a_stage_that_counts_no_pairs_names_none(bobs: Client, runs: list[Run]) -> None:
    bobs.get(url(*runs[:2]))
    begin(runs[1], 0.3, 4.0, doing="counting what changed", done=0, total=0)
    answer = words(bobs.get(url(*runs[:2])))
    assert "Counting what changed about 4 s left" in answer


def test_before_the_worker_begins_nothing_is_promised(bobs: Client, runs: list[Run]) -> None:
    answer = bobs.get(url(*runs[:2]))
    assert "Waiting for the worker" in words(answer)
    assert bar(answer.text) == {"max": None, "value": None}
    assert "left" not in words(answer)


@pytest.mark.parametrize("gone", ["worker", "hold"])
def test_what_a_killed_worker_told_is_not_told_on(bobs: Client, runs: list[Run], gone: str) -> None:
    bobs.get(url(*runs[:2]))
    begin(runs[1], 0.41, 5.2)
    if gone == "worker":
        Worker.objects.update(seen_at=timezone.now() - timedelta(minutes=1))
    else:
        Job.objects.update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    answer = bobs.get(url(*runs[:2]))
    text = "No worker: start manage.py worker." if gone == "worker" else "Waiting for the worker"
    assert text in words(answer)
    assert (
        said(answer.text) == f"Comparing: {'standing still' if gone == 'worker' else 'not begun'}"
    )
    assert ("1,200" in words(answer), " left" in words(answer)) == (False, False)


def test_it_is_read_out_at_each_quarter(
    bobs: Client, runs: list[Run], subtests: pytest.Subtests
) -> None:
    cases: list[tuple[float, str]] = [
        (0.0, "begun"),
        (0.249, "begun"),
        (0.25, "a quarter done"),
        (0.5, "half done"),
        (0.8, "three quarters done"),
        (1.0, "three quarters done"),
    ]
    for share, text in cases:
        with subtests.test(share=share, text=text), undone():
            bobs.get(url(*runs[:2]))
            begin(runs[1], share, 5.2)
            answer = bobs.get(url(*runs[:2]), headers=POLL)
            assert said(answer.text) == f"Comparing: {text}"
            assert answer.text.count("aria-live") == 1


def test_what_changed_is_read_out_at_the_end(bobs: Client, runs: list[Run]) -> None:
    bobs.get(url(*runs[:2]))
    job_queue.run_job(Job.objects.get())
    answer = bobs.get(url(*runs[:2]), headers=POLL)
    assert said(answer.text).startswith("4 of 4 cases broke")


# Several candidates.


def test_each_of_several_runs_says_how_far_it_is(bobs: Client, runs: list[Run]) -> None:
    bobs.get(url(*runs))
    begin(runs[1], 0.5, 5.2)
    answer = bobs.get(url(*runs))
    assert "0 of 2 runs compared" in words(answer)
    assert "Scores of close, scorer 1 of 3: 1,200 of 4,000" in words(answer)
    assert "Waiting for the worker" in words(answer)
    assert bar(answer.text) == {"max": "2", "value": "0.500"}
    assert " left" not in words(answer)  # nothing is known of the other


def test_of_several_runs_the_last_one_decides_how_long_it_takes(
    bobs: Client, runs: list[Run]
) -> None:
    bobs.get(url(*runs))
    begin(runs[1], 0.5, 5.2)
    begin(runs[2], 0.25, 11.0)
    answer = bobs.get(url(*runs))
    assert "about 11 s left" in words(answer)
    assert bar(answer.text) == {"max": "2", "value": "0.750"}
    job_queue.run_job(Job.objects.get(request__candidate=str(runs[1].uuid)))
    answer = bobs.get(url(*runs), headers=POLL)
    assert "1 of 2 runs compared" in words(answer)
    assert bar(answer.text) == {"max": "2", "value": "1.250"}
    assert said(answer.text) == "Comparing: half done"
    job_queue.run_job(Job.objects.get(request__candidate=str(runs[2].uuid)))
    answer = bobs.get(url(*runs), headers=POLL)
    assert said(answer.text) == "2 runs compared"
    assert answer.headers["HX-Retarget"] == "#main"


def test_waiting_costs_few_queries_however_many_runs(bobs: Client, runs: list[Run]) -> None:
    for chosen in (runs[:2], runs):
        bobs.get(url(*chosen))
        with CaptureQueriesContext(connection) as captured:
            bobs.get(url(*chosen))
        assert len([q for q in captured if q["sql"].startswith("INSERT")]) == 0
        assert len([q for q in captured if "'working'" in q["sql"]]) <= len(chosen)
