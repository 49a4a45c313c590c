"""Ways to look at a case: by JSON paths, in its run alone or beside the run's baseline."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from scoring.models import Baseline, DatasetVersion, Output, Run, User
from scoring.models.case_paging import PAGE_SIZE
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with
from tests.support.undone import undone

BrowserOf = Callable[[User], Client]

EXPECTED = {"total": 880.0, "lines": [{"qty": 2}], "paid": True}
EARLIER = {"paid": True, "total": 880, "lines": [{"qty": 3}]}
NOW = {"total": 881, "lines": [{"qty": 2}], "paid": True, "note": "x\u200b"}


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset([{"key": f"q{n}", "input": "?", "expected": EXPECTED} for n in range(3)])


@pytest.fixture
def baseline(version: DatasetVersion) -> Run:
    return told(run_with(version, {"close": [0.9, 0.9, 0.1]}, name="w45"), EARLIER)


@pytest.fixture
def run(version: DatasetVersion, baseline: Run) -> Run:
    return told(run_with(version, {"close": [0.1, 0.2, 0.3]}, name="w46"), NOW)


def told(run: Run, value: Any) -> Run:
    Output.objects.filter(output_set=run.output_set).update(text=json.dumps(value), is_json=True)
    return run


def page_of(browser: Client, run: Run, query: str = "", position: int = 1) -> str:
    path = reverse("run_case", args=[run.uuid, position])
    return " ".join(unescape(browser.get(path + query).text).split())


def paths_of(page: str) -> list[list[str]]:
    """The words of the table of paths, row by row."""
    table = page.partition('<table class="table table-paths">')[2].partition("</table>")[0]
    rows = re.findall(r"<tr>.*?</tr>", table)
    cells = (re.findall(r"<t[hd].*?>(.*?)</t[hd]>", row) for row in rows)
    return [[" ".join(re.sub(r"<.*?>", " ", cell).split()) for cell in row] for row in cells]


def test_json_is_compared_path_by_path(
    browser_of: BrowserOf, bob: User, run: Run, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[str, list[str], list[list[str]], str]] = [
        (
            "?diff=path",
            ["Path", "Expected", "Output"],
            [["total", "880", "881"], ["note", "nothing", '"x U+200B "']],
            "2 paths hold the same in both",
        ),
        (
            "?against=auto&diff=path",
            ["Path", "Expected , not compared", "w45", "w46"],
            [
                ["total", "880", "880", "881"],
                ["lines[0].qty", "2", "3", "2"],
                ["note", "nothing", "nothing", '"x U+200B "'],
            ],
            "1 path holds the same in both",
        ),
        (
            "?against=auto&diff=path&between=earlier",
            ["Path", "Expected", "w45", "w46 , not compared"],
            [["lines[0].qty", "2", "3", "2"]],
            "2 paths hold the same in both",
        ),
    ]
    for query, head, rows, same in cases:
        with subtests.test(query=query, head=head, rows=rows, same=same), undone():
            page = page_of(browser_of(bob), run, query)
            assert paths_of(page) == [head, *rows]
            assert same in page


def test_without_json_there_are_no_paths_to_compare(
    browser_of: BrowserOf, bob: User, run: Run
) -> None:
    Output.objects.filter(output_set=run.output_set).update(text="no", is_json=False)
    page = page_of(browser_of(bob), run, "?diff=path")
    assert "JSON paths" not in page
    assert 'aria-current="true">words</a>' in page


def test_the_third_text_is_written_like_the_two_that_are_compared(
    browser_of: BrowserOf, bob: User, run: Run
) -> None:
    page = page_of(browser_of(bob), run, "?against=auto")
    assert page.count("formatted as JSON") == 3
    assert "880.0" not in page.partition("Scores in both runs")[0]
    assert page_of(browser_of(bob), run, "?against=auto&diff=plain").count("880.0") >= 1


def test_equal_texts_are_said_to_be_equal(
    browser_of: BrowserOf, bob: User, baseline: Run, run: Run
) -> None:
    assert "no difference" not in page_of(browser_of(bob), run, "?against=auto")
    told(run, dict(reversed(EARLIER.items())))
    assert page_of(browser_of(bob), run, "?against=auto").count("no difference") == 1
    told(baseline, EXPECTED)
    assert (
        page_of(browser_of(bob), run, "?against=auto&between=earlier").count("no difference") == 1
    )


def test_a_case_of_a_runs_list_is_laid_beside_the_baseline_and_back(
    browser_of: BrowserOf, bob: User, baseline: Run, run: Run
) -> None:
    listed = "?verdict=fail&sort=close&n=2"
    alone = page_of(browser_of(bob), run, listed, 2)
    assert 'aria-current="true">this run</a>' in alone
    beside = f"{listed}&against=auto"
    assert f'{beside}">vs. its baseline</a>' in alone
    page = page_of(browser_of(bob), run, beside, 2)
    assert 'aria-current="true">vs. w45</a>' in page
    assert "Scores in both runs" in page
    assert ">2 of 3</span>" in page
    for step in ("1", "3"):
        assert re.search(rf'verdict=fail&sort=close&n={step}&against=auto"', page)
    back = reverse("run", args=[run.uuid])
    assert f'href="{back}?verdict=fail&sort=close#cases">w46</a>' in page
    assert f'{listed}">this run</a>' in page


def test_the_pinned_baseline_is_the_one_beside(
    browser_of: BrowserOf, bob: User, version: DatasetVersion, baseline: Run, run: Run
) -> None:
    newest = run_with(version, {"close": [0.1, 0.2, 0.3]}, name="w47")
    assert 'aria-current="true">vs. w46</a>' in page_of(browser_of(bob), newest, "?against=auto")
    Baseline.objects.pin(baseline, by=None)
    assert 'aria-current="true">vs. w45</a>' in page_of(browser_of(bob), newest, "?against=auto")


def test_without_another_run_there_is_nothing_to_lay_beside(
    browser_of: BrowserOf, bob: User, baseline: Run
) -> None:
    for query in ("", "?against=auto"):
        page = page_of(browser_of(bob), baseline, query)
        assert "Runs shown" not in page
        assert "Scores in both runs" not in page


def test_a_case_of_a_comparison_stays_in_its_list(
    browser_of: BrowserOf, bob: User, baseline: Run, run: Run
) -> None:
    page = page_of(browser_of(bob), run, f"?against={baseline.uuid}&kind=broke&n=1")
    assert "Runs shown" not in page
    assert "w46 compared with w45" in page


COUNT = PAGE_SIZE + 10


@pytest.fixture
def long_runs(make_dataset: MakeDataset) -> tuple[Run, Run]:
    """All of more cases than a page lists broke."""
    version = make_dataset([{"key": f"q{n}", "input": "?"} for n in range(1, COUNT + 1)])
    scores = {"w45": 0.9, "w46": 0.1}
    old, new = (run_with(version, {"close": [s] * COUNT}, name=n) for n, s in scores.items())
    return old, new


def test_the_way_back_leads_to_the_case_in_its_list(
    browser_of: BrowserOf, bob: User, long_runs: tuple[Run, Run], subtests: pytest.Subtests
) -> None:
    cases: list[tuple[int, int]] = [(1, 1), (PAGE_SIZE, 1), (COUNT - 2, COUNT - 2)]
    for number, first in cases:
        with subtests.test(number=number, first=first), undone():
            browser, (old, new) = browser_of(bob), long_runs
            path = reverse("run_case", args=[new.uuid, number])
            for query in (
                f"?against={old.uuid}&kind=broke&n={number}",
                f"?verdict=fail&n={number}",
            ):
                back = browser.get(path + query).context["cases"].list_url
                page = browser.get(back)
                listed = re.findall(r'<span class="id">q(\d+)</span>', page.text)
                assert listed[0] == str(first)
                assert str(number) in listed
                if "against" in query:
                    row = back.partition("#")[2]
                    assert f'<tr id="{row}">' in page.text
                    again = page.context["pair"].cases.rows[listed.index(str(number))].url
                    assert again.endswith(f"/cases/{number}/{query}")


@pytest.mark.parametrize(
    ("query", "most"), [("?against=auto", 19), ("?against=auto&verdict=fail&sort=close&n=2", 20)]
)
def test_beside_the_baseline_needs_two_queries_more(
    browser_of: BrowserOf, bob: User, run: Run, query: str, most: int
) -> None:
    browser = browser_of(bob)
    with CaptureQueriesContext(connection) as captured:
        page_of(browser, run, query)
    assert len(captured) <= most
