"""Cases chosen on the command line: by filters, by what became of them, by reviews."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scoring.models import DatasetVersion, Review, Run, User
from scoring.models.reviews.review import ReviewVerdict
from tests.management.commands.test_export import CASES, export, run, version
from tests.support.finished_runs import run_with

__all__ = ["run", "version"]


def rows_of(text: str) -> list[dict[str, Any]]:
    """The rows of JSON Lines, once their number is what the last line says."""
    *rows, last = map(json.loads, text.splitlines())
    assert last == {"_rows": len(rows)}
    return rows


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
    Review.objects.record(run, output, ReviewVerdict.PASS, by=alice)
    for wanted, count in (("yes", 1), ("no", CASES - 1)):
        _, out = export("w46", "--reviewed", wanted, "--format", "jsonl")
        assert len(rows_of(out)) == count
