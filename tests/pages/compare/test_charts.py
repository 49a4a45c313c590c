"""From a dot or a bar of a comparison to the cases it stands for, and back."""

from __future__ import annotations

from collections.abc import Callable
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from django.test import Client
from django.urls import reverse

from scoring.models import DatasetVersion, Run, User
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with
from tests.support.reviewed_runs import ask_to_review
from tests.support.thoroughness import IS_THOROUGH
from tests.support.undone import undone

BrowserOf = Callable[[User], Client]
Read = Callable[..., Any]

BEFORE = [1.0, 1.0, 0.9, 0.2, 0.3, 0.8, 0.7, 0.9]
AFTER = [0.1, 0.11, 0.9, 0.9, 0.3, 0.8, 0.6, 0.9]


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset([{"key": f"q{n}", "input": f"Question {n}"} for n in range(8)])


@pytest.fixture
def runs(version: DatasetVersion) -> tuple[Run, Run]:
    scores = [{"close": BEFORE, "far": AFTER}, {"close": AFTER, "far": BEFORE}]
    old, new = (run_with(version, given) for given in scores)
    return old, new


@pytest.fixture
def read(browser_of: BrowserOf, bob: User, runs: tuple[Run, Run]) -> Read:
    """The page at a link of it, or with this query."""
    browser = browser_of(bob)
    path = reverse("compare", args=[runs[0].team.slug])
    named = {"baseline": runs[0].uuid, "candidate": runs[1].uuid}

    def get(link: str = "", **query: str) -> Any:
        return browser.get(path + (link or f"?{urlencode({**named, **query})}"))

    return get


def listed(answer: Any) -> list[str]:
    return [one.row.pair.key for one in answer.context["pair"].cases.rows]


def chips(answer: Any) -> dict[str, str]:
    return {chip.text: chip.url for chip in answer.context["pair"].cases.filter_chips}


def test_a_dot_of_one_case_leads_to_it(read: Read, runs: tuple[Run, Run]) -> None:
    (url,) = (
        url
        for dot, url in read().context["pair"].charts.dots
        if dot.cases == 1 and dot.direction == "up"
    )
    case = reverse("run_case", args=[runs[1].uuid, 4])
    assert url == f"{case}?against={runs[0].uuid}"


def test_a_dot_of_several_cases_leads_to_the_list_of_them(read: Read) -> None:
    found = [(dot, url) for dot, url in read().context["pair"].charts.dots if dot.cases > 1]
    assert {tuple(listed(read(url))) for _, url in found} == {("q0", "q1"), ("q2", "q7")}
    assert all(len(listed(read(url))) == dot.cases for dot, url in found)
    fell = next(url for dot, url in found if dot.direction == "down")
    query = parse_qs(urlsplit(fell).query)
    assert (query["kind"], query["scorer"]) == (["pairs"], ["close"])
    assert (query["was"], query["now"]) == (["0.96..1"], ["0.08..0.12"])
    assert fell.endswith("#cases")


def test_each_bar_leads_to_the_list_of_its_cases(read: Read) -> None:
    bars = read().context["pair"].charts.bars
    assert [listed(read(url)) for _, url in bars] == [
        ["q0", "q1"],
        ["q6"],
        ["q2", "q4", "q5", "q7"],
        ["q3"],
    ]


def test_marks_of_another_scorer_lead_to_cases_by_its_scores(read: Read) -> None:
    charts = read(chart="far").context["pair"].charts
    assert [listed(read(url)) for _, url in charts.bars][-1] == ["q0", "q1"]
    assert "scorer=far" in charts.bars[0][1]


def test_links_stand_in_the_charts_and_in_their_tables(read: Read) -> None:
    answer = read()
    html = unescape(answer.text)
    for _, url in answer.context["pair"].charts.bars:
        assert html.count(f'href="{url}"') == 2
    for _, url in answer.context["pair"].charts.dots:
        assert html.count(f'href="{url}"') >= 2


def test_ranges_are_chips_that_come_off_one_by_one(read: Read, subtests: pytest.Subtests) -> None:
    cases: list[tuple[dict[str, str], list[str]]] = [
        ({"was": "0.9..1"}, ["close was 0.9 to 1"]),
        ({"was": "0.9..1", "now": "0..0.12"}, ["close was 0.9 to 1", "close is 0 to 0.12"]),
        ({"change": "-0.95..-0.85"}, ["close changed by \N{MINUS SIGN}0.95 to \N{MINUS SIGN}0.85"]),
    ]
    for query, said in cases:
        with subtests.test(query=query, said=said), undone():
            answer = read(kind="pairs", scorer="close", **query)
            found = chips(answer)
            assert list(found) == said
            for text in said:
                rest = [each for each in said if each != text]
                assert list(chips(read(found[text]))) == rest
                assert f'aria-label="Remove the filter {text}"' in answer.text


def test_a_filter_set_in_the_form_keeps_the_range(read: Read) -> None:
    html = read(kind="pairs", scorer="close", was="0.9..1").text
    assert '<input type="hidden" name="was" value="0.9..1">' in html
    assert listed(read(kind="pairs", scorer="close", was="0.9..1", q="Question 7")) == ["q7"]
    assert listed(read(kind="broke", scorer="close", was="0.9..1")) == ["q0", "q1"]


def test_the_way_through_cases_stays_in_the_range(
    read: Read, browser_of: BrowserOf, bob: User
) -> None:
    rows = read(kind="pairs", scorer="close", was="0.9..1").context["pair"].cases.rows
    page = browser_of(bob).get(rows[1].url)
    cases = page.context["cases"]
    assert cases.standing == "2 · in both"
    assert cases.previous_url == rows[0].url
    assert cases.next_url == rows[2].url
    assert "was=0.9..1" in cases.list_url


def test_a_case_behind_a_bar_says_which_it_is_of_how_many(
    read: Read, browser_of: BrowserOf, bob: User
) -> None:
    charts = read().context["pair"].charts
    address = next(url for bar, url in charts.bars if bar.cases > 1)
    rows = read(address.partition("#")[0]).context["pair"].cases.rows
    cases = browser_of(bob).get(rows[1].url).context["cases"]
    assert cases.standing == f"2 of {len(rows)} · in both"
    assert cases.previous_url == rows[0].url


def test_all_filters_come_off_at_once(read: Read) -> None:
    answer = read(kind="pairs", scorer="close", was="0.9..1", tag="none")
    assert listed(answer) == []
    assert "No case of this list passes all of these filters." in answer.text
    assert len(listed(read(answer.context["pair"].cases.unfiltered))) == 8


def test_what_is_no_range_is_refused(read: Read) -> None:
    for bad in ["0.9", "0.9..", "1..0.9", "a..b", "0..2", "nan..1", "0.5..0.5"]:
        answer = read(kind="pairs", scorer="close", was=bad)
        assert "Write a range as two numbers from 0 to 1, such as 0.2..0.24." in answer.text


def test_a_range_needs_a_scorer(read: Read) -> None:
    assert "Choose the scorer that the range of scores is of." in read(was="0.9..1").text


def test_what_rose_and_what_fell_is_listed(read: Read) -> None:
    html = unescape(read().text)
    for change, keys in {"0..1": ["q3"], "-1..0": ["q0", "q1", "q6"]}.items():
        assert f"&scorer=close&change={change}#cases" in html
        assert listed(read(kind="pairs", scorer="close", change=change)) == keys


def test_a_case_that_is_yet_to_be_reviewed_is_in_no_chart(
    read: Read, runs: tuple[Run, Run], bob: User, subtests: pytest.Subtests
) -> None:
    whole = read().context["pair"].charts
    for key in [f"q{n}" for n in (range(8) if IS_THOROUGH else (0, 2))]:
        with subtests.test(key=key), undone():
            ask_to_review(runs[1], bob, key)
            answer = read()
            charts = answer.context["pair"].charts
            for marks, before in ((charts.dots, whole.dots), (charts.bars, whole.bars)):
                assert sum(mark.cases for mark, _ in marks) == 7
                assert sum(mark.cases for mark, _ in before) == 8
            assert all(url for _, url in (*charts.dots, *charts.bars))
            for mark, url in (*charts.dots, *charts.bars):
                if "#cases" in url:
                    keys = listed(read(url))
                    assert len(keys) == mark.cases
                    assert key not in keys
                else:
                    assert f"/cases/{int(key[1:]) + 1}/" not in url
            assert "1 case is left out of the charts" in " ".join(answer.text.split())
            assert "7 cases; a larger dot" in answer.text
            moved = charts.scorer.improved + charts.scorer.regressed
            assert moved == whole.scorer.improved + whole.scorer.regressed - (
                key in {"q0", "q1", "q3", "q6"}
            )
