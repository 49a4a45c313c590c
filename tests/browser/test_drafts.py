"""Cases edited in a real browser: by mouse, and by keys alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from scoring.models import Dataset, DatasetVersion, DraftEdit, User
from tests.conftest import MakeDataset

pytestmark = pytest.mark.browser

SignIn = Callable[[User], None]
IsAccessible = Callable[[Page], None]


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset(
        [
            {"key": "q-1", "input": "  One?\r\n\tTwo\n", "expected": "1", "tags": ["easy"]},
            {"key": "q-2", "input": {"ask": ["two"]}, "metadata": {"n": 1}},
            {"key": "q-3", "input": "Three?", "expected": "3"},
        ]
    )


def test_a_case_is_edited_and_published_by_mouse(
    page: Page, sign_in: SignIn, is_accessible: IsAccessible, alice: User, version: DatasetVersion
) -> None:
    sign_in(alice)
    page.goto(f"/datasets/{version.dataset.uuid}/")
    page.get_by_role("link", name="q-3").click()
    page.get_by_role("link", name="Edit").click()
    is_accessible(page)
    page.get_by_label("Input", exact=True).fill("Three? Why?")
    page.get_by_role("button", name="Save into the draft").click()
    expect(page.get_by_role("cell", name="edited: input")).to_be_visible()
    is_accessible(page)
    page.get_by_label("What changed and why").fill("Ask for a reason")
    page.get_by_role("button", name="Publish the next version").click()
    expect(page.get_by_text("Version 2 is published.")).to_be_visible()
    page.get_by_role("link", name="Versions").click()
    page.get_by_role("link", name="Changes of version 2").click()
    expect(page.locator(".diff")).to_have_text("Three? Why?")
    is_accessible(page)


def test_a_case_is_added_tagged_and_deleted_by_keys_alone(
    page: Page, sign_in: SignIn, is_accessible: IsAccessible, alice: User, version: DatasetVersion
) -> None:
    sign_in(alice)
    page.goto(f"/datasets/{version.dataset.uuid}/")
    page.get_by_label("Tick q-2").focus()
    page.keyboard.press("Space")
    page.get_by_label("Tag for the ticked cases").focus()
    page.keyboard.type("hard")
    page.keyboard.press("Enter")
    expect(page.get_by_text("1 case tagged hard in the draft of the next version.")).to_be_visible()
    page.get_by_role("link", name="Review and publish it").focus()
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Add a case").focus()
    page.keyboard.press("Enter")
    page.get_by_label("Input", exact=True).focus()
    page.keyboard.type("Four?")
    page.get_by_role("button", name="Save into the draft").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("cell", name="added")).to_be_visible()
    page.goto(f"/datasets/{version.dataset.uuid}/draft/case/?key=q-1")
    page.get_by_role("button", name="Delete the case").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("cell", name="deleted")).to_be_visible()
    page.get_by_role("button", name="Discard the draft").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("The draft was discarded")).to_be_visible()
    page.get_by_role("button", name="Undo").focus()
    is_accessible(page)
    page.keyboard.press("Enter")
    expect(page.get_by_role("cell", name="deleted")).to_be_visible()
    assert sorted(DraftEdit.objects.values_list("kind", flat=True)) == ["add", "delete", "edit"]


@pytest.mark.parametrize("key", ["q-1", "q-2"])
def test_a_browser_that_saves_what_it_shows_changes_nothing(
    page: Page, sign_in: SignIn, alice: User, version: DatasetVersion, key: str
) -> None:
    sign_in(alice)
    page.goto(f"/datasets/{version.dataset.uuid}/draft/case/?key={key}")
    page.get_by_role("button", name="Save into the draft").click()
    expect(page.get_by_role("heading", name="Nothing changed yet")).to_be_visible()
    assert DraftEdit.objects.count() == 0


def test_a_sample_is_made_on_a_phone(
    page: Page, sign_in: SignIn, is_accessible: IsAccessible, alice: User, version: DatasetVersion
) -> None:
    sign_in(alice)
    page.set_viewport_size({"width": 360, "height": 800})
    page.goto(f"/datasets/{version.dataset.uuid}/carve/")
    is_accessible(page)
    page.get_by_label("Sample size").fill("2")
    page.get_by_label("Name of the new dataset").fill("Two of three")
    page.get_by_role("button", name="Create dataset").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Two of three")
    assert Dataset.objects.get(name="Two of three").latest is not None
