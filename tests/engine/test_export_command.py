"""`manage.py export`: what it prints and writes, and which code it ends with."""

from __future__ import annotations

import csv
import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from scoring.management.commands.export import FORMATS
from scoring.models import DatasetVersion, Review, Run, User
from scoring.models.review import ReviewVerdict
from tests.compared import Given, run_with
from tests.conftest import MakeDataset

pytestmark = pytest.mark.django_db
CASES = 30


def export(*arguments: str) -> tuple[int, str]:
    """The exit code and what was printed, or the error."""
    out = StringIO()
    try:
        call_command("export", *arguments, stdout=out)
    except CommandError as fault:
        return fault.returncode, str(fault)
    return 0, out.getvalue()


def rows_of(text: str) -> list[dict[str, Any]]:
    """The rows of JSON Lines, once their number is what the last line says."""
    *rows, last = map(json.loads, text.splitlines())
    assert last == {"_rows": len(rows)}
    return rows


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset(
        [
            {"key": f"q{n}", "input": f"=question {n}", "tags": ["even" if n % 2 == 0 else "odd"]}
            for n in range(CASES)
        ]
    )


@pytest.fixture
def run(version: DatasetVersion) -> Run:
    """Of 30 cases the first ten fail by `close`, of which q9 is the best; `tone` likes all."""
    close: list[Given] = [n / 100 for n in range(10)] + [1.0] * 20
    return run_with(version, {"close": close, "tone": [1.0] * CASES}, name="w46")


def test_it_prints_the_figures_and_the_first_cases(run: Run) -> None:
    code, out = export("w46")
    assert code == 0
    lines = out.splitlines()
    assert lines[0] == "Answers: w46, finished"
    assert [line.split()[-4:-1] for line in lines if line.startswith("close ")] == [
        ["of", "30", "0"]
    ]
    assert "cases: 20 pass, 10 fail, 0 error, 0 skipped" in lines
    assert [line.split()[:4] for line in lines if line.startswith("q0 ")] == [
        ["q0", "fail", "0.000", "1.000"]
    ]
    assert len([line for line in lines if line.startswith("q")]) == 20
    assert lines[-1] == "the first 20 of 30"


def test_filters_and_order_are_those_of_the_page(run: Run) -> None:
    asked = ("--scorer", "close", "--max", "0.05", "--tag", "odd", "--sort", "close")
    code, out = export(str(run.uuid), *asked, "--descending", "--format", "jsonl")
    assert code == 0
    assert [row["key"] for row in rows_of(out)] == ["q5", "q3", "q1"]


@pytest.mark.parametrize(
    ("asked", "keys"),
    [
        (("--verdict", "fail"), 10),
        (("--verdict", "fail", "--scorer", "tone"), 0),
        (("--scorer", "close", "--min", "0.05", "--max", "0.07"), 3),
        (("--search", "question 12"), 1),
        (("--unsteady",), 0),
        (("--code", "service_down", "--scorer", "close"), 0),
    ],
)
def test_each_filter_leaves_what_it_says(run: Run, asked: tuple[str, ...], keys: int) -> None:
    assert len(rows_of(export("w46", *asked, "--format", "jsonl")[1])) == keys


def test_without_a_run_the_cases_of_the_dataset_are_exported(version: DatasetVersion) -> None:
    code, out = export("--dataset", "Answers", "--json")
    assert code == 0
    assert len(json.loads(out)) == CASES
    assert "Answers v1: 30 cases" in export("--dataset", "Answers")[1]


def test_formulas_are_marked_unless_verbatim_is_asked(version: DatasetVersion) -> None:
    marked = list(csv.DictReader(StringIO(export("--dataset", "Answers", "--format", "csv")[1])))
    assert (marked[0]["input"], marked[0]["_marked"]) == ("'=question 0", '["input"]')
    out = export("--dataset", "Answers", "--format", "csv", "--verbatim")[1]
    verbatim = list(csv.DictReader(StringIO(out)))
    assert verbatim[0]["input"] == "=question 0"
    assert "_marked" not in verbatim[0]


def test_a_file_holds_what_is_printed(run: Run, tmp_path: Path) -> None:
    for name in FORMATS:
        path = tmp_path / f"w46.{name}"
        path.write_text("an older one")
        assert export("w46", "--format", name, "--output", str(path)) == (0, "")
        assert path.read_bytes().decode() == export("w46", "--format", name)[1]
    assert {path.suffix for path in tmp_path.iterdir()} == {f".{name}" for name in FORMATS}


def test_markdown_may_be_written_besides(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "w46.md"
    code, out = export("w46", "--markdown", str(path))
    assert (code, out) == export("w46")
    assert path.read_text() == export("w46", "--format", "markdown")[1]
    assert "| q0 | fail | 0.000 | 1.000 |" in path.read_text()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ((), "name a RUN, or a dataset with --dataset"),
        (("w47",), "the team support has no run 'w47' that has ended"),
        (("--dataset", "Others"), "the team support has no dataset 'Others'"),
        (("--dataset", "Answers", "--version", "7"), "no version 7: it has 1 to 1"),
        (("w46", "--version", "1"), "--version is that of a dataset"),
        (("w46", "--min", "0.5"), "--scorer: say whose score is meant; it has: close, tone"),
        (("w46", "--scorer", "far"), "--scorer: the run has no scorer 'far'; it has: close, tone"),
        (("w46", "--sort", "far"), "--sort: the run has no scorer 'far'"),
        (("w46", "--scorer", "close", "--max", "7"), "--max: 7 is no score, which is from 0 to 1"),
        (("w46", "--scorer", "close", "--min", "nan"), "--min: nan is no score"),
        (("w46", "--format", "xml"), "invalid choice: 'xml'"),
        (("w46", "--output", "/dev/null"), "/dev/null is no file"),
        (("w46", "--output", "/nowhere/w46.csv"), "/nowhere/w46.csv cannot be written: No such"),
    ],
)
def test_bad_use_ends_with_two_and_says_what_to_do(
    run: Run, asked: tuple[str, ...], said: str
) -> None:
    code, text = export(*asked)
    assert code == (1 if "choice" in said else 2)  # called from Python, argparse's own code is lost
    assert said in text


def test_a_failed_export_leaves_the_file_as_it_was(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut(chosen: object) -> Any:
        yield b'{"key": "q0"}\n'
        raise KeyboardInterrupt

    path = tmp_path / "w46.jsonl"
    path.write_text("an older one")
    monkeypatch.setitem(FORMATS, "jsonl", cut)  # type: ignore[arg-type]
    with pytest.raises(KeyboardInterrupt):
        export("w46", "--format", "jsonl", "--output", str(path))
    assert [file.name for file in tmp_path.iterdir()] == ["w46.jsonl"]
    assert path.read_text() == "an older one"


@pytest.mark.parametrize(
    ("kind", "keys"),
    [("broke", range(5, 10)), ("fixed", []), ("unchanged", [*range(5), *range(10, CASES)])],
)
def test_what_became_of_cases_since_the_baseline(
    version: DatasetVersion, kind: str, keys: list[int]
) -> None:
    run_with(version, {"close": [0.0] * 5 + [1.0] * 25}, name="w45")
    run_with(version, {"close": [0.0] * 10 + [1.0] * 20}, name="w46")
    for named in ([], ["--against", "w45"]):
        code, out = export("w46", "--changed", kind, "--format", "jsonl", *named)
        assert (code, [row["key"] for row in rows_of(out)]) == (0, [f"q{n}" for n in keys])


@pytest.mark.parametrize("named", [[], ["--against", "w46"], ["--against", "nowhere"]])
def test_there_must_be_another_run(run: Run, named: list[str]) -> None:
    assert export("w46", "--changed", "broke", *named)[0] == 2


def test_reviewed_cases(run: Run, alice: User) -> None:
    output = run.output_set.outputs.order_by("pk").first()
    assert output is not None
    Review.objects.say(run, output, ReviewVerdict.PASS, by=alice)
    for wanted, count in (("yes", 1), ("no", CASES - 1)):
        _, out = export("w46", "--reviewed", wanted, "--format", "jsonl")
        assert len(rows_of(out)) == count
