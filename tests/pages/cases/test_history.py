"""The verdicts of a case in the runs of its series."""

from __future__ import annotations

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from evalsite.pages.cases import history
from scoring.engine.thresholds.relabelling import relabel_run
from scoring.models import DatasetVersion, Run, User
from tests.pages.cases.test_baseline_output import (
    BrowserOf,
    baseline,
    dated,
    run,
    url,
    version,
    words,
)
from tests.support.finished_runs import run_with
from tests.support.suite_runs import entry_of, suite_run

__all__ = ["baseline", "run", "version"]


def test_the_history_tells_flips_and_where_it_began_to_fail(
    browser_of: BrowserOf, bob: User, version: DatasetVersion, baseline: Run, run: Run
) -> None:
    dated(run_with(version, {"close": [0.1] * 5}, name="w44"), 14)
    answer = browser_of(bob).get(url(run, None))
    marks = answer.context["view"].history.marks
    assert [(mark.outcome.name, mark.label.verdict) for mark in marks] == [
        ("w44", "fail"),
        ("w45", "pass"),
        ("w46", "fail"),
    ]
    assert [mark.is_here for mark in marks] == [False, False, True]
    assert "3 runs of the series a, oldest first · 2 flips · first bad:" in words(answer)
    assert f'href="{url(baseline, None)}"' in answer.text
    assert marks[2].is_first_bad
    run_with(version, {"close": [0.9] * 5}, name="w47")
    again = browser_of(bob).get(url(run, None))
    said = re.sub("<[^>]+>", "", words(again))
    assert "3 flips · first bad: w46, passed again: w47" in said


def test_a_long_history_shows_the_latest_runs_or_those_around_this_one(
    browser_of: BrowserOf,
    bob: User,
    version: DatasetVersion,
    baseline: Run,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(history, "MAX_RUNS", 3)
    later = [run_with(version, {"close": [0.9] * 5}, name=f"later {n}") for n in range(5)]
    browser = browser_of(bob)

    def shown(run: Run, **query: str) -> list[str]:
        answer = browser.get(url(run, None, **query))
        names = [mark.outcome.name for mark in answer.context["view"].history.marks]
        assert ("of 6 runs are shown." in words(answer)) == (len(names) < 6)
        assert "6 runs of the series a, oldest first" in words(answer)
        return names

    assert shown(later[-1]) == ["later 2", "later 3", "later 4"]
    assert shown(later[1]) == ["later 0", "later 1", "later 2"]
    assert shown(baseline) == ["w45", "later 0", "later 1"]
    assert len(shown(baseline, history="all")) == 6
    link = browser.get(url(later[-1], None)).context["cases"].own_url + "history=all"
    page = browser.get(link)
    assert len(page.context["view"].history.marks) == 6
    assert "history=all" not in page.context["cases"].list_url


def test_one_run_has_no_history(browser_of: BrowserOf, bob: User, version: DatasetVersion) -> None:
    alone = run_with(version, {"close": [0.1] * 5})
    assert "history-title" not in browser_of(bob).get(url(alone, None)).text


@pytest.fixture
def relabelled(version: DatasetVersion, alice: User) -> Run:
    """The second of two runs of a suite by whose later threshold its first case passes."""
    _, second = (suite_run(version, {"close": [0.4] * 5}, name=name) for name in ("a", "b"))
    entry_of().change_threshold(0.3, by=None, reason="x")
    relabel_run(second, by=alice)
    return second


def test_the_strip_has_both_labels_of_a_relabelled_run(
    browser_of: BrowserOf, bob: User, relabelled: Run
) -> None:
    browser = browser_of(bob)
    answer = browser.get(url(relabelled, None))
    history = answer.context["view"].history
    assert [tuple(mark.label) for mark in history.marks] == [
        ("fail", ""),
        ("fail", "re-labelled pass"),
    ]
    assert "b: fail, re-labelled pass" in words(answer)
    assert "never flipped" in words(answer)  # by the stored verdicts
    later = browser.get(url(relabelled, None, labels="new"))
    marks = later.context["view"].history.marks
    assert [tuple(mark.label) for mark in marks] == [("fail", ""), ("pass", "scored as fail")]


def test_later_labels_in_a_history_cost_the_same_queries_for_any_number(
    browser_of: BrowserOf, bob: User, version: DatasetVersion, relabelled: Run
) -> None:
    browser, counts = browser_of(bob), []
    for _ in range(2):
        with CaptureQueriesContext(connection) as captured:
            browser.get(url(relabelled, None))
        counts.append(len(captured))
        for number in range(4):
            more = suite_run(
                version, {"close": [0.4] * 5}, name=f"c{number}", thresholds={"close": 0.5}
            )
            relabel_run(more, by=None)
    assert counts[0] == counts[1]
