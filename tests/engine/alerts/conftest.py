"""Rules over runs of the drift tests, and what a round of the worker makes of them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from scoring.engine import compare
from scoring.engine.alerts import leave_after, tick
from scoring.engine.alerts.finding import Finding, Later
from scoring.engine.alerts.judging import judge
from scoring.engine.summaries import summarise
from scoring.models import (
    Alert,
    AlertDelivery,
    AlertRule,
    AlertWatch,
    DatasetVersion,
    Errand,
    ErrandKind,
    Run,
    RunSummary,
)
from tests.conftest import MakeDataset
from tests.drifting import run_in_week

MakeRule = Callable[..., AlertRule]
CASES = 20


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
    run = run_in_week(version, week, 0.5, verdicts, **more)
    summarise(run)
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


def found(rule: AlertRule, series: str = "a") -> Finding:
    told = judge(rule, series, timezone.now())
    assert isinstance(told, Finding)
    return told


def compared(rule: AlertRule, series: str = "a") -> Finding:
    """After the worker has compared what was asked of it."""
    if isinstance(judge(rule, series, timezone.now()), Later):
        errand = Errand.objects.filter(kind=ErrandKind.COMPARE).latest("pk")
        compare.done_errand(errand)
    return found(rule, series)


def week(version: DatasetVersion, number: int, verdicts: str, **more: Any) -> Run:
    """A run ends, and the worker looks around."""
    run = run_of(version, number, verdicts, **more)
    leave_after(run)
    tick()
    return run


def told() -> list[str]:
    """The events of all messages in the site, oldest first."""
    return list(AlertDelivery.objects.order_by("pk").values_list("event", flat=True))


def pass_time(by: timedelta) -> None:
    """As if all that is kept had happened that much earlier."""
    for alert in Alert.objects.all():
        times = ("opened_at", "told_at", "tell_at", "resolved_at")
        moved = {name: getattr(alert, name) and getattr(alert, name) - by for name in times}
        Alert.objects.filter(pk=alert.pk).update(**moved)
    for each in AlertWatch.objects.exclude(look_at=None):
        AlertWatch.objects.filter(pk=each.pk).update(look_at=each.look_at and each.look_at - by)
