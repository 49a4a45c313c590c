from __future__ import annotations

import json
import re

import pytest
from django.test import Client

from scoring.models import Case, Dataset, DatasetVersion, Draft, DraftEdit
from tests.conftest import MakeDataset
from tests.pages.drafts.steps import CASES, at, open_case, save
from tests.support.undone import undone


@pytest.fixture
def dataset(make_dataset: MakeDataset) -> Dataset:
    version = make_dataset(CASES)
    return Dataset.objects.select_related("latest", "team").get(pk=version.dataset_id)


def test_a_case_that_is_saved_as_shown_is_no_edit(
    browser: Client, dataset: Dataset, subtests: pytest.Subtests
) -> None:
    """Whatever line ends its texts have, and whatever its key looks like."""
    for key in [case["key"] for case in CASES]:
        with subtests.test(key=key), undone():
            answer = save(browser, dataset, key)
            assert answer.status_code == 302
            assert DraftEdit.objects.count() == 0


def test_a_reference_is_added_to_those_there_are(browser: Client, dataset: Dataset) -> None:
    save(browser, dataset, "q3", reference_3="drei")
    assert DraftEdit.objects.get().references == ["3", "three\r\n", "drei"]


def test_an_edit_shows_on_the_draft_and_nowhere_else(browser: Client, dataset: Dataset) -> None:
    save(browser, dataset, "q1", input="Uno?", tags="easy\r\nnew")
    page = browser.get(at(dataset)).content.decode()
    assert "edited: input, tags" in page
    assert "A draft edits version 1" in browser.get(at(dataset, "dataset")).content.decode()
    assert "Uno?" not in browser.get(at(dataset, "dataset")).content.decode()
    assert Case.objects.get(key="q1").input == "One?"


def test_what_is_expected_may_be_a_text_json_or_nothing(
    browser: Client, dataset: Dataset, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[str, str, str | None]] = [
        ("text", "true", '"true"'),
        ("json", "true", "true"),
        ("json", '{"a": [1, null]}', '{"a":[1,null]}'),
        ("json", "null", "null"),
        ("text", "", '""'),
        ("nothing", "", None),
    ]
    for kind, text, kept in cases:
        with subtests.test(kind=kind, text=text, kept=kept), undone():
            save(browser, dataset, "q1", input="Changed", expected=text, expected_kind=kind)
            assert DraftEdit.objects.get().expected_json == kept


def test_a_fault_is_said_and_nothing_saved(
    browser: Client, dataset: Dataset, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[dict[str, str], str]] = [
        ({"input": "{", "input_kind": "json"}, "This cannot be read as JSON: expecting property"),
        ({"input": '{"a": 1, "a": 2}', "input_kind": "json"}, "twice"),
        ({"metadata": "[1]"}, "no JSON object"),
        ({"expected": "left over", "expected_kind": "nothing"}, "Something is written here"),
        ({"expected": "1e999", "expected_kind": "json"}, "finite"),
        ({"seen": "x"}, "whole number"),
    ]
    for changes, said in cases:
        with subtests.test(changes=changes, said=said), undone():
            answer = save(browser, dataset, "q1", **changes)
            assert answer.status_code == 422
            assert said in answer.content.decode()
            assert DraftEdit.objects.count() == 0


def test_a_case_is_added(browser: Client, dataset: Dataset) -> None:
    save(browser, dataset, "", input="New?", reference_1="one", key=" mine ")
    edit = DraftEdit.objects.get()
    assert (edit.kind, edit.key, edit.references, edit.has_expected) == (
        "add",
        "mine",
        ["one"],
        False,
    )


def test_a_key_that_is_taken_is_said(browser: Client, dataset: Dataset) -> None:
    answer = save(browser, dataset, "", input="New?", key="q1")
    assert "There is a case q1 already" in answer.content.decode()


def test_a_case_that_there_is_not(browser: Client, dataset: Dataset) -> None:
    assert open_case(browser, dataset, "nowhere").status_code == 404


def test_deleted_and_reverted(browser: Client, dataset: Dataset) -> None:
    browser.post(at(dataset, "delete_draft_case"), {"key": "q1"})
    assert DraftEdit.objects.get().kind == "delete"
    page = open_case(browser, dataset, "q1")
    assert "The draft deletes this case" in page.content.decode()
    browser.post(at(dataset, "revert_draft_case"), {"key": "q1"})
    assert DraftEdit.objects.count() == 0


def test_what_is_refused_begins_no_draft(browser: Client, dataset: Dataset) -> None:
    browser.post(at(dataset, "delete_draft_case"), {"key": "nowhere"})
    assert Draft.objects.count() == 0


def test_a_draft_behind_is_moved_first(
    browser: Client, dataset: Dataset, make_dataset: MakeDataset
) -> None:
    save(browser, dataset, "q1", input="Uno?")
    make_dataset([{**CASES[0], "input": "Ein?"}, *CASES[1:]])
    refused = browser.post(at(dataset, "publish_draft"), {"message": "Better"})
    assert "Version 2 was published meanwhile" in refused.content.decode()
    moved = browser.post(at(dataset, "move_draft"), follow=True).content.decode()
    assert "1 of its cases changed there, too" in moved
    assert "changed meanwhile" in moved


def test_cases_of_a_tag_lead_to_a_dataset_of_their_own(
    browser: Client, dataset: Dataset, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[dict[str, str], bool]] = [
        ({"tag": "easy"}, True),
        ({"tag": "easy", "q": "One"}, False),
        ({"tag": "nowhere"}, False),
        ({}, False),
    ]
    for query, is_offered in cases:
        with subtests.test(query=query, is_offered=is_offered), undone():
            page = browser.get(at(dataset, "dataset"), query).text
            assert (f'href="{at(dataset, "carve")}?tag=easy"' in page) is is_offered


@pytest.mark.parametrize(("name", "fields"), [("carve", 1), ("dataset", 2)])
def test_a_field_for_a_tag_offers_those_there_are(
    browser: Client, dataset: Dataset, name: str, fields: int
) -> None:
    page = browser.get(at(dataset, name)).text
    assert page.count('list="tags"') == fields
    offered = re.search(r'<datalist id="tags">(.*?)</datalist>', page)
    assert offered
    assert re.findall(r'value="([^"]*)"', offered[1]) == [" a ", "easy"]


def test_a_row_of_the_draft_begins_to_say_what_the_case_asks(
    browser: Client, dataset: Dataset
) -> None:
    """Of a deleted case, too, whose edit holds nothing."""
    save(browser, dataset, "q1", input="Uno?")
    save(browser, dataset, "q4", input="")
    browser.post(at(dataset, "delete_draft_case"), {"key": "q3"})
    rows = browser.get(at(dataset)).text
    for text in ("Uno?", "Three?", "empty text"):
        assert text in rows


def test_hostile_texts_stay_texts(browser: Client, make_dataset: MakeDataset) -> None:
    bad = "</textarea><script>alert(1)</script>"
    version: DatasetVersion = make_dataset(
        [{"key": bad, "input": bad, "expected": {bad: bad}, "tags": [bad], "metadata": {bad: 1}}]
    )
    dataset = version.dataset
    page = open_case(browser, dataset, bad)
    assert "<script>alert" not in page.content.decode()
    assert save(browser, dataset, bad, input="x").status_code == 302
    assert "<script>alert" not in browser.get(at(dataset)).content.decode()
    assert json.loads(DraftEdit.objects.get().tags_json) == [bad]
