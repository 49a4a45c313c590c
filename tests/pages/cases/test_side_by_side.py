"""Cases that only one of two runs has, and cases that were edited between dataset versions."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from scoring.engine.compare.comparison import compare_runs
from scoring.engine.runs.missing_case import missing_case_reason
from scoring.models import CaseVerdict, Dataset, Run, RunState, Team, User
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with
from tests.support.html import on_one_line
from tests.support.reviewed_runs import ask_to_review
from tests.support.undone import undone

BrowserOf = Callable[[User], Client]

OLD = [
    {"key": "kept", "input": "How long is it?", "expected": "two metres"},
    {"key": "asked anew", "input": "How long is it?", "expected": "two metres"},
    {"key": "answered anew", "input": "Who?", "expected": {"name": "Ada", "age": 36}},
    {"key": "answered no more", "input": "Why?", "expected": "because"},
    {"key": "gone", "input": "When?"},
]
NEW = [
    {"key": "joined", "input": "Where?"},
    {"key": "kept", "input": "How long is it?", "expected": "two metres", "tags": ["new"]},
    {"key": "asked anew", "input": "How wide is it?", "expected": "two metres"},
    {"key": "answered anew", "input": "Who?", "expected": {"name": "Ada", "age": 37}},
    {"key": "answered no more", "input": "Why?"},
]


@pytest.fixture
def runs(make_dataset: MakeDataset) -> tuple[Run, Run]:
    old = run_with(make_dataset(OLD), {"close": [1.0] * 5}, name="w45")
    new = run_with(make_dataset(NEW), {"close": [1.0] * 5}, name="w46")
    return old, new


@pytest.fixture
def rows(browser_of: BrowserOf, bob: User, runs: tuple[Run, Run]) -> Callable[[str], Any]:
    """The addresses of the rows of a list, by key."""
    old, new = runs

    def read(kind: str, **query: str) -> dict[str, str]:
        named = {"baseline": old.uuid, "candidate": new.uuid, "kind": kind, **query}
        path = reverse("compare", args=[old.team.slug])
        page = browser_of(bob).get(f"{path}?{urlencode(named)}")
        return {row.row.pair.key: row.url for row in page.context["pair"].cases.rows}

    return read


@pytest.fixture
def words(browser_of: BrowserOf, bob: User) -> Callable[[str], str]:
    def read(url: str) -> str:
        answer = browser_of(bob).get(url)
        assert answer.status_code == 200
        return " ".join(unescape(answer.text).split())

    return read


def test_a_case_that_left_the_dataset_opens_in_the_baseline_and_says_why(
    runs: tuple[Run, Run], rows: Callable[[str], Any], words: Callable[[str], str]
) -> None:
    (url,) = rows("only_baseline").values()
    assert url.startswith(reverse("run_case", args=[runs[0].uuid, 5]))
    html = words(url)
    assert "Only in the baseline: w46 is over v2 of the dataset, which lacks this case." in html
    back = f"{reverse('compare', args=['support'])}?baseline={runs[0].uuid}"
    assert f'<a href="{back}&candidate={runs[1].uuid}&kind=only_baseline#case-5">' in html


def test_cases_that_only_the_baseline_has_lead_to_each_other(
    browser_of: BrowserOf, bob: User, make_dataset: MakeDataset
) -> None:
    version = make_dataset([{"key": f"q{n}", "tags": ["odd"] * (n % 2)} for n in range(8)])
    old = run_with(version, {"close": [1.0] * 8}, name="w45")
    new = run_with(version, {"close": [1.0] * 3}, name="w46", leaves_out=[1, 2, 3, 5, 7])
    compare_runs(old, new)
    named = {"baseline": old.uuid, "candidate": new.uuid, "kind": "only_baseline"}
    path, browser = reverse("compare", args=[old.team.slug]), browser_of(bob)
    for query, of, keys in (({}, " of 5", "12357"), ({"tag": "odd"}, "", "1357")):
        listed = browser.get(f"{path}?{urlencode(named | query)}").context["pair"].cases.rows
        urls = [row.url for row in listed]
        assert [row.row.pair.key for row in listed] == [f"q{key}" for key in keys]
        for n, (before, url, after) in enumerate(
            zip([None, *urls], urls, [*urls[1:], None], strict=False), start=1
        ):
            page = browser.get(url)
            cases = page.context["cases"]
            assert (cases.previous_url, cases.next_url) == (before, after)
            assert cases.standing == f"{n}{of} · only in baseline"
            assert f"{urlencode(named | query)}#case-" in cases.list_url
            assert "w46 compared with w45" in on_one_line(page.text)


def test_a_case_that_joined_the_dataset_opens_in_the_candidate_and_says_why(
    runs: tuple[Run, Run], rows: Callable[[str], Any], words: Callable[[str], str]
) -> None:
    (url,) = rows("only_candidate").values()
    assert url.startswith(reverse("run_case", args=[runs[1].uuid, 1]))
    assert "w45 is over v1 of the dataset, which lacks this case." in words(url)


def test_an_output_that_is_missing_is_said(
    make_dataset: MakeDataset, words: Callable[[str], str]
) -> None:
    version = make_dataset([{"key": "a"}, {"key": "b"}])
    old = run_with(version, {"close": [1.0, 1.0]}, name="w45")
    new = run_with(version, {"close": [1.0]}, name="w46", leaves_out=[0])
    case = reverse("run_case", args=[old.uuid, 1])
    html = words(f"{case}?absent={new.uuid}")
    assert "Only in the baseline: w46 has no output for this case." in html
    case = reverse("run_case", args=[old.uuid, 1])
    assert "w46 has no output for this case." in words(f"{case}?against={new.uuid}")


def test_there_are_three_reasons_for_an_absence(
    runs: tuple[Run, Run], subtests: pytest.Subtests
) -> None:
    cases: list[tuple[str, int, str]] = [
        ("gone", 0, "w46 is over v2 of the dataset, which lacks this case."),
        ("kept", 3, "w46 has no output for trial 3 of this case."),
        ("kept", 0, "w46 was cancelled before this case was scored."),
    ]
    for key, trial, said in cases:
        with subtests.test(key=key, trial=trial, said=said), undone():
            cancelled = runs[1]
            Run.objects.filter(pk=cancelled.pk).update(state=RunState.CANCELLED)
            CaseVerdict.objects.filter(run=cancelled).delete()
            assert cancelled.output_set.version.number == 2  # read beforehand
            with CaptureQueriesContext(connection) as captured:
                assert missing_case_reason(cancelled, key, trial) == said
            assert len(captured) == 1


@pytest.mark.parametrize("named", ["nothing", str(UUID(int=4))])
def test_an_absence_from_no_run_is_no_page(
    browser_of: BrowserOf, bob: User, runs: tuple[Run, Run], named: str
) -> None:
    case = reverse("run_case", args=[runs[0].uuid, 1])
    assert browser_of(bob).get(f"{case}?absent={named}").status_code == 404


def test_a_run_of_another_dataset_or_team_is_no_other_side(
    browser_of: BrowserOf, bob: User, make_dataset: MakeDataset, runs: tuple[Run, Run]
) -> None:
    case = reverse("run_case", args=[runs[0].uuid, 1])
    other = run_with(make_dataset([{}], name="Others"), {"close": [1.0]})
    assert browser_of(bob).get(f"{case}?absent={other.uuid}").status_code == 404
    theirs = Team.objects.create(name="Theirs", slug="theirs")
    Dataset.objects.filter(pk=other.output_set.version.dataset_id).update(team=theirs)
    Run.objects.filter(pk=other.pk).update(team=theirs)
    assert browser_of(bob).get(f"{case}?absent={other.uuid}").status_code == 404


def test_edited_cases_show_what_was_edited(
    rows: Callable[[str], Any], words: Callable[[str], str]
) -> None:
    urls = rows("edited")
    assert list(urls) == ["asked anew", "answered anew", "answered no more"]
    asked = words(urls["asked anew"])
    assert "Edited between versions" in asked
    assert "v1 → v2 of the dataset" in asked
    assert "How <del>long</del><ins>wide</ins> is it?" in asked
    answered = words(urls["answered anew"])
    assert re.search("<del>[^/]*36", answered)
    assert re.search("<ins>[^/]*37", answered)
    dropped = words(urls["answered no more"])
    assert "Nothing is expected any more; it was:" in dropped
    assert "because" in dropped


def test_turned_round_an_expected_output_is_new(
    runs: tuple[Run, Run], words: Callable[[str], str]
) -> None:
    old, new = runs
    case = reverse("run_case", args=[old.uuid, 4])
    assert "Nothing was expected." in words(f"{case}?against={new.uuid}")


def test_a_case_that_kept_its_texts_shows_no_edit(
    rows: Callable[[str], Any], words: Callable[[str], str]
) -> None:
    """Tags are no part of what was asked."""
    assert "Edited between versions" not in words(rows("unchanged")["kept"])


def test_a_trial_that_the_baseline_lacks_stands_beside_its_first(
    make_dataset: MakeDataset, browser_of: BrowserOf, alice: User
) -> None:
    version = make_dataset([{"key": "a"}])
    once = run_with(version, {"close": [1.0]}, name="once")
    thrice = run_with(version, {"close": [1.0, 0.0, 1.0]}, trials=3, name="thrice")
    client = browser_of(alice)
    address = reverse("run_case", args=[thrice.uuid, 1])
    page = client.get(address, {"against": str(once.uuid), "trial": 2})
    assert page.context["view"].baseline.output.text == "a 0"
    assert "trial 0, as this run has no trial 2" in on_one_line(page.text)
    page = client.get(address, {"against": str(once.uuid)})
    assert "as this run has no trial" not in page.text


def test_the_first_trial_of_the_baseline_is_not_shown_before_its_review(
    make_dataset: MakeDataset, browser_of: BrowserOf, alice: User
) -> None:
    version = make_dataset([{"key": "a"}])
    once = run_with(version, {"close": [1.0]}, name="once")
    thrice = run_with(version, {"close": [1.0, 0.0, 1.0]}, trials=3, name="thrice")
    task = ask_to_review(once, alice, "a")
    address = reverse("run_case", args=[thrice.uuid, 1])
    answer = browser_of(alice).get(address, {"against": str(once.uuid), "trial": 2})
    assert answer.status_code == 302
    assert answer.url == reverse("review_task", args=[task.queue.uuid, task.position])
    assert browser_of(alice).get(address, {"trial": 2}).status_code == 200
