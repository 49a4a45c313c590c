"""Two runs compared: chosen, waited for, said in words, listed case by case."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import unescape
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from scoring.engine.compare import jobs as compare_jobs
from scoring.engine.jobs import job_queue
from scoring.models import Baseline, DatasetVersion, Job, Run, RunState, Team, User
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with

BrowserOf = Callable[[User], Client]

POLL = {"HX-Request": "true", "HX-Target": "waiting"}
BEFORE = [1.0, 1.0, 0.9, 0.2, 0.3, 0.8, 0.7, 0.9]
AFTER = [0.1, 0.4, 0.9, 0.9, 0.3, 0.8, 0.6, 0.9]


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    cases = [
        {"key": f"q{n}", "input": f"Question {n}", "tags": ["odd"] * (n % 2)} for n in range(8)
    ]
    return make_dataset(cases)


@pytest.fixture
def baseline(version: DatasetVersion) -> Run:
    return run_with(version, {"close": BEFORE}, name="w45")


@pytest.fixture
def candidate(version: DatasetVersion, baseline: Run) -> Run:
    """Two cases broke, one was fixed."""
    return run_with(version, {"close": AFTER}, name="w46")


def url(*runs: Run, **query: str) -> str:
    """Of the first run with the others."""
    named = [("baseline", runs[0].uuid), *(("candidate", run.uuid) for run in runs[1:])]
    path = reverse("compare", args=[runs[0].team.slug])
    return f"{path}?{urlencode([*named, *query.items()])}"


def words(answer: Any) -> str:
    return " ".join(unescape(answer.content.decode()).split())


def listed(answer: Any) -> list[str]:
    """The keys of the cases on the page."""
    return [one.row.pair.key for one in answer.context["pair"].cases.rows]


def test_the_page_says_what_changed(
    browser_of: BrowserOf, bob: User, baseline: Run, candidate: Run
) -> None:
    answer = browser_of(bob).get(url(baseline, candidate))
    assert "<h1>w46 compared with w45</h1>" in words(answer)
    assert "2 of 8 cases broke, 1 was fixed" in words(answer)
    assert "<b>close</b> shows no significant difference" in words(answer)
    assert "Intervals and p of close: every sign flip counted, bootstrap interval." in words(answer)
    assert "0.725 → 0.613" in words(answer)


def test_a_stranger_and_a_run_of_another_team_give_404(
    browser_of: BrowserOf,
    bob: User,
    charlie: User,
    baseline: Run,
    candidate: Run,
    other_team: Team,
) -> None:
    assert browser_of(charlie).get(url(baseline, candidate)).status_code == 404
    missing = url(baseline, candidate).replace(str(candidate.uuid), str(uuid4()))
    assert browser_of(bob).get(missing).status_code == 404
    Run.objects.filter(pk=candidate.pk).update(team=other_team)
    assert browser_of(bob).get(url(baseline, candidate)).status_code == 404


@pytest.fixture
def other_team() -> Team:
    return Team.objects.create(name="Other", slug="other")


def test_lists_hold_the_cases_of_their_kind(
    browser_of: BrowserOf, bob: User, baseline: Run, candidate: Run
) -> None:
    browser = browser_of(bob)
    for query, keys in [
        ({}, ["q0", "q1"]),
        ({"kind": "fixed"}, ["q3"]),
        ({"kind": "unchanged"}, ["q2", "q4", "q5", "q6", "q7"]),
        ({"kind": "unchanged", "tag": "odd"}, ["q5", "q7"]),
        ({"kind": "unchanged", "q": "Question 6"}, ["q6"]),
        ({"kind": "broke", "scorer": "close"}, ["q0", "q1"]),
        ({"kind": "unclear"}, []),
        ({"kind": "edited"}, []),
        ({"kind": "broke", "after": "1"}, ["q1"]),
        ({"kind": "broke", "before": "2"}, ["q0"]),
        ({"kind": "broke", "after": "no place"}, ["q0", "q1"]),
    ]:
        answer = browser.get(url(baseline, candidate, **query))
        assert listed(answer) == keys


def test_cases_of_one_run_alone_are_listed(
    browser_of: BrowserOf, bob: User, version: DatasetVersion, baseline: Run
) -> None:
    fewer = run_with(version, {"close": AFTER[1:]}, name="w47", leaves_out=[0])
    answer = browser_of(bob).get(url(baseline, fewer, kind="only_baseline"))
    assert listed(answer) == ["q0"]
    assert "not in this run" in words(answer)
    assert reverse("run_case", args=[baseline.uuid, 1]) in words(answer)


def test_each_row_leads_to_the_case_side_by_side(
    browser_of: BrowserOf, bob: User, baseline: Run, candidate: Run
) -> None:
    answer = browser_of(bob).get(url(baseline, candidate, kind="fixed", scorer="close"))
    case = reverse("run_case", args=[candidate.uuid, 4])
    wanted = f"{case}?against={baseline.uuid}&kind=fixed&scorer=close&n=1"
    assert answer.context["pair"].cases.rows[0].url == wanted


def test_tabs_count_the_pairs_and_keep_the_runs(
    browser_of: BrowserOf, bob: User, baseline: Run, candidate: Run
) -> None:
    tabs = list(browser_of(bob).get(url(baseline, candidate)).context["pair"].cases.tabs())
    assert [(tab.title, tab.cases) for tab in tabs] == [
        ("Broke", 2),
        ("Fixed", 1),
        ("Unchanged", 5),
        ("Inconclusive", 0),
        ("Not scored in either", 0),
        ("Only in baseline", 0),
        ("Only in candidate", 0),
        ("Edited", 0),
        ("In both", 8),
    ]
    assert [tab.title for tab in tabs if tab.is_here] == ["Broke"]
    assert all(str(baseline.uuid) in tab.url for tab in tabs)


def test_a_list_longer_than_a_page_is_paged_both_ways(
    browser_of: BrowserOf, bob: User, make_dataset: MakeDataset
) -> None:
    version = make_dataset([{"key": f"k{n:03}"} for n in range(60)])
    old = run_with(version, {"close": [1.0] * 60}, name="old")
    new = run_with(version, {"close": [0.0] * 60}, name="new")
    browser = browser_of(bob)
    first = browser.get(url(old, new))
    path = reverse("compare", args=[old.team.slug])
    second = browser.get(path + first.context["pair"].cases.next_url)
    back = browser.get(path + second.context["pair"].cases.previous_url)
    assert listed(first) == listed(back) == [f"k{n:03}" for n in range(50)]
    assert listed(second) == [f"k{n:03}" for n in range(50, 60)]
    assert second.context["pair"].cases.rows[0].url.endswith("&n=51")
    assert back.context["pair"].cases.rows[0].url.endswith("&n=1")


def test_different_scorers_thresholds_and_versions_are_named(
    browser_of: BrowserOf, bob: User, version: DatasetVersion, baseline: Run
) -> None:
    new = run_with(version, {"close": AFTER}, name="new", thresholds={"close": 0.85})
    answer = browser_of(bob).get(url(baseline, new))
    assert "close: the threshold was 0.5 and then 0.85" in words(answer)


def test_several_candidates_have_a_row_each(
    browser_of: BrowserOf, bob: User, version: DatasetVersion, baseline: Run, candidate: Run
) -> None:
    third = run_with(version, {"close": BEFORE}, name="w47")
    answer = browser_of(bob).get(url(baseline, candidate, third))
    assert "2 runs compared with w45" in words(answer)
    found = [(one.run.name, one.figures.broke, one.url) for one in answer.context["candidates"]]
    assert found == [("w46", 2, url(baseline, candidate)), ("w47", 0, url(baseline, third))]


# The chooser.


def test_the_bar_leads_to_a_form_with_the_usual_runs(
    browser_of: BrowserOf, bob: User, team: Team, baseline: Run, candidate: Run
) -> None:
    browser = browser_of(bob)
    path = reverse("compare", args=[team.slug])
    assert f'href="{path}"' in browser.get(reverse("team_home", args=[team.slug])).text
    choice = browser.get(path).context["choice"]
    assert choice["baseline"].value() == str(baseline.uuid)
    assert choice["candidate"].value() == [str(candidate.uuid)]


def test_the_pinned_baseline_is_offered_first(
    browser_of: BrowserOf, bob: User, version: DatasetVersion, baseline: Run, candidate: Run
) -> None:
    run_with(version, {"close": AFTER}, name="newest")
    Baseline.objects.pin(baseline, by=None)
    answer = browser_of(bob).get(reverse("compare", args=[baseline.team.slug]))
    assert answer.context["choice"]["baseline"].value() == str(baseline.uuid)


@pytest.mark.parametrize(
    ("count", "said"),
    [(0, "Nothing to compare yet"), (1, "One run more is needed")],
)
def test_too_few_runs_are_said(
    browser_of: BrowserOf, bob: User, team: Team, version: DatasetVersion, count: int, said: str
) -> None:
    for _ in range(count):
        run_with(version, {"close": BEFORE})
    assert said in words(browser_of(bob).get(reverse("compare", args=[team.slug])))


def test_runs_that_cannot_be_compared_are_refused_with_the_reason(
    browser_of: BrowserOf, bob: User, make_dataset: MakeDataset, baseline: Run, candidate: Run
) -> None:
    browser = browser_of(bob)
    other = run_with(make_dataset([{}], "Other"), {"close": [1.0]}, name="other")
    assert "over different datasets" in words(browser.get(url(baseline, other)))
    Run.objects.filter(pk=candidate.pk).update(state=RunState.RUNNING)
    assert "The run w46 is running" in words(browser.get(url(baseline, candidate)))


ELEVEN = urlencode([("candidate", uuid4()) for _ in range(11)])
REFUSED = [
    ("baseline={run}&candidate={run}", 400, "The baseline is among them"),
    ("baseline={run}", 400, "Choose the run to compare"),
    ("baseline=&candidate={run}", 400, "This field is required"),
    (f"baseline={{run}}&{ELEVEN}", 400, "at most 10 runs"),
    ("baseline={run}&candidate=none", 404, "Enter a valid UUID"),
    ("baseline=none&candidate={run}", 404, "Enter a valid UUID"),
]


def test_an_address_that_names_no_fitting_runs_is_refused(
    browser_of: BrowserOf, bob: User, baseline: Run, candidate: Run
) -> None:
    browser = browser_of(bob)
    for name in ["compare", "compare_report"]:
        for query, status, said in REFUSED:
            path = reverse(name, args=[baseline.team.slug])
            answer = browser.get(f"{path}?{query.format(run=baseline.uuid)}")
            assert (answer.status_code, said in words(answer)) == (status, True)
            assert 'type="submit">Compare</button>' in words(answer)  # the form to choose others


# Waiting for the worker.


@pytest.fixture
def is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare_jobs, "MAX_INLINE_PAIRS", 0)


@pytest.mark.usefixtures("is_large")
def test_of_several_runs_it_is_said_how_many_are_compared(
    browser_of: BrowserOf, bob: User, baseline: Run, candidate: Run, version: DatasetVersion
) -> None:
    browser, third = browser_of(bob), run_with(version, {"close": [1.0] * 8}, name="w3")
    address = f"{url(baseline, candidate)}&candidate={third.uuid}"
    assert "0 of 2 runs compared" in words(browser.get(address))
    job_queue.run_job(Job.objects.order_by("pk")[0])
    answer = browser.get(address, headers=POLL)
    assert "1 of 2 runs compared" in words(answer)
    assert "HX-Retarget" not in answer.headers
    job_queue.run_job(Job.objects.order_by("pk")[1])
    assert browser.get(address, headers=POLL).headers["HX-Retarget"] == "#main"


# What it costs.


def _queries(browser: Client, address: str) -> int:
    browser.get(address)
    with CaptureQueriesContext(connection) as captured:
        browser.get(address)
    return len(captured)


@pytest.mark.parametrize("cases", [8, 40])
def test_the_page_costs_few_queries_whatever_its_size(
    browser_of: BrowserOf, bob: User, make_dataset: MakeDataset, cases: int
) -> None:
    version = make_dataset([{} for _ in range(cases)])
    runs = [run_with(version, {"close": [score] * cases}) for score in (1.0, 0.0, 0.5)]
    browser = browser_of(bob)
    assert _queries(browser, url(*runs[:2])) == 14
    assert _queries(browser, url(*runs)) == 6


# The charts.


def test_the_charts_are_of_the_scorer_asked_for(
    browser_of: BrowserOf, bob: User, version: DatasetVersion
) -> None:
    scores: list[dict[str, Sequence[float]]] = [
        {"close": BEFORE, "far": AFTER},
        {"close": AFTER, "far": BEFORE},
    ]
    old, new = (run_with(version, given) for given in scores)
    browser = browser_of(bob)
    for asked, shown in {"": "close", "far": "far", "none": "close"}.items():
        charts = browser.get(url(old, new, chart=asked)).context["pair"].charts
        assert charts.scorer.name == shown
        assert sum(dot.cases for dot, _ in charts.dots) == len(BEFORE)
        assert sum(bar.cases for bar in charts.steps.bars) == len(BEFORE)
