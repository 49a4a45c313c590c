"""A case's texts as Markdown, and with what its scorers look for marked in the output."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from scoring.models import Output, OutputSet, Run, User
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.html import Reader, on_one_line
from tests.support.payloads import MARKDOWN
from tests.support.run_states import CLOSE, Definition, finished_run
from tests.support.undone import undone

BrowserOf = Callable[[User], Client]

TEXT = "**Paris** is *it*.\n\n<b>Rome</b> is not."
CITY: Definition = ("city", "includes", {"values": ["Paris", "Oslo"]})
FORM: Definition = ("form", "regex", {"pattern": r"\bis\b"})
BOTH: Definition = (
    "both",
    "all",
    {"scorers": [{"type": "regex", "config": {"pattern": "Rome"}, "name": "rome"}]},
)


@pytest.fixture
def outputs(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> OutputSet:
    cases = [
        {"input": "*Where?*", "expected": "**Paris**", "references": ["_Paris_"]},
        {"input": "Who?", "expected": {"name": "*Ada*"}},
        {"input": "Gone?"},
    ]
    return make_outputs(make_dataset(cases), [TEXT, '{"name": "*Eve*"}', None])


def page_of(browser: Client, run: Run, query: str, position: int = 1) -> str:
    answer = browser.get(reverse("run_case", args=[run.uuid, position]) + query)
    assert answer.status_code == 200
    return answer.text


def pane(page: str, title: str) -> str:
    """The HTML of the section of this title's id."""
    return page.partition(f'aria-labelledby="{title}"')[2].partition("</section>")[0]


def ways(page: str) -> list[str]:
    """The labels of the ways to show the texts."""
    switch = page.partition('data-cycle="d"')[2].partition("</nav>")[0]
    return re.findall(r">([^<>]+)</a>", switch)


def test_every_text_is_read_as_markdown_on_request(
    browser_of: BrowserOf, bob: User, outputs: OutputSet
) -> None:
    browser, run = browser_of(bob), finished_run(outputs)
    page = page_of(browser, run, "?diff=markdown")
    assert "<em>Where?</em>" in pane(page, "input-title")
    assert "<strong>Paris</strong>" in pane(page, "expected-title")
    assert "<strong>Paris</strong> is <em>it</em>." in pane(page, "output-title")
    assert "&lt;b&gt;Rome&lt;/b&gt;" in pane(page, "output-title")
    assert "<em>Paris</em>" in pane(page, "references-title")
    assert "<strong>" not in page_of(browser, run, "?diff=plain")


def test_markdown_stands_under_hx_disable_and_json_stays_json(
    browser_of: BrowserOf, bob: User, outputs: OutputSet
) -> None:
    browser, run = browser_of(bob), finished_run(outputs)
    assert '<div class="output markdown" hx-disable>' in page_of(browser, run, "?diff=markdown")
    page = page_of(browser, run, "?diff=markdown", 2)
    assert '"name": "*Ada*"' in unescape(pane(page, "expected-title"))


def test_only_ways_that_show_something_are_offered(
    browser_of: BrowserOf, bob: User, outputs: OutputSet, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[int, Definition, list[str]]] = [
        (1, CITY, ["as it is", "words", "characters", "lines", "Markdown", "matches"]),
        (1, BOTH, ["as it is", "words", "characters", "lines", "Markdown", "matches"]),
        (1, CLOSE, ["as it is", "words", "characters", "lines", "Markdown"]),
        (2, CLOSE, ["as it is", "words", "characters", "lines", "JSON paths", "Markdown"]),
        (3, CITY, ["as it is", "Markdown"]),
    ]
    for position, definition, expected in cases:
        with subtests.test(position=position, definition=definition, expected=expected), undone():
            run = finished_run(outputs, definition)
            page = page_of(browser_of(bob), run, "?diff=matches", position)
            assert ways(page) == expected
            assert ("What the scorers look for" in page) == ("matches" in expected)


def test_what_scorers_find_is_marked_under_their_names_and_what_they_miss_is_named(
    browser_of: BrowserOf, bob: User, outputs: OutputSet
) -> None:
    run = finished_run(outputs, CITY, FORM, BOTH, CLOSE)
    page = page_of(browser_of(bob), run, "?diff=matches")
    found = re.findall(r'<mark class="match" title="([^"]*)">([^<]*)</mark>', page)
    assert [(unescape(name), text) for name, text in found] == [
        ('city: "Paris"', "Paris"),
        (r"form: \bis\b", "is"),
        ("both / rome: Rome", "Rome"),
        (r"form: \bis\b", "is"),
    ]
    listed = re.sub(r"<[^>]*>|\s+", " ", pane(page, "matches-title"))
    said = " ".join(unescape(listed).split())
    assert 'city "Paris" found 1 time city "Oslo" not found' in said
    assert r"form \bis\b found 2 times" in said


def test_the_parts_that_say_why_lead_to_the_matches(
    browser_of: BrowserOf, bob: User, outputs: OutputSet
) -> None:
    browser, run = browser_of(bob), finished_run(outputs, CITY, CLOSE)
    page = page_of(browser, run, "?verdict=fail&n=1&space=on")
    (link,) = re.findall(r'<a href="([^"]*)">Look for it in the output</a>', page)
    assert "What the scorers look for" in browser.get(unescape(link)).text
    assert "space=on" in link
    found = on_one_line(page_of(browser, run, "?diff=matches"))
    assert "Looked for in the output above" in found
    assert ('aria-label="Layout"' in found, 'aria-label="Layout"' in page) == (False, True)
    assert "Look for it in the output" not in page_of(browser, run, "", 3)


def test_a_pattern_that_takes_too_long_says_so_and_the_page_is_there(
    browser_of: BrowserOf, bob: User, outputs: OutputSet
) -> None:
    run = finished_run(outputs, ("slow", "regex", {"pattern": "(x+x+)+y(?=z)"}))
    Output.objects.filter(output_set=outputs).update(text="x" * 50_000)
    page = page_of(browser_of(bob), run, "?diff=matches")
    assert "takes too long to be marked on a page" in page


@pytest.mark.parametrize("query", ["?diff=markdown", "?diff=matches"])
def test_a_view_costs_no_query(
    browser_of: BrowserOf, bob: User, outputs: OutputSet, query: str
) -> None:
    browser, run = browser_of(bob), finished_run(outputs, CITY, FORM)
    counts = []
    for asked in ("", query):
        with CaptureQueriesContext(connection) as captured:
            page_of(browser, run, asked)
        counts.append(len(captured))
    assert counts[0] == counts[1]


def test_no_payload_of_markdown_becomes_markup(
    browser_of: BrowserOf, bob: User, make_dataset: MakeDataset, make_outputs: MakeOutputs
) -> None:
    """As Markdown each payload by itself; where texts are only escaped, all of them at once."""
    payloads = [*MARKDOWN[:-2], "\n".join(MARKDOWN[:-2])]
    cases = [{"input": text, "expected": text, "references": [text]} for text in payloads]
    outputs = make_outputs(make_dataset(cases), payloads)
    run = finished_run(outputs, ("it", "includes", {"values": [*payloads, "window"]}))
    browser = browser_of(bob)
    pages = [("?diff=markdown", position) for position in range(1, len(payloads) + 1)]
    pages += [(query, len(payloads)) for query in ("?diff=matches", "?diff=word&layout=inline")]
    for query, position in pages:
        payload = payloads[position - 1]
        texts = page_of(browser, run, query, position).partition('id="texts"')[2]
        shown = texts.partition('aria-labelledby="why-title"')[0]
        for tag, attributes in Reader(shown).elements:
            assert tag not in {"script", "img", "svg", "style", "iframe", "input", "math"}, payload
            assert not [name for name in attributes if name.startswith("on")], payload
            assert "hx-trigger" not in attributes, payload
            address = attributes.get("href") or "#"
            assert re.match(r"\?|#|/|https?:|mailto:", address), payload


@pytest.mark.parametrize("query", ["?diff=markdown", "?diff=matches"])
def test_10_mb_are_cut_with_a_notice(
    browser_of: BrowserOf, bob: User, outputs: OutputSet, query: str
) -> None:
    config = {"values": ["ZEBRA", "nowhere"], "case_sensitive": False}
    run = finished_run(outputs, ("it", "includes", config), ("form", "regex", {"pattern": "z.*"}))
    Output.objects.filter(case__position=1).update(text="İzebra and horse\n" * 600_000)
    page = page_of(browser_of(bob), run, query)
    assert re.search("more characters are not shown|(characters|lines), not shown", page)
    assert len(page) < 1_000_000
