"""White space of a case's texts, marked on request and never part of the text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html import unescape

import pytest
from django.test import Client
from django.urls import reverse

from evalsite.pages.cases.compared_texts import MODES
from scoring.models import Case, Output, Run, User
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.run_states import CLOSE, finished_run

BrowserOf = Callable[[User], Client]

TEXT = "two  words\tand\n<b>a</b> tail "


@pytest.fixture
def run(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> Run:
    cases = [{"input": "a b", "expected": TEXT.replace("tail", "head")} for _ in range(3)]
    return finished_run(make_outputs(make_dataset(cases), [TEXT] * 3), CLOSE)


def page_of(browser: Client, run: Run, query: str) -> str:
    return browser.get(reverse("run_case", args=[run.uuid, 2]) + query).text


def output_of(page: str) -> str:
    """The HTML of the output's pane."""
    pane = page.partition('id="output-title"')[2].partition("</section>")[0]
    found = re.search(r'<div class="output diff[^>]*>(.*?)</div>', pane, re.DOTALL)
    assert found
    return found[1]


def test_marks_stand_around_white_space_and_the_text_stays_as_it_is(
    browser_of: BrowserOf, bob: User, run: Run
) -> None:
    plain = output_of(page_of(browser_of(bob), run, "?diff=plain"))
    spaced = output_of(page_of(browser_of(bob), run, "?diff=plain&space=on"))
    assert "gap-" not in plain
    assert re.findall(r'<span class="gap-(\w+)">(\s+)</span>', spaced) == [
        ("space", "  "), ("tab", "\t"), ("end", "\n"), *[("space", " ")] * 2,
    ]  # fmt: skip
    assert unescape(re.sub(r"</?span[^>]*>", "", spaced)) == TEXT == unescape(plain)


def test_every_way_of_comparing_marks_white_space(
    browser_of: BrowserOf, bob: User, run: Run
) -> None:
    browser = browser_of(bob)
    for mode in [mode for mode in MODES if mode != "path"]:
        page = page_of(browser, run, f"?diff={mode}&space=on")
        for kind in ("space", "tab", "end"):
            assert f'<span class="gap-{kind}">' in output_of(page)
        assert 'aria-current="true">spaces marked</a>' in page


def test_markdown_marks_white_space_too(browser_of: BrowserOf, bob: User, run: Run) -> None:
    browser = browser_of(bob)
    marked = page_of(browser, run, "?diff=markdown&space=on")
    panes = re.findall(r'<div class="output markdown".*?</div>', marked, re.DOTALL)
    assert len(panes) == 3  # the input, too
    assert all('<span class="gap-space">' in pane for pane in panes)
    assert "gap-" not in page_of(browser, run, "?diff=markdown")


def test_a_change_of_nothing_but_white_space_is_always_marked(
    browser_of: BrowserOf, bob: User, run: Run
) -> None:
    browser = browser_of(bob)
    for mode in ["word", "char", "line"]:
        Output.objects.filter(output_set=run.output_set).update(text=TEXT.replace("  ", " "))
        Case.objects.update(expected_json=json.dumps(TEXT))
        page = page_of(browser, run, f"?diff={mode}")
        assert re.search(r'<del><span class="gap-space"> +</span></del>', page)
        assert page.count("gap-") == page.count("<del>") + page.count("<ins>")


def test_the_choice_is_kept_by_every_link_to_a_case_and_can_be_taken_back(
    browser_of: BrowserOf, bob: User, run: Run
) -> None:
    page = unescape(page_of(browser_of(bob), run, "?verdict=pass&diff=char&n=2&space=on"))
    for rel in ("prev", "next"):
        link = re.search(rf'rel="{rel}"[^>]*href="([^"]*)"', page)
        assert link
        assert "space=on" in link[1]
    ways = re.findall(r'href="([^"]*diff=(?:word|line|plain))"', page)
    assert len(ways) == 3
    assert all("space=on" in way for way in ways)
    assert 'href="?verdict=pass&diff=char&n=2" hx-get' in page
    lists = re.findall(rf'href="({reverse("run", args=[run.uuid])}\?[^"]*)"', page)
    assert lists
    assert not any("space=" in each for each in lists)


def test_anything_but_on_marks_nothing(browser_of: BrowserOf, bob: User, run: Run) -> None:
    page = page_of(browser_of(bob), run, "?space=%3Cscript%3E")
    assert "gap-" not in output_of(page)
    assert 'aria-current="true">spaces plain</a>' in page
