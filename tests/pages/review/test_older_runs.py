"""The draft's page publishes and scores again; the runs are shown before and after."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from scoring.engine.jobs import job_queue
from scoring.models import Dataset, Job, JobKind, Run, User
from tests.pages.review.conftest import BrowserOf
from tests.support.fixtures.runs import finish


@pytest.fixture
def erins(browser_of: BrowserOf, erin: User) -> Client:
    return browser_of(erin)


@pytest.fixture
def dataset(run: Run) -> Dataset:
    return run.output_set.version.dataset


def older_url(dataset: Dataset) -> str:
    return reverse("dataset_older_runs", args=[dataset.uuid])


def accept(browser: Client, run: Run) -> None:
    browser.post(reverse("accept_case_output", args=[run.uuid, 2]), {"as": "expected"})


def publish(browser: Client, dataset: Dataset, **fields: Any) -> Any:
    url = reverse("publish_draft", args=[dataset.uuid])
    return browser.post(url, {"message": "It was wrong.", **fields})


def work() -> None:
    for job in Job.objects.select_related("team", "requested_by").filter(kind=JobKind.SCORE_AGAIN):
        job_queue.run_job(job)
    for run in Run.objects.filter(state="queued"):
        finish(run)


def test_the_draft_offers_the_runs_and_leads_to_their_figures(
    erins: Client, run: Run, dataset: Dataset
) -> None:
    accept(erins, run)
    draft = erins.get(reverse("draft", args=[dataset.uuid]))
    assert f'value="{run.uuid}" id="again-1" checked' in draft.text
    answer = publish(erins, dataset, again="yes", runs=[str(run.uuid)])
    assert answer.url == older_url(dataset)
    waiting = erins.get(answer.url)
    assert "Copying the outputs" in waiting.text
    work()
    page = erins.get(answer.url)
    again = Run.objects.get(output_set__copied_from=run.output_set)
    assert f"baseline={run.uuid}&amp;candidate={again.uuid}" in page.text
    assert "1 of 2" in page.text
    assert again.pass_count == (run.pass_count or 0) + 1
    assert "1 of 2" in erins.get(reverse("run", args=[run.uuid])).text
    assert "1 of 2" in erins.get(reverse("runs", args=[dataset.team.slug])).text


def test_publishing_only_scores_nothing(erins: Client, run: Run, dataset: Dataset) -> None:
    accept(erins, run)
    publish(erins, dataset, runs=[str(run.uuid)])
    assert not Job.objects.filter(kind=JobKind.SCORE_AGAIN).exists()
    assert older_url(dataset) in erins.get(reverse("draft", args=[dataset.uuid])).text
    page = erins.get(older_url(dataset))
    assert f'value="{run.uuid}"' in page.text
    assert erins.post(older_url(dataset), {"runs": [str(run.uuid)]}).status_code == 302
    work()
    assert Run.objects.filter(output_set__copied_from=run.output_set).count() == 1


def test_no_run_chosen_is_said(erins: Client, run: Run, dataset: Dataset) -> None:
    accept(erins, run)
    publish(erins, dataset)
    answer = erins.post(older_url(dataset), {"runs": ["other"]}, follow=True)
    assert "Select at least one run." in answer.text


def test_a_dataset_with_one_version_has_nothing_to_score_again(
    erins: Client, run: Run, dataset: Dataset
) -> None:
    assert "Nothing to score again" in erins.get(older_url(dataset)).text


def test_why_a_run_was_not_scored_again_is_said(erins: Client, run: Run, dataset: Dataset) -> None:
    accept(erins, run)
    publish(erins, dataset, again="yes", runs=[str(run.uuid)])
    run.scorers.all().delete()
    Run.objects.filter(pk=run.pk).update(suite=None)
    work()
    assert f"{run.name} was not scored again" in erins.get(older_url(dataset)).text


def test_viewers_see_the_figures_and_score_nothing(
    browser_of: BrowserOf, bob: User, run: Run, dataset: Dataset
) -> None:
    browser = browser_of(bob)
    assert browser.get(older_url(dataset)).status_code == 200
    assert browser.post(older_url(dataset), {"runs": [str(run.uuid)]}).status_code == 403
