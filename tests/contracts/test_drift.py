"""Drift on real outputs and on the demo's story: counts are those of a direct count."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any, Final

import pytest
from django.core.management import call_command
from scipy.stats import binomtest

from scoring.engine.demo.load import create_demo
from scoring.engine.demo.story import REGRESSION, UNREPAIRED
from scoring.engine.drift import DriftLine
from scoring.engine.drift.chart import build_chart, tag_lines
from scoring.engine.drift.jobs import lines_or_enqueue
from scoring.models import Dataset
from tests.support import oracles
from tests.support.real_data import bfcl_path, jsonl_rows

pytestmark = pytest.mark.django_db

DATES: Final = ("2024-07-06", "2024-08-11")
FLAT: Final = "gpt-4-0125-preview-FC"
MODELS: Final = (
    "claude-3-haiku-20240307-FC",
    "google_gemma-7b-it",
    "gpt-4-0125-preview-FC",
    "gpt-4o-2024-05-13-FC",
    "meta-llama_Meta-Llama-3-8B-Instruct",
)


def passes(facts: Path, model: str, dated: str) -> dict[str, bool]:
    """Whether each case's output is the expected JSON, by its key."""
    expected = {row["id"]: row["expected"] for row in jsonl_rows(bfcl_path(facts))}
    rows = jsonl_rows(bfcl_path(facts, f"run_{model}_{dated}.jsonl"))
    return {row["id"]: oracles.json_match(expected[row["id"]], row["output"]) == 1 for row in rows}


@pytest.mark.parametrize(
    "models", [MODELS[:3:2], pytest.param(MODELS, marks=pytest.mark.slow)], ids=["two", "five"]
)
@pytest.mark.usefixtures("team")
def test_models_on_two_dates_flip_as_a_direct_count_says(
    facts: Path, tmp_path: Path, models: Sequence[str]
) -> None:
    call_command("import", str(bfcl_path(facts)), "--dataset", "BFCL", stdout=StringIO())
    suite = tmp_path / "suite.json"
    suite.write_text(json.dumps({"name": "release", "scorers": [{"type": "json_match"}]}))
    for model in models:
        for dated in DATES:
            path = bfcl_path(facts, f"run_{model}_{dated}.jsonl")
            words = ("--outputs", str(path), "--series", model, "--dated", dated)
            call_command(
                "evaluate", "BFCL", "--suite", str(suite), "--name", dated, *words, "--json",
                stdout=StringIO(),
            )  # fmt: skip
    out = StringIO()
    call_command("drift", "BFCL", "--json", stdout=out)
    told = {line["series"]: line for line in json.loads(out.getvalue())}
    assert sorted(told) == sorted(models)
    called_out = set()
    for model in models:
        before, after = (passes(facts, model, dated) for dated in DATES)
        first, last = told[model]["points"]
        assert [point["dated"][:10] for point in (first, last)] == list(DATES)
        assert (last["fixed"], last["broke"]) == (
            sum(after[key] and not before[key] for key in before),
            sum(before[key] and not after[key] for key in before),
        )
        means = [oracles.mean([float(each) for each in run.values()]) for run in (before, after)]
        assert [first["mean"], last["mean"]] == pytest.approx(means, abs=1e-9)
        if is_called_out(told[model]):
            called_out.add(model)
        flips = last["fixed"] + last["broke"]
        p = binomtest(last["broke"], flips).pvalue if flips else 1.0
        # Two tests of a step for each of the series share 0.001.
        assert is_called_out(told[model]) == (2 * len(models) * p <= 0.001)
        status = told[model]["level"]["status"]
        assert (status != "steady") == (len(models) * p <= 0.005 and p <= 0.0025)
    # 52 of 999 cases flip, nearly as many one way as the other.
    assert FLAT not in called_out


NEVER: Final = {"name": "never", "type": "regex", "config": {"pattern": "^no such answer$"}}


@pytest.mark.usefixtures("team")
def test_a_scorers_flips_are_told_beside_one_that_always_fails(facts: Path, tmp_path: Path) -> None:
    call_command("import", str(bfcl_path(facts)), "--dataset", "BFCL", stdout=StringIO())
    suite = tmp_path / "suite.json"
    suite.write_text(
        json.dumps({"name": "release", "scorers": [{"name": "same", "type": "json_match"}, NEVER]})
    )
    for dated in DATES:
        path = str(bfcl_path(facts, f"run_{FLAT}_{dated}.jsonl"))
        words = ("--outputs", path, "--suite", str(suite), "--series", "a", "--dated", dated)
        call_command("evaluate", "BFCL", *words, "--json", stdout=StringIO())
    (dataset,) = Dataset.objects.all()
    told = {line.scorer: line for line in lines_or_enqueue(dataset, None)}
    before, after = (passes(facts, FLAT, dated) for dated in DATES)
    last = told["same"].points[-1]
    assert (last.pairs, last.fixed, last.broke) == (
        len(before),
        sum(after[key] and not before[key] for key in before),
        sum(before[key] and not after[key] for key in before),
    )
    assert min(last.fixed or 0, last.broke or 0) > 20
    assert last.cases == (len(before), 0, 0)
    assert not any("changed their verdict by same" in text for text in told["same"].sentences)
    assert told["same"].standing.status == "steady"
    last = told["never"].points[-1]
    assert (last.fixed, last.broke) == (0, 0)


def is_called_out(line: dict[str, Any]) -> bool:
    return any("changed their verdict" in text for text in line["sentences"])


@pytest.fixture(scope="module")
def lines() -> list[DriftLine]:
    """The lines of the demo, filled by the first test that needs them."""
    return []


@pytest.fixture
def told(lines: list[DriftLine]) -> list[DriftLine]:
    if not lines:
        create_demo(datetime(2026, 11, 20, 15, 30, tzinfo=UTC))
        for dataset in Dataset.objects.all():
            lines += lines_or_enqueue(dataset, None)
    return lines


SHOWS_IT: Final = {
    "close enough": REGRESSION,
    "no dead end": REGRESSION,
    "fields right": UNREPAIRED,
    "total right": UNREPAIRED,
    "valid invoice": UNREPAIRED,
}


def test_the_demos_regressions_and_the_repair_are_found(told: list[DriftLine]) -> None:
    lines = [line for line in told if line.scorer in SHOWS_IT]
    assert {line.scorer for line in lines} == set(SHOWS_IT)
    for line in lines:
        bad = SHOWS_IT[line.scorer]
        if bad == UNREPAIRED:
            assert [change.place for change in line.changes] == list(bad), line.scorer
            assert line.standing.status == "decreased"
            continue
        assert [each.place for each in line.outside] == list(bad), line.scorer
        assert all(each.is_below for each in line.outside)
        back = line.points[REGRESSION[-1] + 1]
        assert any(f"back at it since {back.label}." in text for text in line.sentences)


def test_most_of_the_demos_flips_are_at_the_regressions_and_the_repair(
    told: list[DriftLine],
) -> None:
    by_scorer = {line.scorer: line for line in told}
    for scorer in ("close enough", "fields right"):
        broke = [point.broke or 0 for point in by_scorer[scorer].points]
        assert broke.index(max(broke)) == SHOWS_IT[scorer][0]
        assert max(broke) >= 10
    fixed = [point.fixed or 0 for point in by_scorer["close enough"].points]
    assert fixed.index(max(fixed)) == REGRESSION[-1] + 1


def test_a_scorer_that_always_passes_is_not_blamed_for_flips(told: list[DriftLine]) -> None:
    (line,) = (line for line in told if line.scorer == "short enough")
    assert {point.pass_rate for point in line.points} == {1.0}
    assert max(point.cases.broke for point in line.points if point.cases) >= 5
    assert {(point.fixed, point.broke) for point in line.points[1:]} == {(0, 0)}
    assert not any("hardly moved" in text for text in line.sentences)


def test_the_tag_that_the_regression_hits_falls_furthest(told: list[DriftLine]) -> None:
    (line,) = (line for line in told if line.scorer == "no dead end")
    falls = {}
    for tag in tag_lines(line):
        good, bad = tag.means[REGRESSION[0] - 1], tag.means[REGRESSION[0]]
        assert good is not None
        assert bad is not None
        if tag.figures[0] and tag.figures[0].n >= 10:
            falls[tag.tag] = good - bad
    assert max(falls, key=lambda tag: falls[tag]) == "billing"


def test_the_demos_charts_mark_the_runs_beyond_the_limits(told: list[DriftLine]) -> None:
    for line in told:
        chart = build_chart(line)
        assert [mark.run for mark in chart.marks] == [point.run for point in line.points]
        outside = [mark.place for mark in chart.marks if mark.is_outside]
        assert outside == [each.place for each in line.outside]
        assert len(chart.bars) == len(line.points) - 1
