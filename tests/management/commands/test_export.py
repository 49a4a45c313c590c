"""`manage.py export`: what it prints and writes, and which code it ends with."""

from __future__ import annotations

import csv
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from scoring.management.commands.export import FORMATS
from scoring.models import DatasetVersion, Run
from tests.conftest import MakeDataset
from tests.support.commands import call
from tests.support.finished_runs import Given, run_with

pytestmark = pytest.mark.django_db
CASES = 30


export = partial(call, "export")


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
    def cut(*_: object, **__: object) -> Any:
        yield b'{"key": "q0"}\n'
        raise KeyboardInterrupt

    path = tmp_path / "w46.jsonl"
    path.write_text("an older one")
    monkeypatch.setattr("scoring.management.commands.export._chunks", cut)
    with pytest.raises(KeyboardInterrupt):
        export("w46", "--format", "jsonl", "--output", str(path))
    assert [file.name for file in tmp_path.iterdir()] == ["w46.jsonl"]
    assert path.read_text() == "an older one"
