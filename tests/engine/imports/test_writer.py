"""Outputs out of files: beside their cases, or matched with cases that are there."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from scoring.core.files import case_key
from scoring.models import (
    AuditEntry,
    Case,
    Dataset,
    DatasetVersion,
    Output,
    OutputSet,
    OutputSetState,
    UploadKind,
    UploadState,
)
from tests.conftest import MakeDataset
from tests.support.fixtures.uploads import (
    Put,
    check,
    jsonl,
    load,
    load_unchecked,
    outputs_of,
    table,
)


def test_several_output_columns_are_several_output_sets(put: Put) -> None:
    content = b"id,input,gpt-4 output,claude output\n1,q,a,b\n2,r,c,\n"
    version = load(put(content)).version
    sets = {each.series: each for each in OutputSet.objects.filter(version=version)}
    assert sets.keys() == {"gpt-4", "claude"}
    assert [output.text for output in outputs_of(sets["gpt-4"])] == ["a", "c"]
    assert [output.text for output in outputs_of(sets["claude"])] == ["b", ""]
    assert {each.state for each in sets.values()} == {OutputSetState.READY}
    assert {each.output_count for each in sets.values()} == {2}


def test_a_single_output_column_is_named_after_its_file(put: Put) -> None:
    load(put(b"id,input,output\n1,q,a\n", "week 12.csv"))
    assert OutputSet.objects.get().series == "week 12"


def test_trials_share_their_case(put: Put) -> None:
    content = b"id,input,trial,output\n1,q,0,a\n1,q,1,b\n2,r,1,d\n2,r,0,c\n"
    upload = load(put(content))
    assert upload.report["cases"] == 2
    found = [(o.case.key, o.trial, o.text) for o in outputs_of(OutputSet.objects.get())]
    assert found == [("1", 0, "a"), ("1", 1, "b"), ("2", 0, "c"), ("2", 1, "d")]


def test_trials_find_cases_of_earlier_batches(put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scoring.engine.imports.writer.ROWS_PER_TRANSACTION", 500)
    rows = [[str(case), f"q{case}", str(trial), f"{case}/{trial}"]
            for trial in range(2) for case in range(400)]  # fmt: skip
    load(put(table([["id", "input", "trial", "output"], *rows])))
    found = outputs_of(OutputSet.objects.get())
    assert len(found) == 800
    assert all(o.text == f"{o.case.key}/{o.trial}" for o in found)


def test_outputs_that_are_no_texts_stay_json(put: Put) -> None:
    values: list[Any] = [{"b": 1, "a": [10**25]}, [1.0], 7, True, [None], "[1]"]
    rows = [{"id": str(n), "input": n, "output": value} for n, value in enumerate(values)]
    load(put(jsonl(*rows), "cases.jsonl"))
    found = outputs_of(OutputSet.objects.get())
    assert [o.is_json for o in found] == [True] * 5 + [False]
    assert [json.loads(o.text or "") for o in found[:5]] == values[:5]
    assert found[5].text == "[1]"
    assert found[0].text == '{"b":1,"a":[10000000000000000000000000]}'


def test_figures_and_failures_come_with_the_outputs(put: Put) -> None:
    rows = [
        {"id": 1, "input": 1, "output": "a", "latency_s": 0.5, "prompt_tokens": 3,
         "completion_tokens": "4", "cost_usd": 0.001},
        {"id": 2, "input": 2, "output": None, "error": "timeout"},
        {"id": 3, "input": 3, "output": "", "error": ""},
        {"id": 4, "input": 4},
        {"id": 5, "input": 5, "output": None},
    ]  # fmt: skip
    load(put(jsonl(*rows), "cases.jsonl"))
    found = outputs_of(OutputSet.objects.get())
    first = found[0]
    figures = (first.latency_ms, first.tokens_in, first.tokens_out, first.cost_usd)
    assert figures == (500.0, 3, 4, 0.001)
    assert [(o.case.key, o.text, o.error) for o in found[1:]] == [
        ("2", None, "timeout"),
        ("3", "", ""),
        ("5", None, "the output is null"),
    ]


def test_the_same_cases_with_new_outputs_keep_the_version(put: Put) -> None:
    first = load(put(b"id,input,output\n1,q,a\n2,r,b\n", "monday.csv")).version
    again = load(put(b"id,input,output\n1,q,a\n2,r,changed\n", "tuesday.csv"))
    assert again.version == first
    sets = {each.series: outputs_of(each) for each in OutputSet.objects.all()}
    assert {name: [o.text for o in found] for name, found in sets.items()} == {
        "monday": ["a", "b"],
        "tuesday": ["a", "changed"],
    }
    assert {o.case.version for found in sets.values() for o in found} == {first}
    assert OutputSet.objects.ready().count() == 2


def test_the_same_file_twice_changes_nothing(put: Put) -> None:
    content = b"id,input,a output,b output\n1,q,a,b\n2,r,c,d\n"
    load(put(content))
    assert load(put(content)).state == UploadState.DONE
    counts = [model._default_manager.count() for model in (Dataset, Case, OutputSet, Output)]
    assert counts == [1, 2, 2, 4]


def test_outputs_are_matched_by_key_and_strangers_listed(put: Put, version: DatasetVersion) -> None:
    content = b"id,output\nq2,second\nq9,nobody\nq1,first\n"
    dated = datetime(2026, 1, 2, tzinfo=UTC)
    upload = check(
        put(content, kind="outputs", dataset=version.dataset, series="gpt-4o", dated=dated)
    )
    assert (upload.report["unmatched"], upload.report["unmatched_ids"]) == (1, ["q9"])
    load_unchecked(upload)
    found = OutputSet.objects.get()
    assert [(o.case.key, o.text) for o in outputs_of(found)] == [("q1", "first"), ("q2", "second")]
    assert (found.series, found.dated, found.version) == ("gpt-4o", dated, version)
    assert (found.output_count, found.state) == (2, OutputSetState.READY)
    assert AuditEntry.objects.filter(action="output_set.created").count() == 1


def test_outputs_may_name_their_case_by_its_input(put: Put, make_dataset: MakeDataset) -> None:
    keyed = make_dataset([{"key": case_key("a"), "input": "a"}])
    load(put(b"input,output\na,answer\n", kind="outputs", dataset=keyed.dataset))
    assert [o.text for o in outputs_of(OutputSet.objects.get())] == ["answer"]


def test_an_outputs_row_without_an_output_is_one_that_was_not_produced(
    put: Put, version: DatasetVersion
) -> None:
    content = jsonl({"id": "q1", "output": ""}, {"id": "q2"})
    load(put(content, "run.jsonl", kind="outputs", dataset=version.dataset))
    found = [(o.text, o.error) for o in outputs_of(OutputSet.objects.get())]
    assert found == [("", ""), (None, "the row has no output")]


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"id,output\nq1,a\nq1,b\n", "duplicate_case"),
        (b"id,output,trial\nq1,a,1\nq1,b,1\n", "duplicate_case"),
        (b"id,output\nx,a\ny,b\n", "no_match"),
        (b"id,output,latency_ms\nq1,a,soon\n", "not_a_number"),
    ],
)
def test_bad_outputs_leave_nothing(
    put: Put, version: DatasetVersion, spooled: Path, content: bytes, code: str
) -> None:
    upload = load_unchecked(put(content, kind="outputs", dataset=version.dataset))
    assert (upload.state, upload.problems[0]["code"]) == (UploadState.FAILED, code)
    assert not OutputSet.objects.exists()
    assert not Output.objects.exists()
    assert not list(spooled.iterdir())
    assert Case.objects.count() == 2


@pytest.mark.parametrize(
    ("rows", "is_known"),
    [
        (b"id,output\nq1,x\nq2,y\n", True),
        (b"id,output,note\nq1,x,another column\nq2,y,\n", True),
        (b"id,output\nq1,x\nq2,z\n", False),
        (b"id,output\nq1,x\n", False),
        (b"id,output\nq2,y\nq1,x\n", False),  # the same in another order are not the same bytes
    ],
)
def test_outputs_that_are_there_already_are_named(
    put: Put, version: DatasetVersion, rows: bytes, is_known: bool
) -> None:
    more = {"kind": UploadKind.OUTPUTS, "dataset": version.dataset}
    load(put(b"id,output\nq1,x\nq2,y\n", "monday.csv", **more))
    known = OutputSet.objects.get()
    report = check(put(rows, "again.csv", **more)).report
    named = {"output": f"monday, {known.dated:%Y-%m-%d}"}
    assert report["identical_outputs"] == (named if is_known else {})


def test_unmatched_ids_are_counted_and_the_first_hundred_listed(
    put: Put, version: DatasetVersion, spooled: Path
) -> None:
    rows = "id,output\nq1,x\n" + "".join(f"no{n},y\n" for n in range(250))
    upload = put(rows.encode(), kind=UploadKind.OUTPUTS, dataset=version.dataset)
    report = check(upload).report
    assert (report["unmatched"], len(report["unmatched_ids"])) == (250, 100)
    assert report["unmatched_ids"][0] == "no0"
