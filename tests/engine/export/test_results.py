"""Runs, versions and output sets as rows: which ones, in which order, and what each says."""

from __future__ import annotations

import csv
import json
from io import StringIO
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from scoring.engine.export import ExportTable, run_table
from scoring.models import Output, Run, RunScorer, Verdict
from scoring.models.case_list.filters import CaseFilters
from scoring.models.case_list.table import CaseOrder, CaseTable
from tests.conftest import MakeDataset
from tests.support.finished_runs import Given, run_with
from tests.support.fixtures.runs import MakeRun, MakeScorer, finish
from tests.support.fixtures.spy import Spy

pytestmark = pytest.mark.django_db
CASES: list[dict[str, Any]] = [
    {"key": "q1", "input": "one", "expected": "a", "tags": ["x"], "references": ["b", "c"]},
    {"key": "q2", "input": {"n": 2.50}, "expected": None, "metadata": {"lang": "fr"}},
    {"key": "q3", "input": "=3", "expected": ""},
    {"key": "q4", "input": None, "tags": ["x", "y"]},
]


def text_of(sheet: ExportTable, file_format: str = "jsonl", *, is_verbatim: bool = False) -> str:
    return b"".join(sheet.stream(file_format, is_verbatim=is_verbatim)).decode()


def rows_of(sheet: ExportTable) -> list[dict[str, Any]]:
    """The sheet's rows by way of JSON Lines, once all agree on their number."""
    *rows, last = map(json.loads, text_of(sheet).split("\n")[:-1])
    assert last == {"_rows": sheet.count}
    assert len(rows) == sheet.count
    assert json.loads(text_of(sheet, "json")) == rows
    return rows


def cells_of(sheet: ExportTable) -> list[dict[str, str]]:
    text = StringIO(text_of(sheet, "csv", is_verbatim=True), newline="")
    rows = list(csv.DictReader(text, strict=True))
    assert len(rows) == sheet.count
    return rows


def table_of(run: Run, *chosen: Any) -> CaseTable:
    return CaseTable(run, list(run.scorers.with_summary()), *chosen)


def keys_of(run: Run, *chosen: Any) -> list[str]:
    return [row["key"] for row in rows_of(run_table(table_of(run, *chosen)))]


# A run.


@pytest.fixture
def run(make_run: MakeRun, make_scorer: MakeScorer, spy: Spy) -> Run:
    """Four outputs: 0.9, an error, a skip and one that was never produced."""
    made = make_run(
        ["0.9", "error", "skip", None], make_scorer("spy", "close"), expected=["=e"] * 4
    )
    Output.objects.filter(text="0.9").update(latency_ms=12.5, tokens_in=3, cost_usd=0.0004)
    Output.objects.filter(text="skip").update(text='{"a":[1.50]}', is_json=True)
    spy.answers["{'a': [1.5]}"] = spy.answer("skip")
    finish(made)
    return made


def test_a_row_tells_all_there_is_of_a_case(run: Run) -> None:
    first = rows_of(run_table(table_of(run)))[0]
    assert first == {
        "key": "case-1",
        "trial": 0,
        "verdict": "pass",
        "relabelled_verdict": None,
        "input": "",
        "expected": "=e",
        "references": [],
        "tags": [],
        "metadata": {},
        "output": "0.9",
        "error": "",
        "latency_ms": 12.5,
        "tokens_in": 3,
        "tokens_out": None,
        "cost_usd": 0.0004,
        "scores": [
            {
                "scorer": "close",
                "status": "scored",
                "score": 0.9,
                "verdict": "pass",
                "relabelled_verdict": None,
                "reason": "",
                "metadata": {},
                "code": "",
            }
        ],
    }


def test_what_is_no_score_says_why(run: Run) -> None:
    rows = rows_of(run_table(table_of(run)))
    (error,), (skipped,) = rows[1]["scores"], rows[2]["scores"]
    assert (error["status"], error["score"], error["verdict"]) == ("error", None, None)
    assert (error["code"], error["reason"]) == ("service_down", "no answer")
    assert (skipped["status"], skipped["code"]) == ("skipped", "nothing")
    assert (rows[3]["output"], rows[3]["error"]) == (None, "failed")


def test_json_outputs_keep_their_very_characters(run: Run) -> None:
    assert '"output":{"a":[1.50]},' in text_of(run_table(table_of(run)))


def test_csv_has_six_columns_for_each_scorer(run: Run) -> None:
    sheet = run_table(table_of(run))
    first, second, third, _ = cells_of(sheet)
    assert list(first)[-6:] == [
        *("close status", "close score", "close verdict", "close relabelled_verdict"),
        *("close reason", "close code"),
    ]
    assert (first["close score"], first["latency_ms"], first["tokens_out"]) == ("0.9", "12.5", "")
    assert (second["close score"], second["close code"]) == ("", "service_down")
    assert third["output"] == '{"a":[1.50]}'
    head, *lines = csv.reader(StringIO(text_of(sheet, "csv"), newline=""))
    assert head[-1] == "_marked"
    assert {line[-1] for line in lines} == {'["expected"]'}


def test_a_scorer_that_has_not_answered_is_left_out(make_dataset: MakeDataset) -> None:
    run = run_with(make_dataset(CASES), {"close": [1.0] * 4, "tone": [1.0] * 4})
    tone = RunScorer.objects.get(run=run, name="tone")
    tone.scores.filter(output__case__key="q2").delete()
    rows = rows_of(run_table(table_of(run)))
    assert [len(row["scores"]) for row in rows] == [2, 1, 2, 2]
    assert cells_of(run_table(table_of(run)))[1]["tone status"] == ""


SCORES: list[Given] = [0.9, 0.1, "error", 0.5]


@pytest.fixture
def four(make_dataset: MakeDataset) -> Run:
    """q1 0.9, q2 0.1, q3 an error, q4 0.5 by `close`; `tone` passes them all."""
    return run_with(make_dataset(CASES), {"close": SCORES, "tone": [1.0] * 4}, trials=1)


@pytest.mark.parametrize(
    ("filters", "keys"),
    [
        ({}, ["q1", "q2", "q3", "q4"]),
        ({"verdict": Verdict.FAIL}, ["q2"]),
        ({"tag": "x"}, ["q1", "q4"]),
        ({"text": "=3"}, ["q3"]),
        ({"tag": "x", "text": "nothing like it"}, []),
        ({"scorer": "close", "minimum": 0.1, "maximum": 0.5}, ["q2", "q4"]),
        ({"scorer": "close", "code": "stub"}, None),
        ({"scorer": "tone", "verdict": Verdict.PASS}, ["q1", "q2", "q3", "q4"]),
    ],
)
@pytest.mark.parametrize("sorted_by", ["", "-close"])
def test_the_rows_are_those_of_the_table_in_its_order(
    four: Run, filters: dict[str, Any], keys: list[str] | None, sorted_by: str
) -> None:
    scorers = {scorer.name: scorer for scorer in four.scorers.all()}
    wanted = filters | ({"scorer": scorers[filters["scorer"]]} if "scorer" in filters else {})
    order = CaseOrder(scorers.get(sorted_by.lstrip("-")), sorted_by.startswith("-"))
    table = table_of(four, CaseFilters(**wanted), order)
    exported = keys_of(four, CaseFilters(**wanted), order)
    assert exported == [row.key for row in table.page(size=100).rows]
    if keys is not None:
        assert sorted(exported) == keys


def test_unscored_cases_come_last_whichever_way_it_is_sorted(four: Run) -> None:
    close = four.scorers.get(name="close")
    assert keys_of(four, CaseFilters(), CaseOrder(close)) == ["q2", "q4", "q1", "q3"]
    assert keys_of(four, CaseFilters(), CaseOrder(close, True)) == ["q1", "q4", "q2", "q3"]


def test_each_trial_is_a_row(make_dataset: MakeDataset) -> None:
    run = run_with(make_dataset(CASES[:2]), {"close": [1.0, 0.0, 0.5, 0.5]}, trials=2)
    rows = rows_of(run_table(table_of(run)))
    assert [(row["key"], row["trial"], row["output"]) for row in rows] == [
        ("q1", 0, "q1 0"),
        ("q1", 1, "q1 1"),
        ("q2", 0, "q2 0"),
        ("q2", 1, "q2 1"),
    ]


def test_a_batch_costs_two_queries_and_one_for_each_further_scorer(
    make_dataset: MakeDataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = make_dataset([{"key": f"q{n}"} for n in range(10)])
    run = run_with(version, {"close": [1.0] * 10, "tone": [1.0] * 10})
    sheet = run_table(table_of(run))
    for batch, queries in ((10, 3), (5, 6)):
        monkeypatch.setattr("scoring.engine.export.formats.BATCH", batch)
        with CaptureQueriesContext(connection) as seen:
            text_of(sheet)
        assert len(seen) == queries
