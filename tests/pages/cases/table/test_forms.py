"""The query of a case table: what cannot be used is named."""

from __future__ import annotations

import pytest

from scoring.models import Run, User
from tests.pages.runs.steps import BrowserOf, MakeSet, keys, url
from tests.support.run_states import finished_run
from tests.support.undone import undone


def test_filters_that_cannot_be_used_are_named(browser_of: BrowserOf, bob: User, run: Run) -> None:
    browser = browser_of(bob)
    for query, field in [
        ("?min=low", "min"),
        ("?min=0.5", "scorer"),
        ("?scorer=unknown", "scorer"),
        ("?verdict=maybe", "verdict"),
        ("?sort=unknown", "sort"),
        ("?after=-1", "after"),
        ("?after=1.2.3", "after"),
        ("?after=" + "9" * 30, "after"),
        ("?n=0", "n"),
        ("?reviewed=nobody", "reviewed"),
    ]:
        page = browser.get(url(run, query))
        part = browser.get(url(run, query), headers={"HX-Request": "true", "HX-Target": "cases"})
        for answer in (page, part):
            assert field in answer.context["cases"].form.errors
            assert "These filters cannot be used" in answer.text
            assert "Show all cases" in answer.text


def test_a_run_of_one_scorer_need_not_name_it(
    browser_of: BrowserOf, bob: User, make_set: MakeSet
) -> None:
    run = finished_run(make_set(["yes", "no"]))
    assert keys(browser_of(bob).get(url(run, "?min=0.5"))) == ["case-1"]


def test_ticks_that_cannot_be_read_are_named(
    browser_of: BrowserOf, bob: User, run: Run, subtests: pytest.Subtests
) -> None:
    cases: list[str] = ["?place=0.x", "?place=1.2.3", "?" + "place=1&" * 501]
    for query in cases:
        with subtests.test(query=query), undone():
            assert "place" in browser_of(bob).get(url(run, query)).context["cases"].form.errors
