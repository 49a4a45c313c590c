"""The page of one case: its texts as they are, how they differ, why the score, what is next."""

# ruff: noqa: RUF001  pages show a true minus sign

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import unescape
from typing import Any

import numpy as np
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from evalsite.pages.cases.compared_texts import MODES
from scoring.core.embeddings.local import LocalModel
from scoring.core.registry import all_types
from scoring.core.textdiff.text_layout import SHOWN_CHARS
from scoring.models import Case, Output, OutputSet, Run, User
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.run_states import CLOSE, EXACT, finished_run, queued_run
from tests.support.undone import undone

BrowserOf = Callable[[User], Client]
SIDES = {"extract": "last_number", "extract_expected": {"after": "A:"}}


@pytest.fixture
def outputs(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> OutputSet:
    """Five answers, from right to none at all."""
    cases = [
        {"input": "When?", "expected": "on Monday", "tags": ["time"], "references": ["Mon"]},
        {"input": {"q": "Who?"}, "expected": {"name": "Ada"}, "metadata": {"lang": "en"}},
        {"input": "Silence?", "expected": ""},
        {"input": "Anything?"},
        {"input": "Gone?", "expected": None},
    ]
    return make_outputs(make_dataset(cases), ["on Tuesday", "Ada", "", "x", None])


@pytest.fixture
def run(outputs: OutputSet) -> Run:
    return finished_run(outputs, CLOSE, EXACT)


def url(run: Run, position: int = 1, query: str = "") -> str:
    return reverse("run_case", args=[run.uuid, position]) + query


def words(answer: Any) -> str:
    return unescape(answer.text)


def test_a_stranger_gets_404_and_nobody_comes_in_unnamed(
    browser_of: BrowserOf, charlie: User, client: Client, run: Run
) -> None:
    assert browser_of(charlie).get(url(run)).status_code == 404
    assert client.get(url(run)).status_code == 302


def test_what_is_not_in_the_run_is_not_found(browser_of: BrowserOf, bob: User, run: Run) -> None:
    browser = browser_of(bob)
    for position, query in [
        (0, ""),
        (6, ""),
        (1, "?trial=1"),
        (1, "?trial=x"),
        (1, "?trial=999999"),
        (1, "?whole=notes"),
    ]:
        assert browser.get(url(run, position, query)).status_code == 404


def test_a_difference_is_marked_in_each_way_of_comparing(
    browser_of: BrowserOf, bob: User, run: Run, subtests: pytest.Subtests
) -> None:
    cases: list[str] = ["plain", "word", "char", "line"]
    for mode in cases:
        with subtests.test(mode=mode), undone():
            page = browser_of(bob).get(url(run, 1, f"?diff={mode}"))
            assert page.context["view"].texts.mode == mode
            assert ("<ins>" in page.text) == (mode != "plain")
            assert ("<del>" in page.text) == (mode != "plain")


def test_an_unknown_way_of_comparing_is_words(browser_of: BrowserOf, bob: User, run: Run) -> None:
    assert browser_of(bob).get(url(run, 1, "?diff=odd")).context["view"].texts.mode == "word"


def test_what_a_scorer_extracts_is_marked_beside_what_is_expected(
    browser_of: BrowserOf, bob: User, make_dataset: MakeDataset, make_outputs: MakeOutputs
) -> None:
    outputs = make_outputs(make_dataset([{"expected": "so A: 3"}]), ["1 + 1 is <2>"])
    run = finished_run(outputs, ("sum", "numeric", {"extract": "last_number"}))
    page = browser_of(bob).get(url(run))
    assert page.context["view"].texts.mode == "matches"
    assert ">2</mark>" in page.text
    assert "so A: 3" in page.text.partition("searched-1")[2].partition("searched-2")[0]
    assert browser_of(bob).get(url(run, 1, "?diff=word")).context["view"].texts.mode == "word"
    both = finished_run(outputs, ("both", "numeric", {**SIDES}), name="w47")
    marked = browser_of(bob).get(url(both)).text
    assert "in what is expected" in marked
    assert ">3</mark>" in marked


def test_everything_about_a_case_is_on_its_page(browser_of: BrowserOf, bob: User, run: Run) -> None:
    page = words(browser_of(bob).get(url(run, 1, "?diff=plain")))
    for part in ("When?", "on Monday", "Mon", "time", "1 − 4 / 10 = 0.6 < 0.7 → fail"):
        assert part in page
    second = words(browser_of(bob).get(url(run, 2)))
    for part in ('"q": "Who?"', '"name": "Ada"', "lang"):
        assert part in second


def test_null_empty_and_missing_are_told_apart(browser_of: BrowserOf, bob: User, run: Run) -> None:
    browser = browser_of(bob)
    assert browser.get(url(run, 3)).text.count("an empty text") == 2
    assert "nothing is expected" in browser.get(url(run, 4)).text
    failed = words(browser.get(url(run, 5)))
    assert "no output is stored" in failed
    assert "failed" in failed
    assert "null is expected, which counts as nothing" in failed
    assert "nothing is expected" not in failed


def test_null_is_compared_with_nothing_and_the_word_null_is_a_text(
    browser_of: BrowserOf, bob: User, run: Run, subtests: pytest.Subtests
) -> None:
    cases: list[str] = ["plain", "word", "char", "line", "markdown"]
    for mode in cases:
        with subtests.test(mode=mode), undone():
            browser = browser_of(bob)
            Output.objects.filter(case__position=5).update(text="something", error="")
            page = browser.get(url(run, 5, f"?diff={mode}")).text
            assert "null is expected, which counts as nothing" in page
            assert "<del>" not in page
            Case.objects.filter(position=5).update(expected_json='"null"')
            page = browser.get(url(run, 5, f"?diff={mode}")).text
            assert "counts as nothing" not in page
            assert ("<del>null</del>" in page) == (mode in ("word", "char", "line"))


def test_a_failed_output_says_its_error_once_however_many_scorers_there_are(
    browser_of: BrowserOf, bob: User, outputs: OutputSet
) -> None:
    error = "Timeout\n  after 60 s\n" + "trace " * SHOWN_CHARS
    Output.objects.filter(case__position=5).update(error=error)
    run, browser = finished_run(outputs, CLOSE, EXACT), browser_of(bob)
    page = words(browser.get(url(run, 5)))
    assert page.count("Timeout\n  after 60 s") == 1
    assert page.count("Timeout") == 1
    assert page.count("left out of mean and pass rate") == 2
    assert "more characters are not shown" in page
    assert browser.get(url(run, 5, "?whole=error")).text == error


def test_a_json_output_is_shown_as_json_and_null_is_no_missing_output(
    browser_of: BrowserOf, bob: User, outputs: OutputSet
) -> None:
    Output.objects.filter(case__position=2).update(text='{"name":"Eve"}', is_json=True)
    Output.objects.filter(case__position=4).update(text="null", is_json=True)
    run, browser = finished_run(outputs), browser_of(bob)
    assert '"name": "Eve"' in words(browser.get(url(run, 2, "?diff=plain")))
    fourth = browser.get(url(run, 4)).text
    assert ">null<" in fourth
    assert "no output is stored" not in fourth


def test_json_is_compared_as_json_and_shown_as_it_is_on_request(
    browser_of: BrowserOf, bob: User, outputs: OutputSet, subtests: pytest.Subtests
) -> None:
    cases: list[str] = ["", "word", "char", "line"]
    for mode in cases:
        with subtests.test(mode=mode), undone():
            raw = '{"age":36.0,\t"name":"Ada"}'
            Output.objects.filter(case__position=2).update(text=raw)
            run, browser = queued_run(outputs), browser_of(bob)
            formatted = words(browser.get(url(run, 2, f"?diff={mode}")))
            assert formatted.count("formatted as JSON") == 2
            assert f'aria-current="true">{MODES[mode or "line"]}</a>' in formatted
            assert '"name": "Ada"' in formatted
            assert '"age": 36' in formatted
            plain = words(browser.get(url(run, 2, "?diff=plain")))
            assert raw in plain
            assert "formatted as JSON" not in plain
            assert browser.get(url(run, 2, "?whole=output")).text == raw


def test_a_case_without_scores_says_so(
    browser_of: BrowserOf, bob: User, outputs: OutputSet
) -> None:
    assert browser_of(bob).get(url(queued_run(outputs))).text.count("not scored yet") == 2


CONFIGS: dict[str, dict[str, Any]] = {
    "regex": {"pattern": "on"},
    "expression": {"expression": "size(output) > 2"},
    "factuality": {"model": "m"},
    "llm_judge": {"model": "m", "rubric": "Good?", "range": [0, 1]},
    "all": {"scorers": [{"type": "levenshtein"}, {"type": "json_similarity"}]},
    "any": {"scorers": [{"type": "any", "config": {"scorers": [{"type": "exact_match"}]}}]},
    "weighted": {"scorers": [{"type": "levenshtein", "weight": 2}, {"type": "numeric"}]},
}


def made_up_vectors(_: LocalModel, texts: Sequence[str]) -> tuple[np.ndarray, list[bool]]:
    """As long as real ones, and equal for equal texts only."""
    rows = [np.random.default_rng(list(text.encode())).normal(size=384) for text in texts]
    vectors = np.array(rows, dtype=np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True), [False] * len(texts)


def test_every_type_explains_itself_on_every_case(
    browser_of: BrowserOf, bob: User, outputs: OutputSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LocalModel, "compute", made_up_vectors)
    kinds = sorted(all_types())
    run = finished_run(outputs, *((kind, kind, CONFIGS.get(kind, {})) for kind in kinds))
    browser = browser_of(bob)
    for position in range(1, 6):
        page = browser.get(url(run, position))
        parts = words(page).partition('id="why"')[2].split("<h3>")[1:]
        answers = page.context["view"].judgement.answers
        assert len(answers) == len(kinds)
        for why, part in zip(answers, parts, strict=True):
            assert why.explanation is not None
            assert why.explanation.verdict in part
            assert all(line in part for line in why.explanation.found)


def test_the_leaf_table_shows_every_leaf(
    browser_of: BrowserOf, bob: User, outputs: OutputSet
) -> None:
    Output.objects.filter(case__position=2).update(text='{"name": "Eva"}')
    run = finished_run(outputs, ("leaves", "json_similarity", {}))
    page = words(browser_of(bob).get(url(run, 2)))
    assert "0.3333 / 1 = 0.3333 < 0.9 → fail" in page
    assert '<span class="number">0.3333</span>' in page
    assert "leaves: 0.3333 of 1 leaf, each the whole score." in page


# Neighbours.


def neighbours(answer: Any) -> list[str | None]:
    around = answer.context["cases"]
    return [around.previous_url, around.next_url]


def test_the_neighbours_are_those_of_the_filtered_and_sorted_table(
    browser_of: BrowserOf, bob: User, run: Run
) -> None:
    browser = browser_of(bob)
    for position, query, previous, following in [
        (1, "", None, 2),
        (3, "", 2, 4),
        (5, "", 4, None),
        (3, "?order=desc", 4, 2),
        (1, "?verdict=fail", None, 2),
        (4, "?verdict=fail", 2, None),
        (2, "?sort=close", 4, 1),
        (5, "?sort=close", 3, None),
        (1, "?q=Ada", None, 2),
        (1, "?min=0", None, 2),
    ]:
        answer = browser.get(url(run, position, query))
        for found, wanted in zip(neighbours(answer), (previous, following), strict=True):
            assert (found is None) == (wanted is None)
            assert found is None or found.startswith(url(run, wanted or 0))


def test_a_walk_along_next_meets_every_case_of_the_table_in_its_order(
    browser_of: BrowserOf, bob: User, run: Run
) -> None:
    browser = browser_of(bob)
    table = browser.get(reverse("run", args=[run.uuid]) + "?sort=close").context["cases"]
    listed = [(row.key, address) for row, address, _ in table.rows()]
    walked, address = [], listed[0][1]
    while address:
        answer = browser.get(address)
        around = answer.context["cases"]
        walked.append((answer.context["view"].output.case.key, around.standing))
        address = around.next_url
    keys = [key for key, _ in listed]
    assert walked == [(key, f"{n} of 5") for n, key in enumerate(keys, start=1)]


def test_the_way_of_comparing_stays_from_case_to_case(
    browser_of: BrowserOf, bob: User, run: Run
) -> None:
    following = neighbours(browser_of(bob).get(url(run, 1, "?diff=char")))[1]
    assert following is not None
    assert "diff=char" in following


def test_a_trial_is_a_case_of_its_own(browser_of: BrowserOf, bob: User, outputs: OutputSet) -> None:
    first = Output.objects.get(case__position=1)
    Output.objects.create(output_set=outputs, case=first.case, trial=1, text="the second try")
    run, browser = finished_run(outputs), browser_of(bob)
    following = neighbours(browser.get(url(run)))[1]
    assert following is not None
    assert "trial=1" in following
    second = browser.get(following)
    assert "the second try" in words(
        browser.get(following.replace("trial=1", "trial=1&diff=plain"))
    )
    assert neighbours(second)[1] == url(run, 2, "?")


@pytest.mark.parametrize(("query", "queries"), [("", 15), ("?verdict=fail&sort=close", 16)])
def test_the_page_costs_few_queries(
    browser_of: BrowserOf, bob: User, run: Run, query: str, queries: int
) -> None:
    browser = browser_of(bob)
    with CaptureQueriesContext(connection) as captured:
        browser.get(url(run, 2, query))
    assert len(captured) == queries


# Texts that are long, invisible or hostile.


def test_a_long_text_is_cut_and_its_whole_is_one_link_away(
    browser_of: BrowserOf, bob: User, outputs: OutputSet
) -> None:
    long = "on Monday " * 1_000_000
    Output.objects.filter(case__position=1).update(text=long)
    run, browser = queued_run(outputs), browser_of(bob)
    page = browser.get(url(run))
    assert len(page.content) < 100_000
    assert "more characters are not shown" in page.text
    whole = browser.get(url(run, 1, "?whole=output"))
    assert whole.text == long
    assert whole["Content-Type"] == "text/plain; charset=utf-8"
    assert whole["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("name", ["input", "expected"])
def test_the_whole_of_each_text_can_be_opened(
    browser_of: BrowserOf, bob: User, run: Run, name: str
) -> None:
    whole = browser_of(bob).get(url(run, 1, f"?whole={name}"))
    assert whole.text == {"input": "When?", "expected": "on Monday"}[name]


def test_what_cannot_be_seen_is_named(browser_of: BrowserOf, bob: User, outputs: OutputSet) -> None:
    Output.objects.filter(case__position=4).update(text="a\u200bb\u202ec\u00a0d")
    page = browser_of(bob).get(url(finished_run(outputs), 4)).text
    assert page.count('class="invisible"') == 3
    assert "U+202E right-to-left override" in page
    assert "\u202e" not in page


def test_a_marked_line_end_still_ends_its_line(
    browser_of: BrowserOf, bob: User, outputs: OutputSet
) -> None:
    Output.objects.filter(case__position=1).update(text="on Monday\n")
    page = browser_of(bob).get(url(queued_run(outputs))).text
    assert '<ins><span class="invisible" title="U+000A line feed">↵ LF</span>\n</ins>' in page


@pytest.mark.parametrize("payload", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>'])
def test_no_text_becomes_markup(
    browser_of: BrowserOf,
    bob: User,
    make_dataset: MakeDataset,
    make_outputs: MakeOutputs,
    payload: str,
) -> None:
    case = {
        "key": payload,
        "input": payload,
        "expected": payload,
        "references": [payload],
        "metadata": {payload: payload},
        "tags": [payload],
    }
    outputs = make_outputs(make_dataset([case]), [payload])
    run, browser = finished_run(outputs, (payload, "regex", {"pattern": "never"})), browser_of(bob)
    for address in (url(run), reverse("run", args=[run.uuid]) + f"?scorer={payload}&q=alert"):
        page = browser.get(address).text
        assert payload not in page
        assert "&lt;" in page or "&quot;" in page
