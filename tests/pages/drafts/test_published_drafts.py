"""What becomes of a draft, and what those see who were looking at it or typing into it."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from scoring.engine import drafts
from scoring.engine.drafts import TypedCase, jobs
from scoring.models import Dataset, DatasetVersion, Draft, DraftEdit, User
from tests.conftest import MakeDataset
from tests.pages.drafts.steps import CASES, at, open_case, save, sent
from tests.pages.runs.steps import BrowserOf
from tests.support.undone import undone


@pytest.fixture
def dataset(make_dataset: MakeDataset) -> Dataset:
    version = make_dataset(CASES)
    return Dataset.objects.select_related("latest", "team").get(pk=version.dataset_id)


@pytest.fixture
def others(browser_of: BrowserOf, alice: User) -> Client:
    """The browser of somebody else in the team."""
    return browser_of(alice)


def publish(browser: Client, dataset: Dataset, message: str = "Better") -> Any:
    return browser.post(at(dataset, "publish_draft"), {"message": message}, follow=True)


def test_publishing_leads_to_what_the_version_changed(browser: Client, dataset: Dataset) -> None:
    save(browser, dataset, "q1", input="Uno?")
    refused = browser.post(at(dataset, "publish_draft"), {"message": " "})
    assert refused.status_code == 422
    page = publish(browser, dataset)
    assert page.request["PATH_INFO"] == at(dataset, "version_changes")
    for text in ("Version 2 is published.", "“Better”", "<del>One</del><ins>Uno</ins>"):
        assert text in page.text
    assert "Better" in browser.get(at(dataset, "dataset_versions")).text


def test_the_page_of_a_published_draft_names_the_version(
    browser: Client, dataset: Dataset, alice: User, django_assert_max_num_queries: Any
) -> None:
    """For whoever comes back to it, and after the worker has published it."""
    draft = drafts.open_draft(dataset, alice)
    drafts.save_case(draft, "q1", TypedCase("Uno?"), alice, seen=0)
    drafts.delete_case(draft, "q3", alice)
    Draft.objects.update(message="Better <b>")
    draft.refresh_from_db()
    drafts.publish_draft(draft, alice)
    with django_assert_max_num_queries(12):
        page = browser.get(at(dataset)).text
    for text in (
        "Version 2 is published</h2>",
        "“Better &lt;b&gt;”",
        "by alice@example.org",
        "1 edited",
        "1 deleted",
        f'href="{at(dataset, "version_changes")}?new=2"',
        f'href="{at(dataset, "dataset")}?version=2"',
        "The next one begins with the first edit",
    ):
        assert text in " ".join(page.split())
    assert "No draft" not in page


def test_a_version_that_is_gone_is_not_named(browser: Client, dataset: Dataset) -> None:
    save(browser, dataset, "q1", input="Uno?")
    publish(browser, dataset)
    Draft.objects.update(published=None)
    assert "<h2>No draft</h2>" in browser.get(at(dataset)).text


def test_who_looks_on_while_another_publishes_is_led_to_the_version(
    browser: Client, others: Client, dataset: Dataset, subtests: pytest.Subtests
) -> None:
    cases: list[str] = ["revert_draft_case", "move_draft", "discard_draft", "publish_draft"]
    for name in cases:
        with subtests.test(name=name), undone():
            save(others, dataset, "q1", input="Uno?")
            publish(others, dataset)
            page = browser.post(at(dataset, name), {"key": "q1", "message": "Mine"}, follow=True)
            assert (
                "The draft was published meanwhile by alice@example.org as version 2." in page.text
            )
            assert f'href="{at(dataset, "version_changes")}?new=2"' in page.text
            assert dataset.versions.count() == 2


def test_who_looks_on_while_another_discards_may_bring_it_back(
    browser: Client, others: Client, dataset: Dataset, subtests: pytest.Subtests
) -> None:
    cases: list[str] = ["revert_draft_case", "move_draft", "publish_draft"]
    for name in cases:
        with subtests.test(name=name), undone():
            save(others, dataset, "q1", input="Uno?")
            others.post(at(dataset, "discard_draft"))
            page = browser.post(at(dataset, name), {"key": "q1", "message": "Mine"}, follow=True)
            assert "The draft was discarded meanwhile." in page.text
            browser.post(at(dataset, "restore_draft"))
            assert "edited: input" in browser.get(at(dataset)).text


def test_where_there_never_was_a_draft_that_is_said(
    browser: Client, dataset: Dataset, subtests: pytest.Subtests
) -> None:
    cases: list[str] = ["revert_draft_case", "move_draft", "discard_draft"]
    for name in cases:
        with subtests.test(name=name), undone():
            page = browser.post(at(dataset, name), {"key": "q1"}, follow=True)
            assert "There is no draft yet" in page.text


def test_what_is_brought_back_is_there_to_be_brought_back(
    browser: Client, dataset: Dataset
) -> None:
    page = browser.post(at(dataset, "restore_draft"), follow=True)
    assert "There is no discarded draft to bring back." in page.text


def test_a_large_draft_says_that_the_worker_publishes_it(
    browser: Client, dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "MAX_INLINE_CASES", 1)
    save(browser, dataset, "q1", input="Uno?")
    page = publish(browser, dataset).text
    assert "The worker is publishing this draft" in page
    assert f"Cases stored: 0 of {len(CASES)}" in " ".join(page.split())
    assert "No worker: start" in page


def test_two_people_lose_nothing(browser: Client, dataset: Dataset, alice: User) -> None:
    """The second to save is shown what the first saved, and keeps what was typed."""
    page = open_case(browser, dataset, "q1")
    drafts.save_case(
        drafts.open_draft(dataset, alice),
        "q1",
        TypedCase("Alice's", {"a": 1}, ("so",), {"lang": "it"}, ("new",)),
        alice,
        seen=0,
    )
    address = f"{at(dataset, 'draft_case')}?key=q1"
    answer = browser.post(address, sent(page, input="Mine"))
    said = " ".join(answer.text.split())
    assert answer.status_code == 422
    assert "What alice@example.org saved" in said
    for text in ("Alice&#x27;s", "&quot;a&quot;: 1", ">so<", ">new<", "&quot;lang&quot;: "):
        assert text in said
    assert "Mine" in said
    assert said.count("Reference 2</dt>") == 0
    assert DraftEdit.objects.get().input == "Alice's"
    assert browser.post(address, sent(answer)).status_code == 302
    assert DraftEdit.objects.get().input == "Mine"


def test_who_saves_what_another_deleted_is_told(
    browser: Client, dataset: Dataset, alice: User
) -> None:
    page = open_case(browser, dataset, "q1")
    drafts.delete_case(drafts.open_draft(dataset, alice), "q1", alice)
    answer = browser.post(f"{at(dataset, 'draft_case')}?key=q1", sent(page, input="Mine"))
    assert "The draft deletes the case." in answer.text
    assert DraftEdit.objects.get().kind == "delete"


def published_meanwhile(dataset: Dataset, by: User) -> DatasetVersion:
    draft = drafts.open_draft(dataset, by)
    drafts.save_case(draft, "q1", TypedCase("Alice's"), by, seen=0)
    Draft.objects.update(message="Hers")
    draft.refresh_from_db()
    return drafts.publish_draft(draft, by)


def test_who_types_while_another_publishes_overwrites_nothing_unseen(
    browser: Client, dataset: Dataset, alice: User
) -> None:
    """The texts of the new version are shown beside what was typed."""
    page = open_case(browser, dataset, "q1")
    published_meanwhile(dataset, alice)
    address = f"{at(dataset, 'draft_case')}?key=q1"
    answer = browser.post(address, sent(page, input="Mine"))
    assert answer.status_code == 422
    for text in ("The case in version 2", "Alice&#x27;s", "Mine"):
        assert text in answer.text
    titles = ["Input", "Expected", "Expected is", "Tags"]
    assert list(answer.context["other_edit"]["texts"]) == titles
    assert not DraftEdit.objects.filter(draft__state="open").exists()
    assert browser.post(address, sent(answer)).status_code == 302
    assert DraftEdit.objects.get(draft__state="open").input == "Mine"


def test_a_version_that_left_the_case_as_it_was_is_in_nobody_s_way(
    browser: Client, dataset: Dataset, alice: User
) -> None:
    page = open_case(browser, dataset, "q4")
    published_meanwhile(dataset, alice)
    answer = browser.post(f"{at(dataset, 'draft_case')}?key=q4", sent(page, input="Mine"))
    assert answer.status_code == 302
    edit = DraftEdit.objects.get(draft__state="open")
    assert (edit.key, edit.input) == ("q4", "Mine")


def test_a_case_that_changed_in_both_is_shown_beside_the_other(
    browser: Client, dataset: Dataset, make_dataset: MakeDataset
) -> None:
    save(browser, dataset, "q1", input="Uno?")
    make_dataset([{**CASES[0], "input": "Ein?"}, *CASES[1:]])
    page = open_case(browser, dataset, "q1")
    assert "The case in version" not in page.text
    browser.post(at(dataset, "move_draft"))
    moved = open_case(browser, dataset, "q1").text
    assert "The case in version 2" in moved
    assert "Ein?" in moved
    late = browser.post(f"{at(dataset, 'draft_case')}?key=q1", sent(page, input="Due?"))
    assert late.status_code == 422
    assert "Ein?" in late.text
    save(browser, dataset, "q1")
    assert "The case in version" not in open_case(browser, dataset, "q1").text
