"""Whole lists of a run and of a version as files through the API."""

from __future__ import annotations

import csv
import json
from io import StringIO
from typing import Any

import pytest

from scoring.engine.runs import planning
from scoring.engine.thresholds.relabelling import relabel_run
from scoring.models import Case, Dataset, Run, Scorer, Suite, Team
from tests.api.conftest import MISSING, Api, codes
from tests.api.openapi.test_schema import operation, problems_of
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.fixtures.runs import finish
from tests.support.suite_runs import entry_of, suite_run
from tests.support.undone import undone

CASES = [
    {"key": "q1", "input": "Hello?", "expected": "Hello World", "tags": ["billing"]},
    {"key": "q2", "input": "=How?", "expected": None, "references": ["a"], "metadata": {"n": 1}},
    {"key": "q3", "input": {"deep": [1.5]}},
]


OF_BOTH = ("key", "trial", "verdict", "relabelled_verdict", "output")


@pytest.fixture
def run(
    team: Team, make_dataset: MakeDataset, make_outputs: MakeOutputs, close_enough: Scorer
) -> Run:
    """By `close enough` 0.92, and two without an expected value."""
    suite = Suite.objects.define(team, "release", [(close_enough, None)])
    made = planning.create_run(
        make_outputs(make_dataset(CASES), ["Hello World!", "b", None]), suite=suite
    )
    finish(made)
    return made


def text_of(answer: Any) -> str:
    assert answer.status_code == 200, answer.content
    return b"".join(answer.streaming_content).decode()


def rows_of(answer: Any) -> list[dict[str, Any]]:
    *rows, last = map(json.loads, text_of(answer).splitlines())
    assert last == {"_rows": len(rows)}
    assert int(answer["X-Row-Count"]) == len(rows)
    return rows


def of_version(run: Run, number: int = 1) -> str:
    return f"datasets/{run.output_set.version.dataset.uuid}/versions/{number}/export/"


def test_an_export_holds_the_results_of_the_same_query(
    bobs: Api, run: Run, subtests: pytest.Subtests
) -> None:
    cases: list[dict[str, Any]] = [
        {},
        {"verdict": "pass"},
        {"scorer": "close enough", "min": 0.5},
        {"tag": "billing"},
        {"search": "how"},
        {"ordering": "-score", "scorer": "close enough"},
        {"ordering": "score"},
    ]
    for query in cases:
        with subtests.test(query=query), undone():
            listed = bobs.get(f"runs/{run.uuid}/results/", **query).json()["results"]
            rows = rows_of(bobs.get(f"runs/{run.uuid}/export/", **query))
            told = [{name: row[name] for name in OF_BOTH} for row in rows]
            assert told == [{name: each[name] for name in told[0]} for each in listed]
            for row, each in zip(rows, listed, strict=True):
                scores = [
                    {k: v for k, v in score.items() if k != "code"} for score in row["scores"]
                ]
                assert scores == each["scores"]


def test_an_export_has_the_verdicts_of_later_labels_beside_the_stored_ones(
    bobs: Api, make_dataset: MakeDataset
) -> None:
    run = suite_run(make_dataset([{}] * 3), {"close": [0.6, 0.8, "error"], "same": [1, 1, 1]})
    entry_of().change_threshold(0.7, by=None, reason="x")
    relabel_run(run, by=None)
    rows = rows_of(bobs.get(f"runs/{run.uuid}/export/"))
    listed = bobs.get(f"runs/{run.uuid}/results/").json()["results"]
    verdicts = [(row["verdict"], row["relabelled_verdict"]) for row in rows]
    assert verdicts == [("pass", "fail"), ("pass", "pass"), ("error", "error")]
    assert verdicts == [(each["verdict"], each["relabelled_verdict"]) for each in listed]
    for row, each in zip(rows, listed, strict=True):
        shown = [(s["verdict"], s["relabelled_verdict"]) for s in row["scores"]]
        assert shown == [(s["verdict"], s["relabelled_verdict"]) for s in each["scores"]]
    text = text_of(bobs.get(f"runs/{run.uuid}/export/", format="csv"))
    first, *_ = csv.DictReader(StringIO(text, newline=""))
    names = ("verdict", "relabelled_verdict", "close verdict", "close relabelled_verdict")
    assert [first[name] for name in names] == ["pass", "fail", "pass", "fail"]
    assert [first[f"same {name}"] for name in names[:2]] == ["pass", "pass"]


@pytest.mark.parametrize("path", ["runs/{uid}/export/", "datasets/{uid}/versions/{number}/export/"])
def test_json_has_the_shape_that_the_schema_gives(bobs: Api, run: Run, path: str) -> None:
    address = f"runs/{run.uuid}/export/" if path.startswith("runs") else of_version(run)
    answer = bobs.get(address, format="json")
    assert answer["Content-Type"] == "application/json"
    told = operation(path, "get")["responses"]["200"]
    rows = json.loads(text_of(answer))
    assert len(rows) == 3
    assert problems_of(rows, told["content"]["application/json"]["schema"]) == []
    assert problems_of([{"key": 1}], told["content"]["application/json"]["schema"])
    assert set(told["content"]) == {"application/json", "application/x-ndjson", "text/csv"}
    assert "X-Row-Count" in told["headers"]


def test_exported_cases_can_be_sent_again(alices: Api, run: Run) -> None:
    cases = rows_of(alices.get(of_version(run)))
    made = alices.post("datasets/", {"name": "again", "cases": cases})
    assert made.status_code == 201, made.content
    columns = ("key", "input_json", "references_json", "tags_json", "metadata_json")
    known = Case.objects.filter(version__dataset__name="Answers").order_by("position")
    again = Case.objects.filter(version__dataset=Dataset.objects.get(name="again"))
    assert [list(map(read, row)) for row in again.order_by("position").values_list(*columns)] == [
        list(map(read, row)) for row in known.values_list(*columns)
    ]


def read(text: str) -> Any:
    return json.loads(text) if text[:1] in '"[{' else text


def test_csv_marks_formulas_unless_verbatim_is_asked(bobs: Api, run: Run) -> None:
    def inputs(**query: Any) -> list[str]:
        text = text_of(bobs.get(of_version(run), format="csv", **query))
        return [row["input"] for row in csv.DictReader(StringIO(text, newline=""))]

    assert inputs()[:2] == ["Hello?", "'=How?"]
    assert inputs(verbatim="true")[:2] == ["Hello?", "=How?"]
    assert json.loads(inputs()[2]) == CASES[2]["input"]


def test_whatever_a_client_accepts_the_query_decides(
    bobs: Api, run: Run, subtests: pytest.Subtests
) -> None:
    cases: list[str] = ["text/csv", "*/*", "application/x-ndjson", "text/html"]
    for accept in cases:
        with subtests.test(accept=accept), undone():
            bobs.headers["Accept"] = accept
            answer = bobs.get(of_version(run), format="csv")
            assert answer["Content-Type"] == "text/csv; charset=utf-8"
            assert answer["Content-Disposition"] == 'attachment; filename="Answers-v1.csv"'


def test_what_cannot_be_asked_is_refused(bobs: Api, run: Run, subtests: pytest.Subtests) -> None:
    cases: list[tuple[dict[str, Any], tuple[str, str]]] = [
        ({"format": "xml"}, ("format", "invalid_choice")),
        ({"verbatim": "perhaps"}, ("verbatim", "invalid")),
        ({"page_size": 5}, ("page_size", "unknown_field")),
        ({"cursor": "after-1.0"}, ("cursor", "unknown_field")),
        ({"min": 2}, ("min", "max_value")),
        ({"scorer": "far"}, ("scorer", "invalid_choice")),
    ]
    for query, fault in cases:
        with subtests.test(query=query, fault=fault), undone():
            answer = bobs.get(f"runs/{run.uuid}/export/", **query)
            assert answer.status_code == (400 if fault[1] in {"unknown_field", "invalid"} else 422)
            assert codes(answer) == [fault]


def test_filters_are_not_those_of_a_version(bobs: Api, run: Run) -> None:
    assert codes(bobs.get(of_version(run), tag="billing")) == [("tag", "unknown_field")]


def test_another_teams_rows_are_not_there(charlies: Api, bobs: Api, run: Run) -> None:
    for address in (f"runs/{run.uuid}/export/", of_version(run), of_version(run, 7)):
        assert charlies.get(address).status_code == 404
    assert bobs.get(of_version(run, 7)).status_code == 404
    assert bobs.get(of_version(run, 10**30)).status_code == 404
    assert bobs.get(f"runs/{MISSING}/export/").status_code == 404
