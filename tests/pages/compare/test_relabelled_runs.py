"""A comparison counts stored verdicts, and says what later labels of its runs say."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from evalsite.pages.compare.relabelled_runs import find_relabelled_runs
from scoring.engine.thresholds.relabelling import relabel_run
from scoring.models import Run, User
from tests.conftest import MakeDataset
from tests.support.html import Reader
from tests.support.suite_runs import entry_of, suite_run

pytestmark = pytest.mark.django_db

BrowserOf = Callable[[User], Client]
NOTICE = "is re-labelled with close 0.3; this comparison uses its verdicts as scored."


@pytest.fixture
def runs(make_dataset: MakeDataset) -> list[Run]:
    """In w46 the second case broke, by the suite's later threshold it did not."""
    version = make_dataset([{}] * 3)
    made = [
        suite_run(version, {"close": scores}, name=name)
        for name, scores in (("w45", [0.9, 0.9, 0.2]), ("w46", [0.9, 0.4, 0.2]), ("w47", [0] * 3))
    ]
    entry_of().change_threshold(0.3, by=None, reason="x")
    return made


def url(*runs: Run, **query: str) -> str:
    baseline, *candidates = (str(run.uuid) for run in runs)
    asked = [("baseline", baseline), *(("candidate", run) for run in candidates), *query.items()]
    return f"{reverse('compare', args=['support'])}?{urlencode(asked)}"


def words(text: str) -> str:
    return " ".join(Reader(text).text.split())


def test_a_comparison_says_which_run_is_relabelled(
    browser_of: BrowserOf, bob: User, runs: list[Run]
) -> None:
    browser = browser_of(bob)
    first, second, third = runs
    assert "re-labelled" not in browser.get(url(first, second)).text
    relabel_run(second, by=None)
    answer = browser.get(url(first, second))
    assert f"w46 {NOTICE}" in words(answer.text)
    assert f'href="{reverse("run", args=[second.uuid])}?labels=new"' in answer.text
    pair = answer.context["pair"]
    assert (pair.figures.broke, pair.figures.unchanged) == (1, 2)  # by the stored verdicts
    (row,) = pair.cases.rows
    assert (row.row.pair.key, row.later) == ("case-2", ["pass", "pass"])
    cells = words(answer.text.partition('id="case-2"')[2].partition("</tr>")[0])
    assert "re-labelled ✓ pass → ✓ pass" in cells
    several = words(browser.get(url(first, second, third)).text)
    assert f"w46 {NOTICE}" in several
    assert f"w47 {NOTICE}" not in several


def test_both_runs_may_be_relabelled(browser_of: BrowserOf, bob: User, runs: list[Run]) -> None:
    _, second, third = runs
    for run in (second, third):
        relabel_run(run, by=None)
    answer = browser_of(bob).get(url(second, third, kind="pairs"))
    rows = {row.row.pair.key: row.later for row in answer.context["pair"].cases.rows}
    assert rows == {"case-1": [], "case-2": ["pass", "fail"], "case-3": []}
    assert [run for run, _ in find_relabelled_runs(runs)] == [second, third]


def test_later_labels_cost_one_query_more_for_any_number_of_pairs(
    browser_of: BrowserOf, bob: User, make_dataset: MakeDataset
) -> None:
    browser, counts = browser_of(bob), []
    for number in (3, 40):
        version = make_dataset([{}] * number, name=f"{number} cases")
        made = [
            suite_run(version, {"close": [score] * number}, thresholds={"close": 0.5})
            for score in (0.9, 0.4)
        ]
        if entry_of().threshold != 0.3:
            entry_of().change_threshold(0.3, by=None, reason="x")
        for is_relabelled in (False, True):
            if is_relabelled:
                relabel_run(made[1], by=None)
            browser.get(url(*made))
            with CaptureQueriesContext(connection) as captured:
                browser.get(url(*made))
            counts.append(len(captured))
    assert counts == [counts[0], counts[0] + 1] * 2


def test_pairs_of_runs_with_trials_have_later_labels_by_the_mean(
    browser_of: BrowserOf, bob: User, make_dataset: MakeDataset
) -> None:
    version = make_dataset([{}] * 2)
    first, second = (
        suite_run(version, {"close": scores}, name=name, trials=2)
        for name, scores in (("w45", [0.9, 0.7, 0.9, 0.9]), ("w46", [0.5, 0.3, 0.9, 0.9]))
    )
    entry_of().change_threshold(0.4, by=None, reason="x")
    relabel_run(second, by=None)
    answer = browser_of(bob).get(url(first, second, kind="pairs"))
    rows = {row.row.pair.key: row.later for row in answer.context["pair"].cases.rows}
    assert rows == {"case-1": ["pass", "pass"], "case-2": []}
