"""Values of any size on the page of a case: cut, told, and never kept waiting for."""

from __future__ import annotations

import json
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from scoring.core.textdiff.diff import MAX_CHARS
from scoring.models import Output, Run, User
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.finished_runs import run_with
from tests.support.run_states import Definition, finished_run

BrowserOf = Callable[[User], Client]

LEAVES: Definition = ("leaves", "json_similarity", {})
SCORERS = (LEAVES, ("close", "levenshtein", {}), ("says", "includes", {"values": ["x"]}))


def tree(leaves: int, last: str = "end") -> dict[str, Any]:
    items = [{"id": n, "name": f"item {n}", "price": n * 1.5} for n in range(leaves // 3)]
    return {"items": items, "last": last}


def page_of(browser: Client, run: Run, query: str = "") -> str:
    answer = browser.get(reverse("run_case", args=[run.uuid, 1]) + query)
    assert answer.status_code == 200
    return " ".join(unescape(answer.text).split())


@pytest.fixture
def long_run(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> Callable[[int, bool], Run]:
    """So many leaves expected, and as many with one changed at the end; as text or as a value."""

    def made(leaves: int, is_json: bool) -> Run:
        outputs = make_outputs(make_dataset([{"input": "?", "expected": tree(leaves)}]), ["{}"])
        text = json.dumps(tree(leaves, "END"), separators=(",", ":"))
        run = finished_run(outputs, *SCORERS)
        Output.objects.filter(output_set=outputs).update(text=text, is_json=is_json)
        return run

    return made


#: Far beyond what is compared leaf by leaf, and ten megabytes.
LONG = pytest.mark.long("ten megabytes are made, stored and read")
SIZES = [90_000, pytest.param(700_000, marks=[pytest.mark.slow, LONG])]


@pytest.mark.parametrize("leaves", SIZES)
@pytest.mark.parametrize("is_json", [False, True])
def test_megabytes_of_json_are_shown(
    browser_of: BrowserOf,
    bob: User,
    long_run: Callable[[int, bool], Run],
    is_json: bool,
    leaves: int,
) -> None:
    run, browser = long_run(leaves, is_json), browser_of(bob)
    page = page_of(browser, run)
    assert "characters are the same in both texts and not shown." in page
    assert "Open the whole text" in page
    assert "END" in page  # the difference, at the very end
    assert "too long to be laid out leaf by leaf" in page
    assert "Leaves of the expected value" not in page
    whole = browser.get(reverse("run_case", args=[run.uuid, 1]) + "?whole=output").text
    assert json.loads(whole) == tree(leaves, "END")


@pytest.mark.parametrize("size", [1_000, MAX_CHARS])
def test_a_value_is_laid_out_as_long_as_people_can_read_it(
    browser_of: BrowserOf, bob: User, make_dataset: MakeDataset, size: int
) -> None:
    run = run_with(make_dataset([{"input": ["x" * size], "expected": "y"}]), {"close": [0.5]})
    page = browser_of(bob).get(reverse("run_case", args=[run.uuid, 1])).text
    assert ("[\n  &quot;xxx" in page) == (size < MAX_CHARS)
    assert "[&quot;xxx" in page or size < MAX_CHARS


def test_hundreds_of_leaves_ask_the_database_nothing_more(
    browser_of: BrowserOf, bob: User, make_dataset: MakeDataset, make_outputs: MakeOutputs
) -> None:
    counts = set()
    for leaves in (6, 300, 3_000):
        version = make_dataset([{"input": "?", "expected": tree(leaves)}], name=f"{leaves}")
        run = finished_run(make_outputs(version, [json.dumps(tree(leaves, "END"))]), LEAVES)
        browser = browser_of(bob)
        page_of(browser, run)
        with CaptureQueriesContext(connection) as asked:
            page_of(browser, run)
        counts.add(len(asked))
    assert counts == {15}


def test_a_text_compared_as_one_leaf_has_no_table_of_leaves(
    browser_of: BrowserOf, bob: User, make_dataset: MakeDataset, make_outputs: MakeOutputs
) -> None:
    """The texts above it say all that it would."""
    outputs = make_outputs(make_dataset([{"input": "?", "expected": "two metres"}]), ["2 metres"])
    page = page_of(browser_of(bob), finished_run(outputs, LEAVES))
    assert "Leaves of the expected value" not in page
    assert "matched leaves / all leaves of the expected value" in page
