"""One run with unequal trials, and one truth about it wherever its figures stand.

One case has nine right trials, three have one wrong each: a quarter of the cases is right, though
nine of twelve outputs are.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client
from django.urls import reverse

from scoring.engine.compare.comparison import compare_runs
from scoring.engine.compare.gates import GateLimits, check_gates, parse_gate
from scoring.engine.drift import drift_lines, measure_series
from scoring.engine.drift.series_status import series_statuses
from scoring.engine.reports.run_report import RunReport
from scoring.engine.reports.run_summary import Report, as_json, as_table
from scoring.engine.runs.scorer_figures import RunFigure
from scoring.engine.signoff.evidence import gather_evidence
from scoring.models import AlertRule, Output, Run, Suite, User
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.fixtures.alert_rules import finding_of
from tests.support.run_states import EXACT, finished_run

BrowserOf = Callable[[User], Client]
TAGS = ["a", "b"]


@pytest.fixture
def run(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> Run:
    cases = [{"key": f"q{n}", "expected": "yes", "tags": [TAGS[n % 2]]} for n in range(4)]
    outputs = make_outputs(make_dataset(cases), ["yes", "no", "no", "no"])
    first = outputs.outputs.get(case__key="q0")
    Output.objects.bulk_create(
        Output(output_set=outputs, case=first.case, trial=trial, text="yes")
        for trial in range(1, 9)
    )
    return finished_run(outputs, EXACT)


def figure_of(figures: list[RunFigure]) -> tuple[float | None, float | None]:
    """Mean and pass rate of the only scorer, as pages and reports show them."""
    (figure,) = figures
    assert figure.case_count == 4
    return figure.mean and figure.mean.value, figure.pass_rate and figure.pass_rate.value


def test_every_place_has_the_same_figures(run: Run, browser_of: BrowserOf, alice: User) -> None:
    def make_rule(kind: str, limit: float, scorer: str = "") -> AlertRule:
        dataset = run.output_set.version.dataset
        wanted = {"kind": kind, "limit": limit, "scorer": scorer, "by": None}
        return AlertRule.objects.define(dataset.team, dataset, **wanted).rule

    client = browser_of(alice)
    api = client.get(reverse("api:run", args=[run.uuid])).json()
    command = as_json(Report(run, None, None, [], seeks_baseline=False))
    series = run.output_set.series
    measure_series(run.output_set.version.dataset, series)
    (line,) = drift_lines(run.output_set.version.dataset)
    (status,) = series_statuses(run.team)
    gates = check_gates(
        run, None, [parse_gate("mean.exact>=0.5"), parse_gate("pass_rate>=0.5")], GateLimits()
    )
    comparison = compare_runs(run, run).figures["scorers"][0]
    page = client.get(reverse("run", args=[run.uuid])).context["figures"]
    found = {
        "page": figure_of(page),
        "report": figure_of(RunReport(run).figures),
        "api": (api["scorers"][0]["mean"], api["scorers"][0]["pass_rate"]),
        "command": (command["scorers"][0]["mean"], command["scorers"][0]["pass_rate"]),
        "gates": tuple(outcome.value for outcome in gates.outcomes),
        "drift": (line.points[0].mean, line.points[0].pass_rate),
        "comparison": tuple(comparison["means"]),
        "series": (status.latest.rate,),
        "alerts": tuple(
            finding_of(make_rule(*rule), series).value
            for rule in (
                ("mean_below", 0.5, "exact"),
                ("pass_rate_below", 0.5, "exact"),
                ("pass_rate_below", 0.5),
            )
        ),
    }
    assert {place: values for place, values in found.items() if {*values} != {0.25}} == {}
    assert [outcome.state for outcome in gates.outcomes] == ["failed", "failed"]


def test_cases_are_counted_once_in_every_list(run: Run, browser_of: BrowserOf, alice: User) -> None:
    verdicts = {"pass": 1, "fail": 3, "error": 0, "skipped": 0}
    client = browser_of(alice)
    api = client.get(reverse("api:run", args=[run.uuid])).json()
    evidence = gather_evidence(run, None)
    (line,) = drift_lines(run.output_set.version.dataset)
    (status,) = series_statuses(run.team)
    assert run.verdict_counts == api["verdicts"] == verdicts
    assert (api["scorers"][0]["n"], api["scorers"][0]["scored"]) == (4, 4)
    assert (evidence.passed, evidence.failed) == (1, 3)
    assert (line.points[0].n, status.latest.cases) == (4, 4)
    assert "cases: 1 pass, 3 fail" in as_table(Report(run, None, None, [], seeks_baseline=False))
    page = " ".join(client.get(reverse("run", args=[run.uuid])).text.split())
    assert "12 outputs of 4 cases" in page
    assert "(12 of 12 outputs)" in page


def test_tags_count_cases(run: Run) -> None:
    measure_series(run.output_set.version.dataset, run.output_set.series)
    (line,) = drift_lines(run.output_set.version.dataset)
    tags = {
        tag: (figure.n, figure.mean, figure.pass_rate)
        for tag, figure in line.points[0].tags.items()
    }
    assert tags == {"a": (2, 0.5, 0.5), "b": (2, 0.0, 0.0)}


def test_the_list_of_outputs_has_every_trial(run: Run, browser_of: BrowserOf, alice: User) -> None:
    client = browser_of(alice)
    address = reverse("run", args=[run.uuid])
    assert client.get(address).context["cases"].table.count == 12
    assert client.get(address, {"verdict": "pass"}).context["cases"].table.count == 9


def test_the_command_line_has_them_too(run: Run) -> None:
    scorer = run.scorers.get().version.scorer
    Suite.objects.define(run.team, "release", [(scorer, None)])
    out = StringIO()
    words = ("--suite", "release", "--gate", "mean.exact>=0.5", "--json")
    with pytest.raises(CommandError, match="not met: mean"):
        call_command("evaluate", run.output_set.version.dataset.name, *words, stdout=out)
    told = json.loads(out.getvalue())
    assert (told["scorers"][0]["mean"], told["scorers"][0]["n"]) == (0.25, 4)
    assert told["gates"][0]["value"] == 0.25


def test_classes_count_cases(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> None:
    cases = [{"key": f"q{n}", "expected": label} for n, label in enumerate(("yes", "yes", "no"))]
    outputs = make_outputs(make_dataset(cases), ["yes", "no", "no"])
    first = outputs.outputs.get(case__key="q0")
    Output.objects.bulk_create(
        Output(output_set=outputs, case=first.case, trial=trial, text="no") for trial in (1, 2)
    )
    run = finished_run(outputs, ("exact", "exact_match", {"classes": ["yes", "no"]}))
    counts = run.scorers.get().summary.classes["counts"]
    assert counts == [[pytest.approx(1 / 3), pytest.approx(5 / 3), 0], [0, 1, 0], [0, 0, 0]]
