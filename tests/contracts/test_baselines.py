"""One baseline for a run, wherever it is shown, also where its outputs were scored again."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from evalsite.pages.home.attention import AttentionList
from scoring.engine.compare.comparison import compare_runs
from scoring.engine.drift import measure_series
from scoring.engine.reports.run_report import RunReport
from scoring.engine.runs.summaries import summarize_run
from scoring.models import AlertRule, Baseline, DatasetVersion, Run, User
from tests.support.drift_runs import run_again
from tests.support.fixtures.alert_rules import (
    GOOD,
    MakeRule,
    compare_and_find,
    letters,
    make_rule,
    run_of,
    version,
)

__all__ = ["make_rule", "version"]

BrowserOf = Callable[[User], Client]
BAD = letters(12)


def shown_baselines(client: Client, run: Run, rule: AlertRule) -> dict[str, str | None]:
    """The name of the run that each place compares this one with."""
    page = client.get(reverse("run", args=[run.uuid])).context
    release = client.get(reverse("run_release", args=[run.uuid])).context
    gate = client.get(reverse("api:run_gate", args=[run.uuid]), {"gate": "regressions<=0"})
    choice = client.get(reverse("compare", args=[run.team.slug]), {"candidate": run.uuid})
    uuids = {str(each.uuid): each.name for each in Run.objects.all()}
    found = {
        "page": page["run_release"].baseline,
        "case table": page["cases"].baseline_choice.chosen,
        "release": release["baseline"],
        "report": RunReport(run).baseline,
        "alert": compare_and_find(rule).baseline,
    }
    return {place: run.name if run else None for place, run in found.items()} | {
        "gate": uuids.get(gate.json()["baseline"]),
        "comparison": uuids.get(choice.context["choice"].initial["baseline"]),
    }


@pytest.mark.parametrize("pinned", ["", "w0", "w2"])
def test_outputs_scored_again_have_the_baseline_of_the_first_run(
    version: DatasetVersion, make_rule: MakeRule, browser_of: BrowserOf, alice: User, pinned: str
) -> None:
    weeks = [run_of(version, week, said) for week, said in enumerate((GOOD, GOOD, BAD))]
    again = run_again(weeks[2].output_set, 0.5, BAD, is_near=False)
    summarize_run(again)
    if pinned:
        Baseline.objects.pin(Run.objects.get(name=pinned), by=None)
    for run in (weeks[2], again):
        compare_runs(weeks[0], run)
        compare_runs(weeks[1], run)
    compare_runs(weeks[2], again)
    client = browser_of(alice)
    shown = shown_baselines(client, again, make_rule("regressions", 0))
    assert set(shown.values()) == {pinned or "w1"}
    measure_series(version.dataset, "a")
    broken = [broken.regression for broken in AttentionList(version.dataset.team).broken]
    told = [(run.standing.latest.name, run.baseline_name, run.broke) for run in broken]
    assert told == ([] if pinned == "w2" else [("again", pinned or "w1", 8)])
