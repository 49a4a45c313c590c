"""Tags on many cases at once, from a dataset's list and from a run's, and their Undo."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from evalsite.pages.drafts import tagging
from evalsite.pages.drafts.tagging import UndoTagForm
from evalsite.pages.web.undo import MAX_FORM_CHARS
from scoring.engine import drafts
from scoring.engine.drafts import jobs
from scoring.models import Case, Dataset, Draft, DraftEdit, Run, User
from scoring.models.data.dataset import KEY_LENGTH
from tests.conftest import MakeDataset, MakeOutputs
from tests.pages.runs.steps import BrowserOf, url
from tests.support.browser_forms import pressed_undo
from tests.support.run_states import finished_run
from tests.support.undone import undone

CASES: list[dict[str, Any]] = [
    {"key": "q&1", "input": "One?", "tags": ["easy", "billing", "old"]},
    {"key": 'a"b\\c\u2028', "input": "Two?", "tags": ["billing"]},
    {"key": "q3", "input": "Three?"},
    {"key": "q4", "input": "Four?", "tags": ["old"]},
]


@pytest.fixture
def dataset(make_dataset: MakeDataset) -> Dataset:
    version = make_dataset(CASES)
    return Dataset.objects.select_related("latest", "team").get(pk=version.dataset_id)


def done() -> list[tuple[object, ...]]:
    """What the draft does, case by case."""
    return [(edit.key, edit.kind, *edit.content) for edit in DraftEdit.objects.order_by("key")]


def tags() -> dict[str, list[str]]:
    return {edit.key: edit.tags for edit in DraftEdit.objects.all()}


def send(browser: Client, dataset: Dataset, **sent: Any) -> Any:
    address = reverse("tag_cases", args=[dataset.uuid])
    return browser.post(address, {"version": "1", **sent}, follow=True)


def test_a_tag_goes_on_or_off_and_all_the_way_back(
    browser: Client, dataset: Dataset, subtests: pytest.Subtests
) -> None:
    """Undo leaves the draft without an edit; its own Undo does the same once more."""
    cases: list[tuple[dict[str, Any], str, dict[int, list[str]]]] = [
        (
            {"tag": "new", "position": ["2"]},
            "1 case tagged new in the draft",
            {1: ["billing", "new"]},
        ),
        (
            {"tag": "billing", "position": ["1", "2", "3", "9", "x"]},
            "1 case tagged billing in the draft of the next version. Left as they are: 2.",
            {2: ["billing"]},
        ),
        (
            {"tag": "billing", "position": ["1", "2", "3"], "off": "1"},
            "2 cases freed of the tag billing in the draft of the next version.",
            {0: ["easy", "old"], 1: []},
        ),
    ]
    for sent, said, left in cases:
        with subtests.test(sent=sent, said=said, left=left), undone():
            page = send(browser, dataset, **sent)
            assert said in page.text
            after = {CASES[place]["key"]: names for place, names in left.items()}
            assert tags() == after
            page = pressed_undo(browser, page)
            assert done() == []
            pressed_undo(browser, page)
            assert tags() == after


def test_no_more_cases_are_tagged_than_a_page_can_tick(
    browser: Client, dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tagging, "MAX_TICKED", 1)
    send(browser, dataset, tag="new", position=["3", "4"])
    assert tags() == {"q3": ["new"]}


@pytest.mark.parametrize("off", [{}, {"off": "1"}])
def test_undo_leaves_what_the_draft_did_before(
    browser: Client, dataset: Dataset, alice: User, off: dict[str, str]
) -> None:
    draft = drafts.open_draft(dataset, alice)
    base = {case.key: case for case in Case.objects.all()}
    texts = drafts.TypedCase.of(base["q3"])
    drafts.save_case(draft, "q3", texts, alice, seen=0)
    drafts.save_case(draft, "q4", drafts.TypedCase("Vier?", tags=("a", "old", "b")), alice, seen=0)
    before = done()
    page = send(browser, dataset, tag="old", position=["1", "2", "3", "4"], **off)
    assert done() != before
    pressed_undo(browser, page)
    assert done() == before


def test_undo_shows_the_list_as_it_was(browser: Client, dataset: Dataset) -> None:
    page = send(browser, dataset, tag="new", position="3", query="tag=old&q=o")
    assert page.request["QUERY_STRING"] == "tag=old&q=o"
    page = pressed_undo(browser, page)
    assert page.request["QUERY_STRING"] == "tag=old&q=o"


def test_undo_keeps_what_somebody_else_tagged_meanwhile(
    browser: Client, dataset: Dataset, bob: User
) -> None:
    page = send(browser, dataset, tag="billing", position=["1"], off="1")
    drafts.tag_cases(dataset, ["q&1"], "easy", bob, on=False)
    drafts.tag_cases(dataset, ["q&1"], "theirs", bob)
    pressed_undo(browser, page)
    assert tags() == {"q&1": ["old", "billing", "theirs"]}


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({"tag": "old", "position": ["1", "4"]}, "each has the tag old, or the draft deletes it"),
        ({"tag": "rare", "position": ["1"], "off": "1"}, "none of them has the tag rare"),
    ],
)
def test_nothing_done_is_said_and_needs_no_undo(
    browser: Client, dataset: Dataset, sent: dict[str, Any], said: str
) -> None:
    page = send(browser, dataset, **sent)
    assert f"No case changed: {said}." in page.text
    assert ">Undo<" not in page.text
    assert done() == []


def test_tagging_needs_cases_and_a_tag(
    browser: Client, dataset: Dataset, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"version": ""}, "Write the tag."),
        ({"position": "1"}, "Write the tag."),
        ({"tag": "t"}, "Tick the cases first."),
        ({"tag": "t", "position": "1", "version": "2"}, "Another version was published meanwhile."),
        ({"tag": "a\0", "position": "1"}, "Write the tag."),
        ({"tag": "t", "cases_by_place": "{"}, "This cannot be undone"),
        ({"tag": "t", "cases_by_place": "[]"}, "This cannot be undone"),
        ({"tag": "t", "cases_by_place": '{"x": [3], "1": 3, "2": ["4"]}'}, "This cannot be undone"),
        ({"tag": "t", "cases_by_place": '{"0": [-3, 9999999999, null]}'}, "This cannot be undone"),
        ({"tag": "", "cases_by_place": '{"0": [3]}'}, "This cannot be undone"),
        ({"tag": "t", "version": "2", "cases_by_place": '{"0": [3]}'}, "This cannot be undone"),
        ({"tag": "t", "version": "x", "cases_by_place": '{"0": [3]}'}, "This cannot be undone"),
    ]
    for sent, said in cases:
        with subtests.test(sent=sent, said=said), undone():
            assert said in send(browser, dataset, **sent).text
            assert Draft.objects.count() == 0


def test_what_an_undo_sends_is_read_as_it_was_written(dataset: Dataset) -> None:
    version = dataset.versions.get()
    cases = {CASES[1]["key"]: 2, "q&1": 1, "q4": 4}
    places = {"q&1": 0, "q4": 0, CASES[1]["key"]: 3}
    written = UndoTagForm.write_fields(version, cases, places)
    assert json.loads(written["cases_by_place"]) == {"0": [1, 4], "3": [2]}
    form = UndoTagForm({"tag": "t", **written}, dataset)
    assert form.is_valid()
    assert (form.tagged_version, form.cases, form.places) == (version, cases, places)


def test_a_tagging_is_undone_however_long_the_keys_are(
    browser: Client, make_dataset: MakeDataset, make_outputs: MakeOutputs
) -> None:
    """The keys alone would be more than a message carries to the next page."""
    count = MAX_FORM_CHARS // KEY_LENGTH + 1
    version = make_dataset([{"key": f"{n:x>{KEY_LENGTH}}", "input": "?"} for n in range(count)])
    run = finished_run(make_outputs(version, ["!"] * count), ("exact", "exact_match", {}))
    sent = {"do": "tag", "new_tag": "odd"}
    page = browser.post(reverse("ticked_cases", args=[run.uuid]), sent, follow=True)
    assert f"{count:,} cases tagged odd" in page.text
    assert DraftEdit.objects.count() == count
    pressed_undo(browser, page)
    assert done() == []


def test_an_undo_after_another_version_finds_its_cases_by_key(
    browser: Client, dataset: Dataset, alice: User
) -> None:
    """Positions are those of the version that was tagged."""
    page = send(browser, dataset, tag="new", position=["3"])
    drafts.delete_case(drafts.open_draft(dataset, alice), "q&1", alice)
    jobs.publish_or_enqueue(drafts.open_draft(dataset, alice), "One less.", alice)
    pressed_undo(browser, page)
    found = Draft.objects.open_of(dataset)
    assert found
    assert [(edit.key, edit.tags) for edit in found.edits.all()] == [("q3", [])]


def test_a_run_s_cases_are_tagged_and_that_is_undone(
    browser_of: BrowserOf, alice: User, run: Run
) -> None:
    browser = browser_of(alice)
    sent = {"do": "tag", "new_tag": "odd", "place": ["2", "3"], "tag": "", "sort": "close"}
    page = browser.post(reverse("ticked_cases", args=[run.uuid]), sent, follow=True)
    assert tags() == {"case-2": ["odd"], "case-3": ["odd"]}
    page = pressed_undo(browser, page)
    assert done() == []
    assert (page.request["PATH_INFO"], page.request["QUERY_STRING"]) == (url(run), "sort=close")
    pressed_undo(browser, page)
    assert tags() == {"case-2": ["odd"], "case-3": ["odd"]}


def test_a_viewer_undoes_no_tagging(browser_of: BrowserOf, bob: User, run: Run) -> None:
    sent = {"do": "retag", "tag": "odd", "cases": '{"0": ["case-2"]}', "query": ""}
    answer = browser_of(bob).post(reverse("ticked_cases", args=[run.uuid]), sent)
    assert answer.status_code == 403
    assert done() == []
