"""Datasets are renamed, archived and deleted on the pages, each with a way back."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from evalsite.pages.web.undo import undo_from_message
from scoring.engine.datasets.lifecycle import delete_dataset
from scoring.models import Dataset, Run, RunState, Team
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with

pytestmark = pytest.mark.django_db


@pytest.fixture
def dataset(make_dataset: MakeDataset) -> Dataset:
    return make_dataset([{"input": "a"}], name="Answers").dataset


@pytest.fixture
def browser(alices: Client) -> Client:
    return alices


def listed(browser: Client, team: Team, query: str = "") -> list[str]:
    answer = browser.get(reverse("datasets", args=[team.slug]) + query)
    return [one.name for one in answer.context["page"].rows]


def undo(browser: Client, answer: object) -> str:
    """Presses Undo of the page's message."""
    (message,) = answer.context["messages"]  # type: ignore[attr-defined]
    found = undo_from_message(message)
    assert found is not None
    return browser.post(found.path, found.fields, follow=True).text


def test_a_dataset_is_renamed_and_undo_gives_the_old_name_back(
    browser: Client, dataset: Dataset
) -> None:
    url = reverse("rename_dataset", args=[dataset.uuid])
    assert 'value="Answers"' in browser.get(url).text
    answer = browser.post(url, {"name": "Questions", "seen": "0"}, follow=True)
    assert "Answers is called Questions now." in answer.text
    dataset.refresh_from_db()
    assert dataset.name == "Questions"
    undo(browser, answer)
    dataset.refresh_from_db()
    assert dataset.name == "Answers"


def test_a_name_that_is_taken_is_said_beside_the_field(
    browser: Client, dataset: Dataset, make_dataset: MakeDataset
) -> None:
    make_dataset([{}], name="Questions")
    url = reverse("rename_dataset", args=[dataset.uuid])
    answer = browser.post(url, {"name": "Questions", "seen": "0"})
    assert answer.status_code == 422
    assert "There is a dataset “Questions” already." in answer.text
    assert browser.post(url, {"name": " ", "seen": "0"}).status_code == 422


def test_a_name_that_somebody_changed_meanwhile_is_shown_first(
    browser: Client, dataset: Dataset
) -> None:
    url = reverse("rename_dataset", args=[dataset.uuid])
    browser.post(url, {"name": "First", "seen": "0"})
    answer = browser.post(url, {"name": "Second", "seen": "0"})
    assert answer.status_code == 422
    assert "after this form was opened" in answer.text
    dataset.refresh_from_db()
    assert dataset.name == "First"


def test_an_archived_dataset_is_listed_only_when_asked_for(
    browser: Client, dataset: Dataset, team: Team, make_dataset: MakeDataset
) -> None:
    make_dataset([{}], name="Other")
    url = reverse("archive_dataset", args=[dataset.uuid])
    answer = browser.post(url, follow=True)
    assert "The dataset is archived" in answer.text
    assert "Unarchive" in answer.text
    assert listed(browser, team) == ["Other"]
    assert listed(browser, team, "?archived") == ["Answers"]
    assert "Show archived datasets" in browser.get(reverse("datasets", args=[team.slug])).text
    for name in ("new_upload", "team_home"):
        assert "Answers" not in browser.get(reverse(name, args=[team.slug])).text
    assert "lists show it again" in undo(browser, answer)
    assert listed(browser, team) == ["Other", "Answers"]


def test_a_team_whose_datasets_are_all_archived_is_told_where_they_are(
    browser: Client, dataset: Dataset, team: Team
) -> None:
    browser.post(reverse("archive_dataset", args=[dataset.uuid]))
    text = browser.get(reverse("datasets", args=[team.slug])).text
    assert "All datasets are archived." in text
    assert "?archived" in text
    assert "No datasets yet" not in text


def test_a_deleted_dataset_is_restored_by_undo_or_from_the_list(
    browser: Client, dataset: Dataset, team: Team
) -> None:
    run = run_with(dataset.latest, {"close": [1]})
    url = reverse("delete_dataset", args=[dataset.uuid])
    answer = browser.post(url, follow=True)
    assert "Answers is deleted. You can restore it for 7 days." in answer.text
    assert listed(browser, team) == []
    assert "All datasets are deleted." in answer.text
    for address in (("dataset", dataset.uuid), ("run", run.uuid)):
        assert browser.get(reverse(address[0], args=[address[1]])).status_code == 404
    assert "Answers is back." in undo(browser, answer)
    assert browser.get(reverse("run", args=[run.uuid])).status_code == 200
    browser.post(url)
    assert browser.post(url).status_code == 302  # another tab was quicker
    assert listed(browser, team, "?deleted") == ["Answers"]
    restore = reverse("restore_dataset", args=[dataset.uuid])
    assert restore in browser.get(reverse("datasets", args=[team.slug]) + "?deleted").text
    assert "Answers is back." in browser.post(restore, follow=True).text
    assert "Answers is back." in browser.post(restore, follow=True).text


def test_what_prevents_a_deletion_or_a_return_is_said(
    browser: Client, dataset: Dataset, make_dataset: MakeDataset
) -> None:
    run_with(dataset.latest, {"close": [1]})
    Run.objects.update(state=RunState.QUEUED)
    url = reverse("delete_dataset", args=[dataset.uuid])
    said = browser.post(url, follow=True).text
    assert "A run of this dataset has not ended: cancel it first." in said
    Run.objects.update(state=RunState.FINISHED)
    browser.post(url)
    make_dataset([{}], name="Answers")
    answer = browser.post(reverse("restore_dataset", args=[dataset.uuid]), follow=True)
    assert "There is a dataset “Answers” by now: rename that one first." in answer.text


def test_a_viewer_may_change_nothing_of_it(bobs: Client, dataset: Dataset, team: Team) -> None:
    assert bobs.get(reverse("rename_dataset", args=[dataset.uuid])).status_code in (403, 404)
    for name in ("rename_dataset", "archive_dataset", "delete_dataset"):
        assert bobs.post(reverse(name, args=[dataset.uuid])).status_code in (403, 404)
    assert "Rename" not in bobs.get(reverse("dataset", args=[dataset.uuid])).text
    delete_dataset(dataset, None)
    page = bobs.get(reverse("datasets", args=[team.slug]) + "?deleted").text
    assert "Answers" in page
    assert reverse("restore_dataset", args=[dataset.uuid]) not in page
