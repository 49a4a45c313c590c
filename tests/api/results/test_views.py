"""A run's results are filtered, sorted and paged through the API."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from scoring.engine.runs import planning
from scoring.engine.thresholds.relabelling import relabel_run
from scoring.models import (
    Baseline,
    Output,
    Review,
    ReviewVerdict,
    Run,
    Scorer,
    Suite,
    Team,
    User,
)
from tests.api.conftest import MISSING, Api, codes
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.finished_runs import Given, run_with
from tests.support.fixtures.runs import finish
from tests.support.suite_runs import entry_of, suite_run
from tests.support.undone import undone

CASES = [
    {"key": "q1", "input": "Hello?", "expected": "Hello World", "tags": ["billing"]},
    {"key": "q2", "input": "How?", "expected": "helo", "tags": ["b2"]},
    {"key": "q3", "input": "What?", "expected": "abcd", "tags": ["billing", "b2"]},
    {"key": "q4", "input": "Who?", "expected": "same"},
    {"key": "q5", "input": "Lost?", "expected": "x"},
]
TEXTS = ["Hello World!", "hello", "abxy", "same", None]
SCORES = {"q1": 0.92, "q2": 0.8, "q3": 0.5, "q4": 1.0}


@pytest.fixture
def run(
    team: Team, make_dataset: MakeDataset, make_outputs: MakeOutputs, close_enough: Scorer
) -> Run:
    """Five cases: scored 0.92, 0.8, 0.5 and 1.0 by `close enough`, the last without output."""

    same = Scorer.objects.define(team, "same", "exact_match", {})
    suite = Suite.objects.define(team, "release", [(close_enough, None), (same, None)])
    made = planning.create_run(make_outputs(make_dataset(CASES), TEXTS), suite=suite)
    finish(made)
    return made


def keys(api: Api, run: Run, **query: Any) -> list[str]:
    response = api.get(f"runs/{run.uuid}/results/", **query)
    assert response.status_code == 200, response.content
    return [result["key"] for result in response.json()["results"]]


def test_a_result_has_the_contracts_shape(alices: Api, run: Run) -> None:
    body = alices.get(f"runs/{run.uuid}/results/").json()
    assert list(body) == ["next", "previous", "results"]
    assert body["results"][0] == {
        "key": "q1",
        "trial": 0,
        "verdict": "fail",
        "relabelled_verdict": None,
        "output": "Hello World!",
        "scores": [
            {
                "scorer": "close enough",
                "status": "scored",
                "score": 0.92,
                "verdict": "pass",
                "relabelled_verdict": None,
                "reason": "",
                "metadata": {"distance": 1, "max_length": 12, "truncated": False},
            },
            {
                "scorer": "same",
                "status": "scored",
                "score": 0.0,
                "verdict": "fail",
                "relabelled_verdict": None,
                "reason": body["results"][0]["scores"][1]["reason"],
                "metadata": body["results"][0]["scores"][1]["metadata"],
            },
        ],
    }


def test_filters_and_order(alices: Api, run: Run, subtests: pytest.Subtests) -> None:
    cases: list[tuple[dict[str, str], list[str]]] = [
        ({}, ["q1", "q2", "q3", "q4", "q5"]),
        ({"verdict": "pass"}, ["q4"]),
        ({"verdict": "error"}, ["q5"]),
        ({"verdict": "skipped"}, []),
        ({"verdict": "fail", "scorer": "close enough"}, ["q3"]),
        ({"verdict": "pass", "scorer": "close enough"}, ["q1", "q2", "q4"]),
        ({"verdict": "error", "scorer": "same"}, ["q5"]),
        ({"scorer": "close enough", "min": "0.8"}, ["q1", "q2", "q4"]),
        ({"scorer": "close enough", "min": "0.5", "max": "0.8"}, ["q2", "q3"]),
        ({"scorer": "close enough", "max": "1"}, ["q1", "q2", "q3", "q4"]),
        ({"tag": "billing"}, ["q1", "q3"]),
        ({"tag": "bill"}, []),
        ({"tag": "b2", "verdict": "fail", "scorer": "close enough"}, ["q3"]),
        ({"search": "hello"}, ["q1", "q2"]),
        ({"search": "Lost?"}, ["q5"]),
        ({"search": "%"}, []),
        ({"tag": "", "search": "", "min": ""}, ["q1", "q2", "q3", "q4", "q5"]),
        ({"scorer": "close enough", "ordering": "score"}, ["q3", "q2", "q1", "q4", "q5"]),
        ({"scorer": "close enough", "ordering": "-score"}, ["q4", "q1", "q2", "q3", "q5"]),
        ({"ordering": "position", "page_size": "2"}, ["q1", "q2"]),
        (
            {"scorer": "close enough", "ordering": "score", "min": "0.6", "max": "0.95"},
            ["q2", "q1"],
        ),
    ]
    for query, found in cases:
        with subtests.test(query=query, found=found), undone():
            assert keys(alices, run, **query) == found


def test_what_cannot_be_asked_is_refused(alices: Api, run: Run, subtests: pytest.Subtests) -> None:
    cases: list[tuple[dict[str, str], int, str]] = [
        ({"verdict": "good"}, 422, "invalid_choice"),
        ({"scorer": "nobody"}, 422, "invalid_choice"),
        ({"min": "nan"}, 400, "invalid"),
        ({"min": "inf"}, 400, "invalid"),
        ({"max": "1.5"}, 422, "max_value"),
        ({"min": "-0.1"}, 422, "min_value"),
        ({"min": "half"}, 400, "invalid"),
        ({"min": "0.5"}, 400, "scorer_required"),
        ({"ordering": "score"}, 400, "scorer_required"),
        ({"ordering": "name"}, 422, "invalid_choice"),
        ({"page_size": "0"}, 422, "min_value"),
        ({"page_size": "1001"}, 422, "max_value"),
        ({"page_size": "x"}, 400, "invalid"),
        ({"cursor": "x"}, 400, "bad_cursor"),
        ({"cursor": "after-1"}, 400, "bad_cursor"),
        ({"cursor": "after-1.2.3"}, 400, "bad_cursor"),
        ({"cursor": "after-٣.0"}, 400, "bad_cursor"),
        ({"search": "a\0b"}, 400, "nul_character"),
        ({"search": "x" * 201}, 422, "max_length"),
        ({"vedict": "fail"}, 400, "unknown_field"),
    ]
    for query, status, code in cases:
        with subtests.test(query=query, status=status, code=code), undone():
            response = alices.get(f"runs/{run.uuid}/results/", **query)
            assert (response.status_code, response.json()["code"]) == (status, code)


def test_an_unknown_scorer_is_answered_with_the_known_ones(alices: Api, run: Run) -> None:
    response = alices.get(f"runs/{run.uuid}/results/", scorer="nobody")
    assert codes(response) == [("scorer", "invalid_choice")]
    assert "close enough, same" in response.json()["message"]


@pytest.mark.parametrize("ordering", ["position", "score", "-score"])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_pages_lead_through_everything_and_back(
    alices: Api, run: Run, ordering: str, size: int
) -> None:
    query = {"scorer": "close enough", "ordering": ordering}
    whole = keys(alices, run, **query)
    page = alices.get(f"runs/{run.uuid}/results/", **query, page_size=size).json()
    pages = [page]
    while page["next"]:
        page = alices.get(page["next"].removeprefix("http://testserver")).json()
        pages.append(page)
    assert [result["key"] for page in pages for result in page["results"]] == whole
    assert pages[0]["previous"] is None
    for earlier, later in pairwise(pages):
        back = alices.get(later["previous"].removeprefix("http://testserver")).json()
        assert back["results"] == earlier["results"]


def test_links_keep_the_filters(alices: Api, run: Run) -> None:
    query = {"verdict": "pass", "scorer": "close enough", "page_size": 1}
    page = alices.get(f"runs/{run.uuid}/results/", **query).json()
    following = alices.get(page["next"].removeprefix("http://testserver")).json()
    assert [result["key"] for result in following["results"]] == ["q2"]


def test_a_place_that_is_not_there_begins_after_it(alices: Api, run: Run) -> None:
    assert keys(alices, run, cursor="after-3.9") == ["q4", "q5"]
    assert keys(alices, run, cursor="after-999999999.0") == []


def test_the_only_scorer_need_not_be_named(
    alices: Api, team: Team, make_dataset: MakeDataset, make_outputs: MakeOutputs, close_enough: Any
) -> None:

    version = make_dataset(CASES, name="Alone")
    alone = planning.create_run(make_outputs(version, TEXTS), scorers=[(close_enough, 0.7)])
    finish(alone)
    assert keys(alices, alone, ordering="score") == ["q3", "q2", "q1", "q4", "q5"]
    assert keys(alices, alone, max="0.5") == ["q3"]
    assert keys(alices, alone, verdict="error") == ["q5"]


def test_before_scoring_there_are_no_results(
    alices: Api, make_dataset: MakeDataset, make_outputs: MakeOutputs, close_enough: Scorer
) -> None:

    version = make_dataset(CASES, name="Waiting")
    waiting = planning.create_run(make_outputs(version, TEXTS), scorers=[(close_enough, 0.7)])
    assert keys(alices, waiting) == []


def test_results_are_told_by_whether_anybody_reviewed_them(
    alices: Api, alice: User, run: Run
) -> None:
    output = Output.objects.filter(output_set=run.output_set).order_by("case__position")[0]
    Review.objects.record(run, output, ReviewVerdict.PASS, by=alice)
    every = keys(alices, run)
    assert keys(alices, run, reviewed="true") == every[:1]
    assert keys(alices, run, reviewed="false") == every[1:]
    assert keys(alices, run, unsteady="true") == []


@pytest.fixture
def runs(make_dataset: MakeDataset) -> tuple[Run, Run]:
    """A run and the one before it in its series, over a case of each kind of change."""
    version = make_dataset([{"key": key} for key in WAYS], name="Ways")
    before, now = (
        run_with(version, {"close": [pair[side] for pair in WAYS.values()]}, name=name)
        for side, name in enumerate(["w45", "w46"])
    )
    return now, before


WAYS: dict[str, tuple[Given, Given]] = {
    "broke": (1.0, 0.0),
    "fixed": (0.0, 1.0),
    "unchanged": (1.0, 1.0),
    "unclear": (1.0, "error"),
    "judged_in_neither": ("skip", "error"),
}


@pytest.mark.parametrize("how", ["usual", "named", "pinned"])
def test_results_are_told_by_what_became_of_them_since_a_run(
    bobs: Api, runs: tuple[Run, Run], how: str, subtests: pytest.Subtests
) -> None:
    run, before = runs
    named = {"baseline": before.uuid} if how == "named" else {}
    if how == "pinned":
        run_with(run.output_set.version, {"close": [0.5] * len(WAYS)}, name="between")
        Baseline.objects.pin(before, by=None)
    for change in WAYS:
        with subtests.test(change=change):
            assert keys(bobs, run, change=change, **named) == [change]
            exported = bobs.get(f"runs/{run.uuid}/export/", change=change, **named)
            rows = b"".join(exported.streaming_content).splitlines()
            assert [json.loads(row).get("key") for row in rows] == [change, None]


def test_what_broke_and_nobody_reviewed_is_asked_for_at_once(
    alices: Api, alice: User, runs: tuple[Run, Run]
) -> None:
    run, _ = runs
    asked = {"change": "broke", "reviewed": "false", "scorer": "close", "ordering": "score"}
    assert keys(alices, run, **asked) == ["broke"]
    output = Output.objects.get(output_set=run.output_set, case__key="broke")
    Review.objects.record(run, output, ReviewVerdict.FAIL, by=alice)
    assert keys(alices, run, **asked) == []


@pytest.mark.parametrize("where", ["results", "export"])
def test_a_change_that_cannot_be_told_is_refused(
    bobs: Api,
    make_dataset: MakeDataset,
    runs: tuple[Run, Run],
    where: str,
    subtests: pytest.Subtests,
) -> None:
    run, before = runs
    other = run_with(make_dataset([{}], "Other"), {"close": [1.0]})
    queued = planning.create_run(run.output_set, scorers=[(Scorer.objects.get(name="close"), 0.5)])
    cases: list[tuple[dict[str, Any], int, list[tuple[str, str]]]] = [
        ({"change": "edited"}, 422, [("change", "invalid_choice")]),
        ({"baseline": MISSING}, 400, [("baseline", "change_required")]),
        ({"change": "broke", "baseline": "w45"}, 400, [("baseline", "invalid")]),
        ({"change": "broke", "baseline": MISSING}, 404, [("baseline", "not_found")]),
        ({"change": "broke", "baseline": run.uuid}, 422, [("baseline", "same_run")]),
        ({"change": "broke", "baseline": other.uuid}, 400, [("baseline", "different_datasets")]),
        ({"change": "broke", "baseline": queued.uuid}, 409, []),
    ]
    for query, status, faults in cases:
        with subtests.test(query=query):
            answer = bobs.get(f"runs/{run.uuid}/{where}/", **query)
            assert (answer.status_code, codes(answer)) == (status, faults)
    first = bobs.get(f"runs/{before.uuid}/{where}/", change="broke")
    assert (first.status_code, codes(first)) == (422, [("change", "baseline_required")])


def test_results_have_the_verdicts_of_later_labels_beside_the_stored_ones(
    alices: Api, make_dataset: MakeDataset
) -> None:
    run = suite_run(make_dataset([{}] * 3), {"close": [0.6, 0.8, "error"], "same": [1, 1, 1]})
    path = f"runs/{run.uuid}/results/"
    (first, *_) = alices.get(path).json()["results"]
    assert (first["verdict"], first["relabelled_verdict"]) == ("pass", None)
    assert {score["relabelled_verdict"] for score in first["scores"]} == {None}
    entry_of().change_threshold(0.7, by=None, reason="x")
    relabel_run(run, by=None)
    results = alices.get(path).json()["results"]
    cases = [(case["verdict"], case["relabelled_verdict"]) for case in results]
    assert cases == [("pass", "fail"), ("pass", "pass"), ("error", "error")]
    close = [case["scores"][0] for case in results]
    verdicts = [(score["verdict"], score["relabelled_verdict"]) for score in close]
    assert verdicts == [("pass", "fail"), ("pass", "pass"), (None, None)]
