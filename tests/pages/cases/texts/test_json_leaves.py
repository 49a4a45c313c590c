"""One table of a case's JSON: path, what is expected, what came, and what the leaf scored."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from evalsite.pages.cases.texts.json_leaves import LeafScores, find_leaf_scores
from evalsite.pages.cases.texts.json_paths import build_path_table
from evalsite.pages.cases.texts.row_limits import INITIAL_ROWS, RowLimits
from evalsite.rendering.safe_html import render_leaf
from scoring.core.configured import configure_scorer
from scoring.core.contract import Case
from scoring.core.explain.explanation import explain
from scoring.core.textdiff.json_diff import compare_paths
from scoring.models import Run, User
from tests.conftest import MakeDataset, MakeOutputs
from tests.support import oracles
from tests.support.run_states import Definition, finished_run

BrowserOf = Callable[[User], Client]

EXPECTED = {"name": "Ada  Lovelace", "age": 36, "born": {"year": 1815}, "tags": ["a", "b"]}
OUTPUT = {"name": "Ada\u200b Lovelace", "age": 36.0, "tags": ["b", "a"], "extra": True}
LEAVES: Definition = ("leaves", "json_similarity", {})


def found(config: dict[str, Any], expected: Any, output: Any) -> list[LeafScores]:
    """The leaves that the page joins with the paths of these values."""
    case = Case(json.dumps(output), expected)
    (result,) = configure_scorer("json_similarity", config).score([case])
    explanation = explain("json_similarity", config, 0.5, case, result)
    wanted = {row.path: row.leaves[0] for row in compare_paths([expected])}
    return list(find_leaf_scores("it", explanation, output, wanted))


def credits_of(config: dict[str, Any], expected: Any, output: Any) -> dict[str, float]:
    (leaves,) = found(config, expected, output)
    return {path: round(leaf.credit, 4) for path, leaf in leaves.by_path.items()}


@pytest.mark.parametrize(
    ("config", "expected", "output", "scored"),
    [
        ({}, {"a": 1, "b": [2]}, {"a": 1, "b": []}, {"a": 1.0, "b[0]": 0.0}),
        ({"ignore_paths": ["a"]}, {"a": 1, "b": 2}, {"a": 5, "b": 2}, {"b": 1.0}),
        ({"number_tolerance": 0.1}, {"a": 100}, {"a": 101}, {"a": 1.0}),
        ({"array_mode": "unordered"}, [1, 2], [2, 1], {"[0]": 1.0, "[1]": 1.0}),
        ({"target_output_key": "a"}, {"a": {"x": 1}}, {"a": {"x": 2}}, {"a.x": 0.0}),
        ({"target_output_key": "a.b"}, {"a.b": [1]}, {"a.b": [1]}, {'["a.b"][0]': 1.0}),
        ({"target_output_key": "a[0]"}, {"a": [{"x": 1}]}, {"a": [{"x": 1}]}, {"a[0].x": 1.0}),
        ({"target_output_key": "a"}, {"a": 1}, {"a": 1}, {"a": 1.0}),
    ],
)
def test_each_leaf_has_its_path_in_the_whole_output(
    config: dict[str, Any], expected: Any, output: Any, scored: dict[str, float]
) -> None:
    assert credits_of(config, expected, output) == scored


@pytest.mark.parametrize(
    ("config", "expected", "output"),
    [
        ({"target_output_key": ["a", "b"]}, {"a": 1, "b": 2}, {"a": 1, "b": 2}),
        ({"target_output_key": "a"}, [1, 2], {"a": [1, 2]}),
        ({"default_expected": {"a": 1}}, None, {"a": 1}),
    ],
)
def test_leaves_that_lie_elsewhere_are_not_joined(
    config: dict[str, Any], expected: Any, output: Any
) -> None:
    assert found(config, expected, output) == []


@pytest.mark.parametrize("output", [OUTPUT, {}, EXPECTED, {"name": "", "tags": "a"}])
def test_the_credits_make_the_score(output: Any) -> None:
    (leaves,) = found({}, EXPECTED, output)
    score = oracles.json_similarity(EXPECTED, json.dumps(output))
    assert leaves.total == oracles.leaves(EXPECTED)
    assert leaves.matched / leaves.total == pytest.approx(score)


def test_a_credit_says_what_it_was_given_for() -> None:
    (leaves,) = found({"array_mode": "unordered"}, {"a": [1, 2, 3]}, {"a": [3, 1]})
    seen = {path: leaves.credit(path, said) for path, said in {"a[0]": "3", "a[2]": None}.items()}
    assert (seen["a[0]"].value, seen["a[0]"].reference) == (1.0, "1")
    assert (seen["a[2]"].value, seen["a[2]"].reference) == (1.0, "3")
    assert leaves.credit("a[1]", "1").is_missing
    assert leaves.credit("extra", "1").value is None


@pytest.mark.parametrize(
    ("room", "drawn"),
    [
        (RowLimits(), (10, INITIAL_ROWS - 10)),
        (RowLimits(INITIAL_ROWS, 70), (10, 70)),
        (RowLimits(5), (5, 0)),
        (RowLimits(1_000), (10, 140)),
    ],
)
def test_rows_that_differ_come_first_and_the_rest_fills_the_room(
    room: RowLimits, drawn: tuple[int, int]
) -> None:
    values = {
        "expected": {str(n): 0 for n in range(150)},
        "output": {str(n): int(n < 10) for n in range(150)},
    }
    found = compare_paths(list(values.values()))
    table = build_path_table(list(values), found, ("expected", "output"), limits=room)
    assert (len(table.rows), len(table.alike)) == drawn
    assert (table.same, table.differ) == (140, 10)
    assert [cell.tag for cell in table.rows[0].change] == ["del", "ins"]
    assert all([cell.tag for cell in row.change] == [""] for row in table.alike)


@pytest.mark.parametrize(
    ("expected", "output", "seen"),
    [
        ("same", "some", ['"same"', '"some"']),
        ("L" * 298, "L" * 297 + "M", [f'"{"L" * 298}"', f'"{"L" * 297}M"']),
        ("L" * 400, "L" * 399 + "M", ["…" + "L" * 61 + '"', "…" + "L" * 60 + 'M"']),
        ("L" * 400 + "A", "L" * 400, ["…" + "L" * 60 + 'A"', "…" + "L" * 60 + '"']),
        ("A" * 900, "B" * 900, ['"' + "A" * 298 + "…", '"' + "B" * 298 + "…"]),
        (
            "L" * 400 + "A" * 400,
            "L" * 400 + "B" * 400,
            [f"…{'L' * 60}{letter * 238}…" for letter in "AB"],
        ),
    ],
)
def test_of_long_leaves_what_differs_is_in_sight(
    expected: str, output: str, seen: list[str]
) -> None:
    values = {"expected": {"a": expected}, "output": {"a": output}}
    found = compare_paths(list(values.values()))
    (row,) = build_path_table(list(values), found, ("expected", "output")).rows
    cells = [render_leaf(cell.text, "", with_spaces=False, since=cell.since) for cell in row.cells]
    assert [unescape(re.sub(r"<.*?>", "", cell)) for cell in cells] == seen


# The page.


@pytest.fixture
def run(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> Run:
    cases = [{"input": "Who?", "expected": EXPECTED}, {"input": "Odd?", "expected": {"a": 1}}]
    parts = {"scorers": [{"type": "json_similarity", "name": "inner"}]}
    outputs = make_outputs(make_dataset(cases), [json.dumps(OUTPUT), "no JSON"])
    return finished_run(outputs, LEAVES, ("both", "all", parts))


def page_of(browser: Client, run: Run, query: str, position: int = 1) -> str:
    answer = browser.get(reverse("run_case", args=[run.uuid, position]) + query)
    assert answer.status_code == 200
    return unescape(answer.text)


def rows_of(page: str) -> list[list[str]]:
    """The words of every row of the tables of paths."""
    tables = re.findall(r'<table class="table table-paths">(.*?)</table>', page, re.DOTALL)
    rows = re.findall(r"<tr>.*?</tr>", " ".join(tables), re.DOTALL)
    cells = (re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in rows)
    return [[" ".join(re.sub(r"<.*?>", " ", cell).split()) for cell in row] for row in cells]


ROWS = [
    ["name", '"Ada Lovelace"', '"Ada U+200B Lovelace"', *["✕ fail 0.9231 partly"] * 2],
    ["born.year", "1815", "nothing", "✕ fail 0.0000 missing", "✕ fail 0.0000 missing"],
    ["tags[0]", '"a"', '"b"', "✕ fail 0.0000", "✕ fail 0.0000"],
    ["tags[1]", '"b"', '"a"', "✕ fail 0.0000", "✕ fail 0.0000"],
    ["extra", "nothing", "true", "not counted", "not counted"],
]  # fmt: skip


@pytest.mark.parametrize("query", ["?diff=path", "?diff=path&space=on"])
def test_the_table_of_paths_tells_every_leafs_credit(
    browser_of: BrowserOf, bob: User, run: Run, query: str
) -> None:
    head, *rows = rows_of(page_of(browser_of(bob), run, query))
    assert head == ["Path", "Expected", "Output", "leaves", "both / inner"]
    assert rows[:5] == ROWS
    assert rows[6:] == [["age", "36", "36", "✓ pass 1.0000", "✓ pass 1.0000"]]


def test_there_is_one_table_in_every_mode(browser_of: BrowserOf, bob: User, run: Run) -> None:
    browser = browser_of(bob)
    for mode in ["plain", "word", "char", "line", "path"]:
        for layout in ["side", "inline"]:
            page = page_of(browser, run, f"?diff={mode}&layout={layout}")
            assert page.count('id="paths-title"') == 1
            assert "leaves: 1.9231 of 5 leaves, each 1 / 5 of the score." in page
            assert "Leaves of the expected value" not in page


def test_inline_both_values_share_a_cell(browser_of: BrowserOf, bob: User, run: Run) -> None:
    page = page_of(browser_of(bob), run, "?diff=path&layout=inline")
    head, first, *_ = rows_of(page)
    assert head[:2] == ["Path", "Expected → Output"]
    assert first[1] == '"Ada Lovelace" "Ada U+200B Lovelace"'
    assert '<del class="id">"Ada  Lovelace"</del> <ins class="id">' in page


def test_white_space_in_cells_is_marked_on_request(
    browser_of: BrowserOf, bob: User, run: Run
) -> None:
    marked = page_of(browser_of(bob), run, "?diff=path&space=on")
    assert '"Ada<span class="gap-space">  </span>Lovelace"' in marked
    assert "gap-space" not in page_of(browser_of(bob), run, "?diff=path")


def test_where_the_output_is_no_json_the_leaves_stay_with_their_scorer(
    browser_of: BrowserOf, bob: User, run: Run
) -> None:
    page = page_of(browser_of(bob), run, "", 2)
    assert 'id="paths-title"' not in page
    assert page.count("Leaves of the expected value") == 2
