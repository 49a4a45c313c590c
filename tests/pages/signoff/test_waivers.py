"""The waivers of a dataset: listed by state, ended and brought back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from scoring.models import DatasetVersion, Run, User, Waiver
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with
from tests.support.html import Reader
from tests.support.waived_runs import waive

BrowserOf = Callable[[User], Client]


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset([{"key": key} for key in "abc"])


@pytest.fixture
def run(version: DatasetVersion) -> Run:
    return run_with(version, {"close": [0.0] * 3})


def page(browser: Client, version: DatasetVersion, query: str = "") -> Any:
    return browser.get(reverse("dataset_waivers", args=[version.dataset.uuid]) + query)


def keys(answer: Any) -> list[str]:
    return [waiver.case_key for waiver in answer.context["page"].rows]


def act(browser: Client, name: str, waiver: Waiver) -> Any:
    return browser.post(reverse(name, args=[waiver.uuid]), follow=True)


def test_they_are_listed_by_state(
    browser_of: BrowserOf, version: DatasetVersion, run: Run, alice: User, bob: User
) -> None:
    waive(run, "a", "close", alice)
    waive(run, "b", "close", alice, days=-1)
    Waiver.objects.end(version.dataset, [waive(run, "c", "close", alice)], by=alice)
    browser = browser_of(bob)
    assert keys(page(browser, version)) == ["c", "b", "a"]
    for state, wanted in {"active": "a", "expired": "b", "ended": "c"}.items():
        assert keys(page(browser, version, f"?state={state}")) == [wanted]
    answer = page(browser, version)
    assert "Known bug 12." in Reader(answer.text).text
    assert reverse("end_waiver", args=[Waiver.objects.all()[0].uuid]) not in answer.text


def test_without_any_the_page_says_how_to_make_one(
    browser_of: BrowserOf, version: DatasetVersion, bob: User
) -> None:
    assert "Waive cases in a comparison of two runs." in page(browser_of(bob), version).text
    empty = page(browser_of(bob), version, "?state=active")
    assert "No waivers in this state" in empty.text


def test_an_ended_one_comes_back_by_undo(
    browser_of: BrowserOf, version: DatasetVersion, run: Run, alice: User
) -> None:
    waiver = waive(run, "a", "close", alice)
    browser = browser_of(alice)
    answer = act(browser, "end_waiver", waiver)
    assert "Waiver of a ended." in answer.text
    assert reverse("reopen_waiver", args=[waiver.uuid]) in answer.text
    assert "already ended" in act(browser, "end_waiver", waiver).text
    assert "Waiver of a restored." in act(browser, "reopen_waiver", waiver).text
    waiver.refresh_from_db()
    assert waiver.state == "active"


def test_it_does_not_come_back_beside_another(
    browser_of: BrowserOf, version: DatasetVersion, run: Run, alice: User
) -> None:
    first, second = (waive(run, "a", "close", alice) for _ in range(2))
    assert "another waiver" in act(browser_of(alice), "reopen_waiver", first).text
    assert list(Waiver.objects.open()) == [second]


def test_roles(
    browser_of: BrowserOf, version: DatasetVersion, run: Run, alice: User, bob: User, charlie: User
) -> None:
    waiver = waive(run, "a", "close", alice)
    for person, status in ((bob, 403), (charlie, 404)):
        assert act(browser_of(person), "end_waiver", waiver).status_code == status
        assert act(browser_of(person), "reopen_waiver", waiver).status_code == status
    assert page(browser_of(charlie), version).status_code == 404


def test_queries_do_not_grow_with_waivers(
    browser_of: BrowserOf, version: DatasetVersion, run: Run, alice: User
) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            page(browser, version)
        return len(queries)

    browser = browser_of(alice)
    waive(run, "a", "close", alice)
    page(browser, version)
    few = count()
    for key in "bc":
        waive(run, key, "close", alice)
    assert count() == few
