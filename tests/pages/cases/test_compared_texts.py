"""Two texts of a case side by side or inline, folded around what differs, in every mode."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html import unescape

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from evalsite.pages.cases.compared_texts import MODES
from scoring.models import Case, Output, Run, User
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with
from tests.support.html import on_one_line
from tests.support.undone import undone

BrowserOf = Callable[[User], Client]

TEXT_MODES = [mode for mode in MODES if mode != "path"]
LAYOUTS = ("side", "inline")
LINES = [f"line {n} of a long answer\n" for n in range(60)]
LONG = "".join(LINES)
CHANGED = "".join([*LINES[:30], "another line\n", *LINES[31:]])


@pytest.fixture
def runs(make_dataset: MakeDataset) -> tuple[Run, Run]:
    version = make_dataset([{"key": f"q{n}", "input": "?", "expected": LONG} for n in range(3)])
    old = run_with(version, {"close": [0.9, 0.9, 0.9]}, name="w45")
    new = run_with(version, {"close": [0.9, 0.2, 0.9]}, name="w46")
    Output.objects.filter(output_set=old.output_set).update(text=LONG)
    Output.objects.filter(output_set=new.output_set).update(text=CHANGED)
    return old, new


def page_of(browser: Client, run: Run, query: str, position: int = 2) -> str:
    answer = browser.get(reverse("run_case", args=[run.uuid, position]) + query)
    assert answer.status_code == 200
    return answer.text


def panes(page: str) -> dict[str, str]:
    """The HTML of each text's pane by its id."""
    title = 'aria-labelledby="(expected|earlier|output|both)-title"'
    return dict(re.findall(title + '.*?<div class="output[^>]*>(.*?)</div>', page, re.DOTALL))


def read(pane: str, left_out: str = "nothing") -> str:
    """The text of a pane; its folds opened, the elements of one tag left out."""
    pane = re.sub(rf"<{left_out}>.*?</{left_out}>", "", pane, flags=re.DOTALL)
    pane = re.sub(r"<summary>.*?</summary>", "", pane)
    return unescape(re.sub(r"<[^>]*>", "", pane))


def test_side_by_side_each_pane_holds_its_own_text(
    browser_of: BrowserOf, bob: User, runs: tuple[Run, Run]
) -> None:
    browser = browser_of(bob)
    for space in ["", "&space=on"]:
        for mode in TEXT_MODES:
            found = panes(page_of(browser, runs[1], f"?diff={mode}{space}"))
            assert {name: read(pane) for name, pane in found.items()} == {
                "expected": LONG,
                "output": CHANGED,
            }
            assert ("<del>" in found["expected"], "<ins>" in found["output"]) == (
                mode != "plain",
            ) * 2
            assert "<ins>" not in found["expected"]
            assert "<del>" not in found["output"]


def test_inline_one_pane_holds_both_texts(
    browser_of: BrowserOf, bob: User, runs: tuple[Run, Run]
) -> None:
    browser = browser_of(bob)
    for space in ["", "&space=on"]:
        for mode in [mode for mode in TEXT_MODES if mode != "plain"]:
            page = page_of(browser, runs[1], f"?diff={mode}&layout=inline{space}")
            (both,) = panes(page).values()
            assert "Expected → Output" in page
            assert read(both, "ins") == LONG
            assert read(both, "del") == CHANGED


def test_inline_texts_as_they_are_stand_one_under_the_other(
    browser_of: BrowserOf, bob: User, runs: tuple[Run, Run]
) -> None:
    page = page_of(browser_of(bob), runs[1], "?diff=plain&layout=inline")
    assert set(panes(page)) == {"expected", "output"}
    assert 'class="texts texts-stacked"' in page


def test_of_three_texts_two_are_compared_in_either_layout(
    browser_of: BrowserOf, bob: User, runs: tuple[Run, Run]
) -> None:
    browser = browser_of(bob)
    for between, layout, shown in [
        ("baseline", "side", {"expected": "", "earlier": "del", "output": "ins"}),
        ("expected", "side", {"expected": "del", "earlier": "", "output": "ins"}),
        ("earlier", "side", {"expected": "", "earlier": "", "output": ""}),
        ("baseline", "inline", {"both": "del ins", "expected": ""}),
        ("expected", "inline", {"both": "del ins", "earlier": ""}),
        ("earlier", "inline", {"both": "", "output": ""}),
    ]:
        for mode in ["word", "char", "line"]:
            old, new = runs
            query = f"?against={old.uuid}&between={between}&diff={mode}&layout={layout}"
            found = panes(page_of(browser, new, query))
            marked = {
                name: [tag for tag in ("del", "ins") if f"<{tag}>" in pane]
                for name, pane in found.items()
            }
            assert marked == {name: tags.split() for name, tags in shown.items()}


def test_what_is_the_same_for_long_is_folded_unless_shown_as_it_is(
    browser_of: BrowserOf, bob: User, runs: tuple[Run, Run]
) -> None:
    browser = browser_of(bob)
    for layout in LAYOUTS:
        for mode in TEXT_MODES:
            page = page_of(browser, runs[1], f"?diff={mode}&layout={layout}")
            summaries = re.findall(r"<summary>(\d+) unchanged lines</summary>", page)
            count = 0 if mode == "plain" else {"side": 4, "inline": 2}[layout]
            assert len(summaries) == count
            assert all(int(lines) > 20 for lines in summaries)


def test_equal_texts_are_whole(browser_of: BrowserOf, bob: User, runs: tuple[Run, Run]) -> None:
    for layout in LAYOUTS:
        page = page_of(browser_of(bob), runs[0], f"?layout={layout}")
        assert "no difference" in page
        assert "diff-fold" not in page
        assert all(read(pane) == LONG for pane in panes(page).values())


def test_the_layout_is_kept_by_every_link_to_a_case_and_can_be_taken_back(
    browser_of: BrowserOf, bob: User, runs: tuple[Run, Run]
) -> None:
    old, new = runs
    for query in ("?n=2", f"?against={old.uuid}&kind=unchanged&n=2", "?against=auto"):
        page = unescape(page_of(browser_of(bob), new, f"{query}&layout=inline&space=on"))
        links = [*re.findall(r'href="([^"]*(?:diff|between)=[^"]*)"', page)]
        links += re.findall(r'rel="(?:prev|next)"[^>]*href="([^"]*)"', page)
        assert links
        assert all("layout=inline" in link and "space=on" in link for link in links)
        assert f'href="{query}&space=on" hx-get' in page
        assert 'aria-current="true">inline</a>' in page
        lists = re.findall(rf'href="({reverse("run", args=[new.uuid])}\?[^"]*)"', page)
        assert not any("layout=" in each for each in lists)


def test_any_other_layout_is_side_by_side(
    browser_of: BrowserOf, bob: User, runs: tuple[Run, Run]
) -> None:
    browser = browser_of(bob)
    for asked in ["", "odd", "%3Cscript%3E", "side"]:
        page = page_of(browser, runs[1], f"?layout={asked}")
        assert 'aria-current="true">side by side</a>' in page
        assert set(panes(page)) == {"expected", "output"}


def test_a_layout_costs_no_query(browser_of: BrowserOf, bob: User, runs: tuple[Run, Run]) -> None:
    browser = browser_of(bob)
    counts = []
    for query in ("?diff=plain", "?diff=word", "?diff=char&layout=inline&space=on"):
        with CaptureQueriesContext(connection) as captured:
            page_of(browser, runs[1], query)
        counts.append(len(captured))
    assert len(set(counts)) == 1


def _put(position: int, expected: str, output: str) -> None:
    Case.objects.filter(position=position).update(expected_json=json.dumps(expected))
    Output.objects.filter(case__position=position).update(text=output)


@pytest.mark.parametrize("mode", TEXT_MODES)
def test_10_mb_are_cut_with_a_notice(
    browser_of: BrowserOf, bob: User, runs: tuple[Run, Run], mode: str
) -> None:
    run, half = runs[1], "zebra and horse\n" * 650_000
    _put(2, half, f"line\n{half}")
    page = page_of(browser_of(bob), run, f"?diff={mode}")
    assert "more characters are not shown" in page
    assert len(page) < 500_000


def test_inline_says_of_either_text_what_is_not_shown(
    browser_of: BrowserOf, bob: User, runs: tuple[Run, Run], subtests: pytest.Subtests
) -> None:
    cases: list[str] = ["char", "word", "line"]
    for mode in cases:
        with subtests.test(mode=mode), undone():
            Case.objects.filter(position=2).update(expected_json=json.dumps("zebra " * 5_000))
            Output.objects.filter(output_set=runs[1].output_set).update(text="horse")
            page = on_one_line(page_of(browser_of(bob), runs[1], f"?diff={mode}&layout=inline"))
            assert "Of Expected, 10,000 more characters are not shown." in page
            assert '<a href="?whole=expected">Open the whole text</a>' in page
            assert page.count("not shown.") == 1
