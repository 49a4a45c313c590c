"""When a rule would have fired: it is tried on past runs, by the figures that are stored."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial
from itertools import pairwise
from typing import Final, NamedTuple

from django.utils import timezone

from scoring.core.wording.comparison import p_text
from scoring.core.wording.numbers import number_text
from scoring.engine.alerts import comparison_conditions
from scoring.engine.alerts.conditions import (
    CONDITIONS,
    missing_text,
    newest_scorer,
    not_scored,
    series_runs,
    warn_first,
)
from scoring.engine.alerts.finding import Finding, silent_finding
from scoring.engine.compare.comparison import stored_comparison
from scoring.engine.drift import drift_lines
from scoring.engine.runs.neighbours import previous_run, run_baseline
from scoring.models import AlertKind, AlertRule, Run, RunState, WatchState

MAX_RUNS: Final = 20


class PastRuns(NamedTuple):
    """What a rule says of the newest `run_count` runs that it concerns, the newest first.

    `unknown` counts runs of which nothing can be told before they are compared or measured.
    """

    run_count: int
    findings: Sequence[Finding]
    unknown: int = 0

    @property
    def firing(self) -> list[Finding]:
        return [each for each in self.findings if each.state == WatchState.FIRING]

    @property
    def warning(self) -> list[Finding]:
        return [each for each in self.findings if each.state == WatchState.WARNING]

    @property
    def undecided(self) -> list[Finding]:
        return [each for each in self.findings if each.state == WatchState.UNDECIDED]


def check_past_runs(rule: AlertRule, most: int = MAX_RUNS) -> PastRuns:
    """Try a rule, saved or not, on each of the newest finished runs as if it were the newest.

    Of outputs that were scored several times the newest run counts. A run is compared with the
    baseline pinned now, if that is older, else with the run before it.
    """
    runs = _newest_runs(rule, most)
    if rule.kind == AlertKind.NO_DATA:
        return PastRuns(len(runs), list(_find_gaps(rule, runs, timezone.now())))
    if rule.kind == AlertKind.OUT_OF_LIMITS:
        return _find_decreases(rule, runs)
    findings = [warn_first(rule, partial(_find, run=run)) for run in runs]
    known = [finding for finding in findings if finding]
    return PastRuns(len(runs), known, len(runs) - len(known))


def _newest_runs(rule: AlertRule, most: int) -> list[Run]:
    runs: dict[int, Run] = {}
    newest = series_runs(rule.dataset, rule.series).filter(state=RunState.FINISHED)
    for run in newest[: 2 * most]:
        runs.setdefault(run.output_set_id, run)
    return list(runs.values())[:most]


def _find(rule: AlertRule, run: Run) -> Finding | None:
    """None where the comparison that tells it is not stored."""
    scorer = newest_scorer(run, rule.scorer) if rule.scorer else None
    if rule.scorer and scorer is None:
        return not_scored(rule, run)
    run = scorer.run if scorer else run
    if rule.kind not in comparison_conditions.CONDITIONS:
        found = CONDITIONS[rule.kind](rule, run, scorer)
        return found if isinstance(found, Finding) else None
    baseline = _baseline_then(rule, run)
    if baseline is None:
        return silent_finding("There is no earlier run to compare it with.", run)
    stored = stored_comparison(baseline, run)
    return comparison_conditions.find_in_comparison(rule, run, baseline, stored) if stored else None


def _baseline_then(rule: AlertRule, run: Run) -> Run | None:
    baseline = run_baseline(run, rule.scorer)
    if baseline and baseline.output_set.series_time <= run.output_set.series_time:
        return baseline
    return previous_run(run, rule.scorer)


def _find_gaps(rule: AlertRule, runs: Sequence[Run], now: datetime) -> Iterator[Finding]:
    """The runs after which none came for longer than the rule's days, by the times of their
    outputs.
    """
    limits = [(WatchState.FIRING, rule.limit), (WatchState.WARNING, rule.warning_limit)]
    series: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        series[run.output_set.series].append(run)
    findings = []
    for name, newest_first in series.items():
        times = [now, *(run.output_set.series_time for run in newest_first)]
        for run, (following, time) in zip(newest_first, pairwise(times), strict=True):
            days = (following - time) / timedelta(days=1)
            reached = (state for state, limit in limits if limit is not None and days >= limit)
            if state := next(reached, None):
                findings.append(Finding(state, missing_text(run, name, int(days)), run, days))
    ordered = [run.pk for run in runs]
    yield from sorted(findings, key=lambda found: ordered.index(found.run.pk if found.run else 0))


def _find_decreases(rule: AlertRule, runs: Sequence[Run]) -> PastRuns:
    """The runs with which the level of their drift line decreased, as the drift page shows it."""
    series = {run.output_set.series for run in runs}
    by_id = {run.pk: run for run in runs}
    findings, unknown = {}, set(by_id)
    for line in drift_lines(rule.dataset, scorers=[rule.scorer], series=series):
        if line.is_judged:
            unknown -= {run.run for run in line.runs}
        for change in line.changes:
            run = by_id.get(line.runs[change.place].run)
            if run and change.after < change.before:
                levels = f"{number_text(change.before, 3)} to {number_text(change.after, 3)}"
                text = f"The level of {rule.scorer} decreased from {levels} ({p_text(change.p)})."
                found = Finding(WatchState.FIRING, text, run, change.after, change.before)
                findings[run.pk] = found
    ordered = [findings[run.pk] for run in runs if run.pk in findings]
    return PastRuns(len(runs), ordered, len(unknown))
