"""A drift page whose runs the worker has yet to measure looks for the figures by itself."""

from __future__ import annotations

from collections.abc import Callable
from html import unescape

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from scoring.engine.drift import jobs
from scoring.engine.jobs import job_queue, lease
from scoring.engine.jobs.progress import JobProgress
from scoring.models import DatasetVersion, Job, User
from tests.conftest import MakeDataset
from tests.support.drift_runs import run_in_week
from tests.support.html import on_one_line

BrowserOf = Callable[[User], Client]
POLL = {"HX-Request": "true", "HX-Target": "measuring"}


@pytest.fixture
def version(make_dataset: MakeDataset, monkeypatch: pytest.MonkeyPatch) -> DatasetVersion:
    """Two runs too large to be measured while somebody waits."""
    monkeypatch.setattr(jobs, "MAX_INLINE_OUTPUTS", 3)
    made = make_dataset([{"key": f"q{number}", "tags": ["billing"]} for number in range(4)])
    for week, letters in enumerate(["pppp", "ppff"]):
        run_in_week(made, week, 0.8, letters)
    return made


def url_of(version: DatasetVersion, query: str = "") -> str:
    return reverse("dataset_drift", args=[version.dataset.uuid]) + query


def root(html: str) -> str:
    """The opening tag of the part that waits."""
    return unescape(html.partition('id="measuring"')[2].partition(">")[0])


def test_the_page_waits_and_is_then_shown_anew(bobs: Client, version: DatasetVersion) -> None:
    first = bobs.get(url_of(version, "?scorer=close"))
    assert f'hx-get="{url_of(version, "?scorer=close")}"' in root(first.text)
    assert 'hx-trigger="every 2s"' in root(first.text)
    assert f'href="{url_of(version, "?scorer=close")}">Refresh' in first.text
    assert "No worker: start" in first.text
    again = bobs.get(url_of(version, "?scorer=close"), headers=POLL)
    assert again.text.strip().startswith("<div")
    assert again.headers["Vary"].count("HX-Target") == 1
    job_queue.run_job(Job.objects.get())  # asked twice, left once
    ended = bobs.get(url_of(version, "?scorer=close"), headers=POLL)
    assert (ended.headers["HX-Retarget"], ended.headers["HX-Reselect"]) == ("#main", "#main")
    assert 'id="measuring"' not in ended.text
    assert "drift-flips" in ended.text


def test_how_far_the_worker_is_and_how_long_it_takes_is_shown(
    bobs: Client, version: DatasetVersion
) -> None:
    bobs.get(url_of(version))
    progress = JobProgress("figures measured", 40, 103, 40 / 103, 190.0)
    assert lease.acquire(Job.objects.get())
    Job.objects.update(state="working", answer=progress._asdict())
    again = on_one_line(bobs.get(url_of(version), headers=POLL).text)
    assert 'max="1" value="0.388"' in again
    assert "Figures measured: 40 of 103" in again
    assert "3 min left" in again


def test_the_charts_that_are_there_are_shown_meanwhile(
    bobs: Client, version: DatasetVersion
) -> None:
    assert bobs.get(url_of(version)).text.count("data-drift-mark=") == 2


def test_a_measurement_that_failed_is_said_and_asked_for_only_on_demand(
    bobs: Client, version: DatasetVersion
) -> None:
    bobs.get(url_of(version))
    job_queue.fail_abandoned(Job.objects.get())
    for _ in range(2):
        failed = bobs.get(url_of(version))
        assert "are not measured: the worker ended meanwhile; ask again." in failed.text
        assert "hx-trigger" not in root(failed.text)
    assert not Job.objects.unfinished().exists()
    asked = bobs.get(url_of(version, "?again=1"))
    assert Job.objects.unfinished().count() == 1
    assert f'hx-get="{url_of(version)}"' in root(asked.text)


def test_looking_again_costs_no_more_than_a_page_may(
    bobs: Client,
    version: DatasetVersion,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    bobs.get(url_of(version))
    with django_assert_max_num_queries(14):
        bobs.get(url_of(version), headers=POLL)
