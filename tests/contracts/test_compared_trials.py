"""Runs with several trials beside runs with another number, and one truth wherever they meet.

In the older run two of three trials are right of each of six cases, always the first among them: 12
of 18 outputs. In the newer one, which has one trial, two cases are wrong. By the mean of their
trials those two broke.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from scoring.engine.compare.claims import read_figures
from scoring.engine.compare.comparison import compare_runs
from scoring.engine.compare.gates import GateLimits, check_gates, parse_gate
from scoring.engine.drift import drift_lines, measure_series
from scoring.engine.reports.comparison_report import comparison_report
from scoring.engine.reports.release_report import build_release_report, report_json
from scoring.engine.reports.verification import verify_file
from scoring.engine.signoff.evidence import gather_evidence
from scoring.models import (
    AlertRule,
    CaseDecision,
    CaseDecisionState,
    Output,
    OutputSet,
    Review,
    Run,
    User,
)
from scoring.models.reviews.broken_cases import BrokenCases
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with
from tests.support.fixtures.alert_rules import finding_of
from tests.support.html import on_one_line
from tests.support.waived_runs import waive

pytestmark = pytest.mark.django_db

BrowserOf = Callable[[User], Client]
MEANS = pytest.approx((12 / 18, 4 / 6))


@pytest.fixture
def runs(make_dataset: MakeDataset) -> tuple[Run, Run]:
    version = make_dataset([{"key": key, "input": key} for key in "abcdef"])
    older = run_with(version, {"close": [1, 1, 0, 1, 0, 1] * 3}, trials=3, name="older")
    newer = run_with(version, {"close": [0, 1, 1, 0, 1, 1]}, name="newer")
    earlier = older.output_set.dated - timedelta(days=7)
    OutputSet.objects.filter(pk=older.output_set_id).update(dated=earlier)
    for run in (older, newer):
        run.refresh_from_db()
    return older, newer


def test_every_place_compares_the_means(
    runs: tuple[Run, Run], browser_of: BrowserOf, alice: User
) -> None:
    older, newer = runs
    client = browser_of(alice)
    chosen = {"baseline": str(older.uuid), "candidate": str(newer.uuid)}
    figures = read_figures(compare_runs(older, newer))
    page = client.get(reverse("compare", args=[newer.team.slug]), chosen)
    api = client.get(reverse("api:compare"), chosen).json()
    out = StringIO()
    call_command("compare", chosen["baseline"], chosen["candidate"], "--json", stdout=out)
    (command,) = json.loads(out.getvalue())["comparisons"]
    told = {
        "kept": figures.scorers[0].means,
        "page": page.context["pair"].figures.scorers[0].means,
        "api": tuple(api["scorers"][0]["means"]),
        "command": tuple(command["scorers"][0]["means"]),
    }
    assert {place: means for place, means in told.items() if means != MEANS} == {}
    assert (figures.scorers[0].n, api["pairs"], command["pairs"]) == (6, 6, 6)
    for text in (page.text, comparison_report(older, [(newer, figures)])):
        words = on_one_line(text)
        assert "A case has 3 trials in older and 1 in newer" in words
        assert "0.67" in words
        assert "the share of a case's trials that pass, tested by flipping signs" in words


def test_every_place_has_the_same_two_broken_cases(
    runs: tuple[Run, Run], browser_of: BrowserOf, alice: User
) -> None:
    older, newer = runs
    client = browser_of(alice)
    chosen = {"baseline": str(older.uuid), "candidate": str(newer.uuid), "kind": "broke"}
    compare_runs(older, newer)
    page = client.get(reverse("compare", args=[newer.team.slug]), chosen).context["pair"].cases
    api = client.get(reverse("api:compare_cases"), chosen).json()["results"]
    listed = client.get(reverse("run", args=[newer.uuid]), {"change": "broke"}).context["cases"]
    dataset = newer.output_set.version.dataset
    measure_series(dataset, newer.output_set.series)
    (line,) = drift_lines(dataset)
    (gate,) = check_gates(newer, older, [parse_gate("regressions<=1")], GateLimits()).outcomes
    wanted = {"kind": "regressions", "limit": 1, "scorer": "", "by": None}
    rule = AlertRule.objects.define(dataset.team, dataset, **wanted).rule
    broke = {
        "page": [listed.row.pair.key for listed in page.rows],
        "api": [each["key"] for each in api],
        "run": [row.key for row in listed.page.rows],
    }
    assert {place: keys for place, keys in broke.items() if keys != ["a", "d"]} == {}
    counts = {
        "tab": next(tab.cases for tab in page.tabs() if tab.is_here),
        "gate": gate.value,
        "alert": finding_of(rule, newer.output_set.series).value,
        "drift": line.points[-1].broke,
        "evidence": gather_evidence(newer, older).broke,
    }
    assert counts == dict.fromkeys(counts, 2)
    assert page.rows[0].changes[0].before == pytest.approx(2 / 3)
    assert "Verdicts and scores are of the mean of a case's trials" in on_one_line(
        client.get(reverse("compare", args=[newer.team.slug]), chosen).text
    )


def test_turned_round_the_mean_of_three_stands_beside_one(
    runs: tuple[Run, Run], browser_of: BrowserOf, alice: User
) -> None:
    """The run that is opened has the trials: a case that was fixed is one row of its list."""
    newer, older = runs
    compare_runs(older, newer)
    chosen = {"change": "fixed", "baseline": str(older.uuid)}
    listed = browser_of(alice).get(reverse("run", args=[newer.uuid]), chosen).context["cases"]
    assert [(row.key, row.place.trial) for row in listed.page.rows] == [("a", 0), ("d", 0)]


def test_waivers_and_decisions_are_of_cases(runs: tuple[Run, Run], alice: User) -> None:
    """A case is waived by the scorers that fail its mean, whatever its first trial did."""
    _, newer = runs
    version = newer.output_set.version
    thrice = run_with(version, {"close": [1, 0, 0, *[1] * 15]}, trials=3, name="thrice")
    once = run_with(version, {"close": [1] * 6}, name="once")
    assert BrokenCases(once, thrice).counts(1).open == 1
    waive(thrice, "a", "close", alice)
    assert BrokenCases(once, thrice).counts(1) == (0, 0, 0, 1)
    outputs = Output.objects.filter(output_set=thrice.output_set, case__key="a")
    for output in outputs:  # each trial could be decided before comparisons were by case
        CaseDecision.objects.decide(
            (once, thrice), [output.pk], CaseDecisionState.REJECTED, by=alice
        )
    assert BrokenCases(once, thrice).counts(1) == (0, 0, 1, 0)


def test_a_release_report_proves_its_figures(runs: tuple[Run, Run], tmp_path: Path) -> None:
    older, newer = runs
    path = tmp_path / "r.json"
    path.write_bytes(report_json(build_release_report(newer, older, Review.objects.of_run(newer))))
    report = json.loads(path.read_text())
    assert (len(report["rows"]["key"]), report["result"]["broke"], report["states"]["open"]) == (
        6,
        2,
        2,
    )
    assert report["rows"]["baseline_share"] == pytest.approx([2 / 3] * 6)
    assert verify_file(path).faults == []
