"""Somebody looks into a run with keys alone: what broke is found, kept, ticked, tagged, retried."""

from __future__ import annotations

import csv
from collections.abc import Callable

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from scoring.models import DraftEdit, Run, SavedView, User
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.run_states import CLOSE, finished_run

pytestmark = pytest.mark.browser

SignIn = Callable[[User], None]
BROKEN = 7
OTHER_TAG = 2


@pytest.fixture
def run(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> Run:
    """Of ten answers nine broke, two of them under another tag, and the last has an error."""
    count = BROKEN + OTHER_TAG + 1
    tags = [["billing"]] * BROKEN + [["account"]] * OTHER_TAG + [["billing"]]
    cases = [
        {"key": f"q{n}", "expected": "a" * 10, "input": f"Question {n}", "tags": tags[n]}
        for n in range(count)
    ]
    version = make_dataset(cases)
    finished_run(make_outputs(version, ["a" * 10] * count), CLOSE, name="w45")
    texts = ["a" * (n % 7) for n in range(count - 1)]
    return finished_run(make_outputs(version, [*texts, None]), CLOSE, name="w46")


@pytest.fixture
def at_run(page: Page, sign_in: SignIn, alice: User, run: Run) -> Page:
    sign_in(alice)
    page.goto(reverse("run", args=[run.uuid]))
    page.evaluate("window.stayed = true")
    return page


def keys(page: Page) -> list[str]:
    return page.locator("#cases .row-link > .id").all_inner_texts()


def press(page: Page, role: str, name: str) -> None:
    """A link or a button of the cases, by the key Enter."""
    page.locator("#cases").get_by_role(role, name=name, exact=True).press("Enter")  # type: ignore[arg-type]


def find_the_worst(page: Page) -> None:
    """What broke under the tag and nobody has reviewed, the lowest scores first."""
    page.locator("#filters").get_by_label("Changed").focus()
    page.keyboard.type("Broke")
    page.locator("#filters").get_by_label("Reviewed").focus()
    page.keyboard.type("not")
    page.locator("#filters").get_by_label("Tag").focus()
    page.keyboard.type("billing")
    page.keyboard.press("Enter")
    expect(page.locator("#cases .chip")).to_have_count(3)
    expect(page.locator("#filters").get_by_label("Tag")).to_be_focused()
    press(page, "link", "close")
    expect(page.locator("#cases th[aria-sort=ascending]")).to_have_text("close")


def test_the_worst_that_broke_are_found_kept_ticked_and_tagged_by_keys(
    at_run: Page, run: Run
) -> None:
    find_the_worst(at_run)
    assert keys(at_run) == [f"q{n}" for n in range(BROKEN)]
    assert at_run.evaluate("window.stayed") is True
    shown = at_run.url
    at_run.locator("#cases .row-link").first.press("Enter")
    expect(at_run.get_by_role("heading", level=1)).to_have_text("q0")
    at_run.go_back()
    assert at_run.url.partition("#")[0] == shown.partition("#")[0]
    assert keys(at_run) == [f"q{n}" for n in range(BROKEN)]

    at_run.evaluate("window.stayed = true")
    at_run.get_by_text("Views", exact=True).press("Enter")
    at_run.get_by_label("Save view as").focus()
    at_run.keyboard.type("worst of billing")
    at_run.get_by_label("For the whole team").press("Space")
    press(at_run, "button", "Save view")
    said = at_run.locator("#messages")
    expect(said).to_contain_text("The view worst of billing is kept for the whole team.")
    assert SavedView.objects.get().owner is None
    assert keys(at_run) == [f"q{n}" for n in range(BROKEN)]

    for _ in range(3):
        at_run.keyboard.press("j")
        at_run.keyboard.press("x")
    expect(at_run.locator("#selected-count")).to_have_text("3 ticked: this takes only these")
    at_run.get_by_label("Tag to put on these cases").focus()
    at_run.keyboard.type("look again")
    at_run.get_by_role("button", name="Tag", exact=True).press("Enter")
    expect(said).to_contain_text("3 cases tagged look again in the draft of the next version.")
    assert at_run.evaluate("window.stayed") is True
    assert sorted(DraftEdit.objects.values_list("key", flat=True)) == ["q0", "q1", "q2"]


def test_the_list_as_filtered_and_sorted_is_what_is_exported(at_run: Page) -> None:
    find_the_worst(at_run)
    with at_run.expect_download() as download:
        press(at_run, "button", "Export CSV")
    with download.value.path().open(newline="", encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    assert [row["key"] for row in rows] == keys(at_run)


def test_the_errors_of_a_cause_are_scored_again_by_one_key(at_run: Page, run: Run) -> None:
    retry = at_run.get_by_role("button", name="Score this error again")
    retry.press("Enter")
    expect(at_run.get_by_role("heading", name="Waiting to start")).to_be_visible()
    attempt = run.attempts.get(kind="retry")
    assert (attempt.code, attempt.shards.get().output_count) == ("no_output", 1)
    assert at_run.evaluate("window.stayed") is True
    expect(retry).to_have_count(0)


def test_a_run_is_renamed_and_given_a_note_by_keys(at_run: Page) -> None:
    at_run.get_by_label("More about this run").press("Enter")
    at_run.get_by_role("link", name="Name and note").press("Enter")
    at_run.get_by_label("Name", exact=True).fill("after the fix")
    at_run.get_by_label("Note", exact=False).fill("Prompt 8.\nCompare with w45.")
    at_run.get_by_role("button", name="Save").press("Enter")
    expect(at_run.get_by_role("heading", level=1)).to_have_text("after the fix")
    expect(at_run.locator(".note")).to_contain_text("Compare with w45.")
