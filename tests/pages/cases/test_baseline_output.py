"""A case side by side with the run it is compared with, and its history over the series."""

from __future__ import annotations

from collections.abc import Callable
from html import unescape
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from scoring.engine.compare.comparison import compare_runs
from scoring.models import DatasetVersion, Output, OutputSet, Run, Team, User
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with
from tests.support.undone import undone

BrowserOf = Callable[[User], Client]

EXPECTED, EARLIER, NOW = "the refund was paid", "the refund was sent", "no refund was sent"


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    cases = [{"key": f"q{n}", "input": f"Question {n}", "expected": EXPECTED} for n in range(5)]
    return make_dataset(cases)


def told(run: Run, text: str | None) -> Run:
    Output.objects.filter(output_set=run.output_set).update(text=text)
    return run


def dated(run: Run, days: int) -> Run:
    """Its outputs are so many days older than now."""
    then = timezone.now() - timezone.timedelta(days=days)
    OutputSet.objects.filter(pk=run.output_set_id).update(dated=then)
    run.output_set.refresh_from_db()
    return run


@pytest.fixture
def baseline(version: DatasetVersion) -> Run:
    run = run_with(version, {"close": [0.9, 0.8, 0.7, 0.2, 0.9], "old": [1.0] * 5}, name="w45")
    return dated(told(run, EARLIER), 7)


@pytest.fixture
def run(version: DatasetVersion, baseline: Run) -> Run:
    """Cases 1, 3 and 5 broke, 2 still passes, 4 was fixed."""
    return told(run_with(version, {"close": [0.1, 0.8, 0.3, 0.9, 0.4]}, name="w46"), NOW)


def url(run: Run, baseline: Run | None, position: int = 1, **query: str) -> str:
    path = reverse("run_case", args=[run.uuid, position])
    against = {"against": str(baseline.uuid)} if baseline else {}
    return path + "".join(
        f"{'&' if n else '?'}{name}={value}"
        for n, (name, value) in enumerate((against | query).items())
    )


def words(answer: Any) -> str:
    return " ".join(unescape(answer.content.decode()).split())


def marked(answer: Any, tag: str) -> list[str]:
    """What the page marks as added (`ins`) or removed (`del`)."""
    parts = answer.content.decode().split(f"<{tag}>")[1:]
    return [part.partition(f"</{tag}>")[0] for part in parts]


def test_any_two_of_three_texts_are_compared(
    browser_of: BrowserOf, bob: User, baseline: Run, run: Run
) -> None:
    browser = browser_of(bob)
    for between, removed, added in [
        ("", ["the"], ["no"]),
        ("baseline", ["the"], ["no"]),
        ("expected", ["the", "paid"], ["no", "sent"]),
        ("earlier", ["paid"], ["sent"]),
        ("nonsense", ["the"], ["no"]),
    ]:
        answer = browser.get(url(run, baseline, between=between, diff="word"))
        assert (marked(answer, "del"), marked(answer, "ins")) == (removed, added)


def test_every_way_shows_all_three_texts(
    browser_of: BrowserOf, bob: User, baseline: Run, run: Run
) -> None:
    browser = browser_of(bob)
    for mode in ["plain", "word", "char", "line"]:
        for between in ["baseline", "expected", "earlier"]:
            answer = browser.get(url(run, baseline, between=between, diff=mode))
            assert answer.text.count('<div class="output diff') == 4  # the input, too
            assert bool(marked(answer, "ins")) == (mode != "plain")


def test_scores_of_both_runs_stand_beside_each_other(
    browser_of: BrowserOf, bob: User, baseline: Run, run: Run
) -> None:
    answer = browser_of(bob).get(url(run, baseline))
    pairs = answer.context["view"].judgement.score_pairs
    found = [(each.name, each.before and each.before.score, each.delta) for each in pairs]
    assert found == [("close", 0.9, -0.8), ("old", 1.0, None)]
    assert "pass in w45 →" in words(answer).replace("✓</span><span>", "").replace("</span>", "")


def test_neighbours_are_those_of_the_list(
    browser_of: BrowserOf, bob: User, baseline: Run, run: Run, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[int, int | None, int | None]] = [
        (1, None, 3),
        (3, 1, 5),
        (5, 3, None),
        (2, 1, 3),
    ]
    for position, previous, following in cases:
        with subtests.test(position=position, previous=previous, following=following), undone():
            around = (
                browser_of(bob).get(url(run, baseline, position, kind="broke")).context["cases"]
            )
            places = {each: url(run, baseline, each, kind="broke") for each in (1, 3, 5)}
            assert around.previous_url == places.get(previous or 0)
            assert around.next_url == places.get(following or 0)
            assert around.standing == "broke"
            assert around.list_url.endswith(f"kind=broke#case-{position}")


def test_neighbours_keep_to_the_lists_filters_and_the_chosen_texts(
    browser_of: BrowserOf, bob: User, baseline: Run, run: Run
) -> None:
    query = {"kind": "broke", "scorer": "close", "q": "Question", "between": "earlier"}
    around = browser_of(bob).get(url(run, baseline, 3, **query)).context["cases"]
    assert around.previous_url == url(run, baseline, 1, **query)
    narrowed = browser_of(bob).get(url(run, baseline, 3, kind="broke", q="Question 4"))
    assert narrowed.context["cases"].previous_url is None


def test_the_number_in_the_list_goes_on_from_case_to_case(
    browser_of: BrowserOf, bob: User, baseline: Run, run: Run
) -> None:
    browser = browser_of(bob)
    compare_runs(baseline, run)
    around = browser.get(url(run, baseline, 3, kind="broke", n="2")).context["cases"]
    assert around.standing == "2 of 3 · broke"
    assert around.previous_url == url(run, baseline, 1, kind="broke", n="1")
    assert around.next_url == url(run, baseline, 5, kind="broke", n="3")
    narrowed = browser.get(url(run, baseline, 3, kind="broke", q="Question", n="2"))
    assert narrowed.context["cases"].standing == "2 · broke"


def test_a_case_opened_by_itself_has_no_neighbours(
    browser_of: BrowserOf, bob: User, baseline: Run, run: Run
) -> None:
    around = browser_of(bob).get(url(run, baseline, 3)).context["cases"]
    assert (around.previous_url, around.next_url, around.standing) == (None, None, "")


def test_the_baselines_text_can_be_opened_whole(
    browser_of: BrowserOf, bob: User, baseline: Run, run: Run
) -> None:
    answer = browser_of(bob).get(url(run, baseline, whole="baseline"))
    assert answer.text == EARLIER


def test_the_case_is_found_by_its_key_in_another_version(
    browser_of: BrowserOf, bob: User, make_dataset: MakeDataset, baseline: Run
) -> None:
    cases = [{"key": f"q{n}", "expected": EXPECTED} for n in (4, 0)]
    newer = make_dataset(cases)
    run = told(run_with(newer, {"close": [0.5, 0.5]}, name="w46"), NOW)
    beside = browser_of(bob).get(url(run, baseline, 1)).context["view"].baseline
    assert beside.output.case.position == 5
    assert beside.verdict == "pass"


@pytest.mark.parametrize("against", ["none", str(UUID(int=4))])
def test_a_run_that_is_not_there_gives_404(
    browser_of: BrowserOf, bob: User, run: Run, against: str
) -> None:
    assert browser_of(bob).get(url(run, None, against=against)).status_code == 404


def test_a_run_of_another_dataset_or_team_gives_404(
    browser_of: BrowserOf, bob: User, make_dataset: MakeDataset, run: Run
) -> None:
    other = run_with(make_dataset([{}], "Other"), {"close": [1.0]})
    assert browser_of(bob).get(url(run, other)).status_code == 404
    Run.objects.filter(pk=other.pk).update(team=Team.objects.create(name="B", slug="b"))
    assert browser_of(bob).get(url(run, other)).status_code == 404


# What it costs.


def test_side_by_side_needs_few_queries(
    browser_of: BrowserOf, bob: User, baseline: Run, run: Run, subtests: pytest.Subtests
) -> None:
    cases: list[dict[str, str]] = [
        {},
        {"kind": "broke", "n": "2"},
        {"kind": "broke", "scorer": "close", "n": "2"},
    ]
    for query in cases:
        with subtests.test(query=query), undone():
            browser = browser_of(bob)
            with CaptureQueriesContext(connection) as captured:
                browser.get(url(run, baseline, 3, **query))
            assert len(captured) <= 20
