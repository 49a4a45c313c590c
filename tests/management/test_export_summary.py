"""Figures and first cases for a terminal and for a pull request."""

from __future__ import annotations

import json
from pathlib import Path

from scoring.models import DatasetVersion, Run
from tests.management.commands.test_export import CASES, export, run, version

__all__ = ["run", "version"]


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


def test_without_a_run_the_cases_of_the_dataset_are_exported(version: DatasetVersion) -> None:
    code, out = export("--dataset", "Answers", "--json")
    assert code == 0
    assert len(json.loads(out)) == CASES
    assert "Answers v1: 30 cases" in export("--dataset", "Answers")[1]


def test_markdown_may_be_written_besides(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "w46.md"
    code, out = export("w46", "--markdown", str(path))
    assert (code, out) == export("w46")
    assert path.read_text() == export("w46", "--format", "markdown")[1]
    assert "| q0 | fail | 0.000 | 1.000 |" in path.read_text()
