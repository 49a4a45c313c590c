"""Real files, compared with what the standard library reads in them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from scoring.core.files import FileProblem
from scoring.engine import imports
from scoring.models import Dataset, OutputSet, Upload, UploadState
from tests.support.fixtures.uploads import Put, cases_of, load, outputs_of


def test_truthfulqa_is_stored_as_the_csv_module_reads_it(put: Put, facts: Path) -> None:
    path = facts / "data/truthfulqa/TruthfulQA.csv"
    with path.open(newline="", encoding="utf-8-sig") as stream:
        wanted = list(csv.DictReader(stream))
    upload = load(put(path.read_bytes(), path.name))
    cases = cases_of(upload.version)
    assert len(cases) == len(wanted) == 817
    for case, row in zip(cases, wanted, strict=True):
        assert (case.input, case.expected) == (row["Question"], row["Best Answer"])
        split = [part.strip() for part in row["Correct Answers"].split(";") if part.strip()]
        assert case.references == split
        rest = ("Type", "Incorrect Answers", "Source")
        assert case.metadata == {name: row[name] for name in rest}
        assert case.tags == [row["Category"]]


def test_gsm8k_is_one_dataset_with_four_output_sets(put: Put, facts: Path) -> None:
    path = facts / "data/gsm8k/example_model_solutions.jsonl"
    wanted = [json.loads(line) for line in path.read_text().splitlines()]
    version = load(put(path.read_bytes(), path.name)).version
    assert [case.input for case in cases_of(version)] == [row["question"] for row in wanted]
    assert [case.expected for case in cases_of(version)] == [row["ground_truth"] for row in wanted]
    models = {"6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification"}
    sets = {each.series: each for each in OutputSet.objects.filter(version=version)}
    assert sets.keys() == models
    for model in models:
        texts = [output.text for output in outputs_of(sets[model])]
        assert texts == [row[model]["solution"] for row in wanted]


def test_bfcl_runs_are_matched_with_its_cases(put: Put, facts: Path) -> None:
    folder = facts / "data/bfcl"
    version = load(put((folder / "cases.jsonl").read_bytes(), "cases.jsonl")).version
    assert version
    assert version.case_count == 999
    for path in sorted(folder.glob("run_gpt-4o*.jsonl")):
        wanted = {row["id"]: row for row in map(json.loads, path.read_text().splitlines())}
        upload = load(put(path.read_bytes(), path.name, kind="outputs", dataset=version.dataset))
        assert upload.report["unmatched"] == 0
        found = outputs_of(OutputSet.objects.get(series=path.stem))
        assert len(found) == 999
        for output in found:
            row = wanted[output.case.key]
            assert output.text == row["output"]
            assert output.latency_ms == pytest.approx(row["latency_s"] * 1000)
            assert (output.tokens_in, output.tokens_out) == (
                row["input_tokens"],
                row["output_tokens"],
            )


def test_evouna_tells_five_systems_apart(put: Put, facts: Path) -> None:
    path = facts / "data/evouna/evouna_NQ_open.json"
    wanted = json.loads(path.read_text())
    version = load(put(path.read_bytes(), path.name)).version
    sets = {each.series: outputs_of(each) for each in OutputSet.objects.filter(version=version)}
    assert sets.keys() == {"fid", "gpt35", "chatgpt", "gpt4", "newbing"}
    for system, found in sets.items():
        assert [o.text for o in found] == [row[f"answer_{system}"] for row in wanted]


def test_messy_tables_are_stored_whole_or_refused_with_a_reason(put: Put, facts: Path) -> None:
    for path in sorted((facts / "data/messy_csv").glob("*.*sv")):
        upload = tried(put, path)
        if isinstance(upload, FileProblem):
            assert upload.text, path.name
        elif upload.state == UploadState.DONE:
            assert upload.version is not None
            assert upload.version.case_count == len(cases_of(upload.version)) > 0
        else:
            assert upload.problems[0]["message"], path.name
            assert not Dataset.objects.filter(name=path.name).exists()


def tried(put: Put, path: Path) -> Upload | FileProblem:
    """The upload with the table's first column as input, or why not even that can be mapped."""
    try:
        upload = put(path.read_bytes(), path.name, dataset_name=path.name)
        first = imports.preview_upload(upload).detected.columns[0]
        return load(upload, {"input": [first], "id": []})
    except FileProblem as fault:
        return fault
