"""Equal runs of one source, week after week: a rule about drops fires as rarely as it says."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from django.utils import timezone
from scipy import stats

from scoring.core.stats import paired_tests
from scoring.core.wording.comparison import ALPHA
from scoring.engine.alerts.conditions import evaluate_rule
from scoring.engine.alerts.finding import Finding
from scoring.engine.compare import comparison
from scoring.engine.runs.neighbours import run_baseline
from scoring.models import AlertRule, DatasetVersion, OutputSet, Run, WatchState
from tests.support.finished_runs import run_with
from tests.support.fixtures.alert_rules import CASES, MakeRule

pytestmark = pytest.mark.slow

WEEKS = 40


def weeks_of(version: DatasetVersion, ease: np.ndarray, seed: int) -> list[Run]:
    """Runs of two scorers, whose cases differ in how easy they are; the runs do not."""
    draw = np.random.default_rng(seed)
    runs = []
    for week in range(WEEKS):
        close = [float(x) for x in np.clip(ease + draw.normal(0, 0.1, CASES), 0, 1)]
        right = [float(x) for x in draw.random(CASES) < ease]
        run = run_with(version, {"close": close, "right": right}, name=f"w{week}")
        dated = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(weeks=week)
        OutputSet.objects.filter(pk=run.output_set_id).update(dated=dated)
        runs.append(Run.objects.select_related("output_set__version__dataset").get(pk=run.pk))
    return runs


def firings(rule: AlertRule, runs: list[Run]) -> int:
    """In how many weeks the rule fires; each run is looked at as the newest."""
    count = 0
    for run in reversed(runs):
        baseline = run_baseline(run, rule.scorer)
        if baseline:
            comparison.compare_runs(baseline, run)
        found = evaluate_rule(rule, "a", timezone.now())
        assert isinstance(found, Finding)
        assert found.run == run
        count += found.state == WatchState.FIRING
        Run.objects.filter(pk=run.pk).update(deleted_at=timezone.now())
    Run.with_deleted.update(deleted_at=None)
    return count


def test_equal_runs_rarely_fire(
    version: DatasetVersion, make_rule: MakeRule, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bound is what a true rate of ALPHA, all of it downwards even, exceeds once in 1,000."""
    monkeypatch.setattr(paired_tests, "RESAMPLES", 1_000)
    runs = weeks_of(version, np.random.default_rng(5).beta(5, 2, CASES), seed=17)
    most = int(stats.binom.ppf(0.999, WEEKS - 1, ALPHA))
    for scorer in ("close", "right", ""):
        assert firings(make_rule("drop", None, scorer=scorer), runs) <= most


def test_a_real_drop_fires(
    version: DatasetVersion, make_rule: MakeRule, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same cases become harder in one week: the rule fires there."""
    monkeypatch.setattr(paired_tests, "RESAMPLES", 1_000)
    monkeypatch.setattr("tests.engine.alerts.test_false_alarms.WEEKS", 2)
    ease = np.full(CASES, 0.9)
    before = weeks_of(version, ease, seed=1)[-1]
    after = weeks_of(version, ease - 0.6, seed=2)[-1]
    OutputSet.objects.filter(pk=after.output_set_id).update(dated=timezone.now())
    OutputSet.objects.exclude(pk__in=[after.output_set_id, before.output_set_id]).delete()
    for scorer in ("close", "right", ""):
        rule = make_rule("drop", None, scorer=scorer)
        comparison.compare_runs(before, after)
        found = evaluate_rule(rule, "a", timezone.now())
        assert isinstance(found, Finding)
        assert (found.state, found.run) == (WatchState.FIRING, after)
