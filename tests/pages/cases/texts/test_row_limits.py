"""Tables of JSON paths draw few rows at first and every row on request, in place or by a link."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.http import QueryDict
from django.test import Client
from django.urls import reverse

from evalsite.pages.cases.texts.row_limits import (
    GROWTH,
    INITIAL_ROWS,
    MoreRows,
    RowLimits,
    get_row_limits,
    link_more_rows,
)
from scoring.models import Run, User
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.html import on_one_line
from tests.support.run_states import Definition, finished_run

BrowserOf = Callable[[User], Client]

LEAVES: Definition = ("leaves", "json_similarity", {})
ELSEWHERE: Definition = ("elsewhere", "json_similarity", {"target_output_key": ["all", "last"]})
COUNT = INITIAL_ROWS * GROWTH + 100


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ("", RowLimits()),
        ("rows=500", RowLimits(500)),
        ("rows=500&same=600", RowLimits(500, 600)),
        ("rows=1", RowLimits(INITIAL_ROWS)),
        ("rows=-1&same=", RowLimits()),
        ("rows=1e9&same=%D9%A5%D9%A0%D9%A0", RowLimits()),
        ("rows=99999999999", RowLimits()),
    ],
)
def test_an_address_asks_for_rows(query: str, asked: RowLimits) -> None:
    assert get_row_limits(QueryDict(query)) == asked


@pytest.mark.parametrize(
    ("drawn", "total", "link"),
    [
        (INITIAL_ROWS, INITIAL_ROWS, None),
        (3, 3, None),
        (INITIAL_ROWS, 120, MoreRows(120, "?n=2&rows=120")),
        (INITIAL_ROWS, 2_000, MoreRows(500, "?n=2&rows=500")),
        (500, 2_000, MoreRows(2_000, "?n=2&rows=2000")),
        (0, 40, MoreRows(40, "?n=2&rows=40")),
    ],
)
def test_a_link_leads_to_ten_times_as_many_rows(
    drawn: int, total: int, link: MoreRows | None
) -> None:
    assert link_more_rows(QueryDict("n=2&rows=500"), "rows", drawn, total) == link


# The page.


@pytest.fixture
def run(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> Run:
    """Of the leaves of both kinds there are more than two steps draw; two scorers compare them."""
    expected = {"all": {f"k{n}": n for n in range(COUNT * 2)}, "last": 1}
    output: dict[str, Any] = {"all": {f"k{n}": n + n % 2 for n in range(COUNT * 2)}, "last": 1}
    outputs = make_outputs(make_dataset([{"expected": expected}]), [json.dumps(output)])
    return finished_run(outputs, LEAVES, ELSEWHERE)


def page_of(browser: Client, run: Run, query: str) -> str:
    answer = browser.get(reverse("run_case", args=[run.uuid, 1]) + query)
    assert answer.status_code == 200
    return unescape(on_one_line(answer.text))


def tables_of(page: str) -> dict[str, list[str]]:
    """The paths of the rows of each table, by its caption."""
    found = re.findall(r'<table class="table table-paths">(.*?)</table>', page, re.DOTALL)
    caption = re.compile(r"<caption[^>]*>(.*?)</caption>")
    path = re.compile(r'scope="row"><span class="id">(.*?)</span>')
    return {caption.findall(each)[0]: path.findall(each) for each in found}


def links_of(page: str) -> dict[str, str]:
    """The addresses of the links to more rows, by their words."""
    found = re.findall(r'<a href="(\?[^"#]*(?:rows|same)=\d+[^"]*)"[^>]*>(Show .*?)</a>', page)
    return {words: address for address, words in found}


@pytest.mark.parametrize("mode", ["line", pytest.param("path", marks=pytest.mark.slow)])
def test_every_leaf_is_reached_by_links(
    browser_of: BrowserOf, bob: User, run: Run, mode: str
) -> None:
    browser, query = browser_of(bob), f"?diff={mode}&space=on"
    differing = [f"all.k{n}" for n in range(1, COUNT * 2, 2)]
    alike = [f"all.k{n}" for n in range(0, COUNT * 2, 2)] + ["last"]
    first = tables_of(page_of(browser, run, query))
    assert first["Paths that differ"] == differing[:INITIAL_ROWS]
    assert "Paths that hold the same" not in first
    steps = 0
    while links := links_of(page_of(browser, run, query)):
        assert all("space=on" in address for address in links.values())
        query = next(iter(links.values())).partition("#")[0]
        steps += 1
    tables = tables_of(page_of(browser, run, query))
    assert tables["Paths that differ"] == differing
    assert tables["Paths that hold the same"] == alike
    assert tables["Leaves of the expected value"] == [f"all.k{n}" for n in range(COUNT * 2)] + [
        "last"
    ]
    assert steps <= 5


def test_links_say_how_many_there_are_and_swap_their_part_in_place(
    browser_of: BrowserOf, bob: User, run: Run
) -> None:
    for query, part in (("?diff=line", "why"), ("?diff=path", "texts")):
        page = page_of(browser_of(bob), run, query)
        assert f"The first {INITIAL_ROWS} of {COUNT}. " in page
        assert f"The first 0 of {COUNT + 1}. " not in page
        link = next(each for each in re.findall(r"<a [^>]*rows=500[^>]*>", page) if part in each)
        assert f'href="{query}&rows=500#{part}"' in link
        assert f'hx-target="#{part}" hx-select="#{part}"' in link


def test_the_fold_of_what_is_alike_is_open_where_its_rows_were_asked_for(
    browser_of: BrowserOf, bob: User, run: Run
) -> None:
    fold = '<details class="fold" open>'
    assert fold not in page_of(browser_of(bob), run, "?diff=path")
    assert fold in page_of(browser_of(bob), run, "?diff=path&same=500")


def test_only_leaves_that_have_no_path_in_the_texts_stay_with_their_scorer(
    browser_of: BrowserOf, bob: User, run: Run
) -> None:
    page = page_of(browser_of(bob), run, "")
    assert page.count("Leaves of the expected value") == 1
    assert page.count('id="paths-title"') == 1
    assert re.search(r"<p[^>]*>leaves: [\d.,]+ of 1,201 leaves, each 1 / 1,201 of the score", page)
    assert re.search(r"elsewhere.*?Leaves of the expected value", page, re.DOTALL)
