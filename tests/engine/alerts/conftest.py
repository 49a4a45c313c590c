"""Rules over runs of the drift tests, and what a round of the worker makes of them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F
from django.utils import timezone

from scoring.engine.alerts import follow_runs, tick
from scoring.engine.alerts.conditions import evaluate_rule
from scoring.engine.alerts.finding import EvaluateLater, Finding
from scoring.engine.compare import jobs as compare_jobs
from scoring.engine.runs.summaries import summarize_run
from scoring.models import (
    Alert,
    AlertDelivery,
    AlertRule,
    AlertWatch,
    DatasetVersion,
    Job,
    JobKind,
    Run,
    RunSummary,
)
from tests.conftest import MakeDataset
from tests.support.drift_runs import run_in_week

MakeRule = Callable[..., AlertRule]
CASES = 20
FINE, FIRING, UNDECIDED, SILENT = "fine", "firing", "undecided", "silent"


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset([{"key": f"q{number}"} for number in range(CASES)])


@pytest.fixture
def make_rule(version: DatasetVersion) -> MakeRule:
    """A rule over the version's dataset; a pass rate below 0.8 unless told otherwise."""

    def make(kind: str = "pass_rate_below", limit: float | None = 0.8, **more: Any) -> AlertRule:
        dataset = version.dataset
        wanted = {"kind": kind, "limit": limit, "by": None} | more
        return AlertRule.objects.define(dataset.team, dataset, **wanted).rule

    return make


def run_of(
    version: DatasetVersion, week: int, verdicts: str, mean: float | None = None, **more: Any
) -> Run:
    """A finished run whose summary is that of its verdicts, but for the mean where one is given."""
    is_near = mean is not None
    run = run_in_week(version, week, mean or 0.5, verdicts, is_near=is_near, **more)
    summarize_run(run)
    if mean is not None:
        RunSummary.objects.filter(scorer__run=run, mean__isnull=False).update(mean=mean)
    return run


def letters(passed: int, n: int = CASES, rest: str = "f") -> str:
    """So many cases pass; `rest` is said of the others."""
    return "p" * passed + rest * (n - passed)


GOOD, BAD, UNKNOWN = letters(20), letters(5), letters(5, rest="e")


def open_alert() -> Alert:
    return Alert.objects.unresolved().get()


def watch() -> AlertWatch:
    return AlertWatch.objects.get()


def finding_of(rule: AlertRule, series: str = "a") -> Finding:
    finding = evaluate_rule(rule, series, timezone.now())
    assert isinstance(finding, Finding)
    return finding


def compare_and_find(rule: AlertRule, series: str = "a") -> Finding:
    """After the worker has compared what was asked of it."""
    if isinstance(evaluate_rule(rule, series, timezone.now()), EvaluateLater):
        job = Job.objects.filter(kind=JobKind.COMPARE).latest("pk")
        compare_jobs.run_comparison(job)
    return finding_of(rule, series)


def week(version: DatasetVersion, number: int, verdicts: str, **more: Any) -> Run:
    """A run ends, and the worker looks around."""
    run = run_of(version, number, verdicts, **more)
    follow_runs([run])
    tick()
    return run


def sent_events() -> list[str]:
    """The events of all messages in the site, oldest first."""
    return list(AlertDelivery.objects.order_by("pk").values_list("event", flat=True))


def pass_time(by: timedelta) -> None:
    """As if all that is kept had happened that much earlier."""
    times = ("opened_at", "notified_at", "remind_at", "resolved_at")
    Alert.objects.update(**{name: F(name) - by for name in times})
    AlertWatch.objects.update(evaluate_at=F("evaluate_at") - by)


@pytest.fixture
def firing_rule(version: DatasetVersion, make_rule: MakeRule) -> AlertRule:
    """A rule over the series a, whose alert fires since w1."""
    rule = make_rule(series="a")
    week(version, 1, BAD)
    return rule
