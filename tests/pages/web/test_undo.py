"""What is done at once and taken back by the message that says so."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.messages import SUCCESS
from django.contrib.messages.storage.base import Message
from django.test import Client
from django.urls import reverse

from evalsite.pages.web.undo import MAX_FORM_CHARS, Undo, undo_from_message
from scoring.models import Dataset, Draft, DraftEdit, Run, SavedView, User
from tests.conftest import MakeDataset
from tests.pages.runs.steps import BrowserOf
from tests.support.browser_forms import pressed_undo


@pytest.mark.parametrize("tags", ["", None, "undo", "{", "[]x"])
def test_a_message_of_other_tags_takes_nothing_back(tags: str | None) -> None:
    assert undo_from_message(Message(SUCCESS, "Done.", tags)) is None


def test_a_message_names_the_form_that_takes_back() -> None:
    found = undo_from_message(Message(SUCCESS, "Done.", '["/back/", {"key": "a"}]'))
    assert found == Undo("/back/", {"key": "a"})


def test_a_removed_view_comes_back_and_the_page_stays(
    browser_of: BrowserOf, bob: User, run: Run
) -> None:
    alices = browser_of(bob)
    alices.post(
        reverse("save_view", args=[run.uuid]),
        {"name": "worst", "query": "?verdict=fail"},
        follow=True,
    )
    view = SavedView.objects.get()
    path = reverse("remove_view", args=[run.uuid, view.uuid])
    page = alices.post(path, {"query": "?verdict=pass"}, follow=True)
    assert not SavedView.objects.exists()
    page = pressed_undo(alices, page)
    back = SavedView.objects.get()
    assert (back.name, back.query, back.owner_id) == ("worst", "verdict=fail", bob.id)
    assert page.request["QUERY_STRING"] == "verdict=pass"


def test_an_archived_run_comes_out_again(browser_of: BrowserOf, alice: User, run: Run) -> None:
    alices = browser_of(alice)
    page = alices.post(reverse("archive_run", args=[run.uuid]), follow=True)
    pressed_undo(alices, page)
    run.refresh_from_db()
    assert run.archived_at is None


@pytest.fixture
def dataset(make_dataset: MakeDataset) -> Dataset:
    return make_dataset(
        [
            {"key": "q&1", "input": " One?\r\n", "expected": None, "tags": ["a"]},
            {"key": "q2", "input": {"ask": 2}, "references": ["x", "y"], "metadata": {"n": 1}},
        ]
    ).dataset


def done(dataset: Dataset) -> list[tuple[object, ...]]:
    """What the draft does, case by case."""
    edits = DraftEdit.objects.filter(draft=Draft.objects.open_of(dataset)).order_by("key")
    return [(edit.key, edit.kind, *edit.content) for edit in edits]


def act(alices: Client, dataset: Dataset, name: str, key: str) -> Any:
    return alices.post(reverse(name, args=[dataset.uuid]), {"key": key}, follow=True)


def save(alices: Client, dataset: Dataset, key: str = "", **typed: str) -> None:
    path = reverse("draft_case", args=[dataset.uuid])
    page = alices.get(path, {"key": key} if key else {})
    form = page.context["form"]
    sent = {
        bound.html_name: str("" if (value := bound.value()) is None else value) for bound in form
    } | typed
    query = {"QUERY_STRING": f"key={key.replace('&', '%26')}"} if key else {}
    assert alices.post(path, sent, **query).status_code == 302  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["revert_draft_case", "delete_draft_case"])
@pytest.mark.parametrize("key", ["q&1", "q2"])
def test_an_edit_is_made_again_character_for_character(
    alices: Client, dataset: Dataset, name: str, key: str
) -> None:
    save(alices, dataset, key, tags="b\nc", expected=' "so"\n\tand so ', expected_kind="text")
    before = done(dataset)
    page = act(alices, dataset, name, key)
    assert done(dataset) != before
    pressed_undo(alices, page)
    assert done(dataset) == before


@pytest.mark.parametrize("name", ["revert_draft_case", "delete_draft_case"])
def test_an_added_case_is_added_again(alices: Client, dataset: Dataset, name: str) -> None:
    save(alices, dataset, key="", input="New?", input_kind="text", reference_1="yes")
    [(key, *_)] = before = done(dataset)
    page = act(alices, dataset, name, str(key))
    assert done(dataset) == []
    pressed_undo(alices, page)
    assert done(dataset) == before


def test_a_deleted_case_is_back_and_deleted_again(alices: Client, dataset: Dataset) -> None:
    deleted = act(alices, dataset, "delete_draft_case", "q2")
    before = done(dataset)
    reverted = pressed_undo(alices, deleted)
    assert done(dataset) == []
    pressed_undo(alices, reverted)
    assert done(dataset) == before


def test_what_is_too_long_to_be_kept_has_no_undo_and_says_so(
    alices: Client, dataset: Dataset
) -> None:
    save(alices, dataset, "q2", input="x" * MAX_FORM_CHARS, input_kind="text")
    page = act(alices, dataset, "revert_draft_case", "q2")
    said = "The draft leaves case q2 as it was. There is no Undo: what it would bring back is over"
    assert f"{said} 250,000 characters." in page.text
    assert ">Undo<" not in page.text
