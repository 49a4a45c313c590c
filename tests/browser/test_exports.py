"""Files of what a page lists, by mouse, by keyboard, on a phone and without scripts."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, BrowserContext, Download, Page, expect
from pytest_django.live_server_helper import LiveServer

from scoring.models import DatasetVersion, Run, User
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PHONE = {"width": 360, "height": 740}


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset([{"key": f"q{n}", "input": f"=question {n}"} for n in range(60)])


@pytest.fixture
def run(version: DatasetVersion) -> Run:
    """Of 60 cases the first 52 fail: more than one page of them."""
    return run_with(version, {"close": [n / 200 for n in range(52)] + [1.0] * 8})


def rows_of(download: Download) -> list[dict[str, Any]]:
    *rows, last = map(json.loads, Path(download.path()).read_text().splitlines())
    assert last == {"_rows": len(rows)}
    return rows


def test_the_filtered_list_is_exported_by_mouse(
    page: Page, sign_in: Callable[[User], None], is_accessible: Callable[[Page], None],
    bob: User, run: Run,
) -> None:  # fmt: skip
    sign_in(bob)
    page.goto(reverse("run", args=[run.uuid]))
    page.get_by_label("Verdict", exact=True).select_option("fail")
    page.get_by_role("button", name="Filter").click()
    expect(page.get_by_text("1–50 of 52").first).to_be_visible()  # noqa: RUF001  an en dash
    page.get_by_role("link", name="close", exact=True).last.click()
    page.wait_for_url("**sort=close**")
    page.locator("#cases summary", has_text="Export").click()
    is_accessible(page)
    with page.expect_download() as begun:
        page.get_by_role("link", name="JSON Lines").click()
    assert begun.value.suggested_filename == "Answers-w46.jsonl"
    assert [row["key"] for row in rows_of(begun.value)] == [f"q{n}" for n in range(52)]


def test_a_version_is_exported_by_keyboard(
    page: Page, sign_in: Callable[[User], None], bob: User, version: DatasetVersion
) -> None:
    sign_in(bob)
    page.goto(reverse("dataset", args=[version.dataset.uuid]))
    page.locator(".page-actions summary", has_text="Export").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="CSV for spreadsheets")).to_be_focused()
    with page.expect_download() as begun:
        page.keyboard.press("Enter")
    with Path(begun.value.path()).open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert (len(rows), rows[0]["input"], rows[0]["_marked"]) == (60, "'=question 0", '["input"]')


def test_menus_stay_on_a_phones_screen(
    page: Page, sign_in: Callable[[User], None], bob: User, run: Run
) -> None:
    sign_in(bob)
    page.set_viewport_size({"width": PHONE["width"], "height": PHONE["height"]})
    for name in ("dataset", "dataset_versions", "dataset_outputs"):
        page.goto(reverse(name, args=[run.output_set.version.dataset.uuid]))
        for summary in page.locator("main summary", has_text="Export").all():
            summary.click()
            box = summary.locator("xpath=..").locator(".menu-list").bounding_box()
            assert box
            assert box["x"] >= 0, name
            assert box["x"] + box["width"] <= PHONE["width"], name
            summary.click()


def test_it_needs_no_script(
    context: BrowserContext, chromium: Browser, live_server: LiveServer,
    sign_in: Callable[[User], None], bob: User, run: Run,
) -> None:  # fmt: skip
    sign_in(bob)
    plain = chromium.new_context(
        base_url=live_server.url, java_script_enabled=False, storage_state=context.storage_state()
    )
    page = plain.new_page()
    page.goto(reverse("dataset_outputs", args=[run.output_set.version.dataset.uuid]))
    page.locator("table summary", has_text="Export").click()
    with page.expect_download() as begun:
        page.locator("table").get_by_role("link", name="JSON Lines").click()
    assert len(rows_of(begun.value)) == 60
    plain.close()
