"""Datasets in a real browser: filters, pages and cases, by mouse and by keys."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from scoring.models import DatasetVersion, RunState, User
from tests.conftest import MakeDataset, MakeOutputs

pytestmark = pytest.mark.browser

SignIn = Callable[[User], None]
IsAccessible = Callable[[Page], None]


@pytest.fixture
def version(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> DatasetVersion:
    made = make_dataset(
        [
            {"key": f"q-{n}", "input": f"question {n}", "expected": str(n), "tags": [f"t{n % 3}"]}
            for n in range(1, 121)
        ]
    )
    outputs = make_outputs(made, ["x"] * 120, series="gpt-4o")
    outputs.runs.create(team=made.dataset.team, name="first", state=RunState.FINISHED)
    return made


def test_a_filter_swaps_the_table_and_lands_in_the_address(
    page: Page, sign_in: SignIn, is_accessible: IsAccessible, bob: User, version: DatasetVersion
) -> None:
    sign_in(bob)
    page.goto(f"/datasets/{version.dataset.uuid}/")
    is_accessible(page)
    page.evaluate("window.kept = true")
    page.get_by_label("Text in key, input or expected").fill("question 7")
    page.keyboard.press("Enter")
    expect(page.locator("#cases tbody tr")).to_have_count(11)
    assert page.evaluate("window.kept")
    expect(page).to_have_url(re.compile("q=question(%20|[+])7"))
    page.reload()
    expect(page.locator("#cases tbody tr")).to_have_count(11)
    page.go_back()
    expect(page.locator("#cases tbody tr")).to_have_count(50)
    expect(page.get_by_role("heading", level=1)).to_have_text("Answers")


def test_keys_lead_through_rows_and_cases(
    page: Page, sign_in: SignIn, is_accessible: IsAccessible, bob: User, version: DatasetVersion
) -> None:
    sign_in(bob)
    page.goto(f"/datasets/{version.dataset.uuid}/?tag=t1")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("q-4")
    is_accessible(page)
    page.keyboard.press("j")
    expect(page.get_by_role("heading", level=1)).to_have_text("q-7")
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("heading", level=1)).to_have_text("q-4")


def test_every_tab_is_clean_and_accessible(
    page: Page,
    sign_in: SignIn,
    is_accessible: IsAccessible,
    alice: User,
    version: DatasetVersion,
) -> None:
    sign_in(alice)
    for part in ("versions/", "outputs/", "runs/"):
        page.goto(f"/datasets/{version.dataset.uuid}/{part}")
        assert page.locator("tbody tr").count() == 1, part
        is_accessible(page)


def test_nothing_scrolls_sideways(
    page: Page, sign_in: SignIn, alice: User, version: DatasetVersion
) -> None:
    sign_in(alice)
    home, dataset = "/teams/support/", f"/datasets/{version.dataset.uuid}/"
    upload = "/teams/support/datasets/upload/"
    for url in (home, dataset, f"{dataset}outputs/", f"{dataset}cases/1/", upload):
        page.goto(url)
        for width in (360, 2560):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (url, width)


def test_a_long_tag_breaks_where_there_is_no_room(
    page: Page, sign_in: SignIn, alice: User, make_dataset: MakeDataset
) -> None:
    made = make_dataset([{"key": "q", "input": "a", "tags": ["x" * 150]}])
    sign_in(alice)
    page.set_viewport_size({"width": 360, "height": 800})
    page.goto(f"/datasets/{made.dataset.uuid}/cases/1/")
    assert page.get_by_text("x" * 150).is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_the_search_answers_as_one_types(
    page: Page, sign_in: SignIn, is_accessible: IsAccessible, bob: User, version: DatasetVersion
) -> None:
    sign_in(bob)
    page.goto("/teams/support/")
    page.keyboard.press("/")
    page.keyboard.type("ans")
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Answers")).to_be_visible()
    is_accessible(page)
    page.get_by_label("Name of a dataset, run, scorer or suite").fill("fir")
    expect(page.locator("#found").get_by_role("link", name="first")).to_be_visible()
    assert page.url.endswith("?q=fir")
