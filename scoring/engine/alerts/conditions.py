"""Evaluates a rule on the newest run of a series, from the stored results."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final, TypeVar

from scoring.core.wording.comparison import p_text
from scoring.core.wording.drift_status import Status
from scoring.core.wording.numbers import number_text
from scoring.engine.alerts import comparison_conditions
from scoring.engine.alerts.comparison_conditions import RETRY_SECONDS
from scoring.engine.alerts.finding import (
    EvaluateLater,
    Finding,
    below_finding,
    count_judged,
    silent_finding,
    too_many_unscored,
    undecided_finding,
)
from scoring.engine.drift import jobs
from scoring.models import AlertKind, AlertRule, Dataset, Run, RunScorer, RunState, WatchState
from scoring.models.runs.run import NEWEST_FIRST, RunQuerySet

Found = TypeVar("Found", bound="Finding | EvaluateLater | None")
_OVER_DATASET: Final = "output_set__version__dataset"


def evaluate_rule(
    rule: AlertRule, series: str, now: datetime, since: Run | None = None
) -> Finding | EvaluateLater:
    """Evaluate the rule on the series' newest run, without scoring or comparing anything anew.

    A rule that does not fire warns where its warning limit is passed.

    `since` is the baseline of an open alert: where none is pinned, runs are compared with it until
    they are as good again. A drop that stays is no step from the run before.

    Only the newest run by the time of its outputs counts, so runs of the past that arrive late
    never fire. A rule over all series that was made before any run waits under the series "".
    """
    return warn_first(rule, lambda each: _evaluate(each, series, now, since))


def warn_first(rule: AlertRule, evaluate: Callable[[AlertRule], Found]) -> Found | Finding:
    """The finding of the rule; where that is fine, a warning if its warning limit is passed."""
    found = evaluate(rule)
    if rule.warning_limit is None or not isinstance(found, Finding):
        return found
    if found.state != WatchState.FINE:
        return found
    warned = evaluate(rule.warning_rule())
    if not isinstance(warned, Finding):
        return warned
    if warned.state == WatchState.FIRING:
        return warned._replace(state=WatchState.WARNING, evaluate_at=found.evaluate_at)
    times = [each.evaluate_at for each in (found, warned) if each.evaluate_at]
    return found._replace(evaluate_at=min(times, default=None))


def _evaluate(
    rule: AlertRule, series: str, now: datetime, since: Run | None
) -> Finding | EvaluateLater:
    run = series_runs(rule.dataset, series).exclude(state=RunState.CANCELLED).first()
    if run and not series:
        return Finding(WatchState.FINE, "Runs have come: each series is watched by itself.", run)
    if rule.kind == AlertKind.NO_DATA:
        return find_missing_run(rule, series, now)
    if run is None or run.is_unfinished:
        return EvaluateLater() if run else silent_finding("No run has finished yet.")
    scorer = None
    if rule.scorer:
        scorer = newest_scorer(run, rule.scorer)
        if scorer is None:
            return not_scored(rule, run)
        run = scorer.run
    if rule.kind in comparison_conditions.CONDITIONS:
        return comparison_conditions.compare_with_baseline(rule, run, since)
    return CONDITIONS[rule.kind](rule, run, scorer)


def not_scored(rule: AlertRule, run: Run) -> Finding:
    return undecided_finding(f"{run.name} was not scored by {rule.scorer}.", run)


def series_runs(dataset: Dataset, series: str) -> RunQuerySet:
    """Newest first by the time of their outputs; without a series those of the whole dataset."""
    runs = Run.objects.of_dataset(dataset).select_related(_OVER_DATASET)
    runs = runs.filter(output_set__series=series) if series else runs
    return runs.order_by(*NEWEST_FIRST)


def find_missing_run(rule: AlertRule, series: str, now: datetime) -> Finding:
    """Firing where the newest run is older than the rule's days, by the time of its outputs."""
    days = int(rule.limit or 0)
    run = series_runs(rule.dataset, series).filter(state=RunState.FINISHED).first()
    since = run.output_set.series_time if run else rule.created_at
    age = round((now - since) / timedelta(days=1), 3)
    due = since + timedelta(days=days)
    if now < due:
        return Finding(WatchState.FINE, _fine(run, due), run, age, days, due)
    if run and not rule.series and due < rule.created_at:
        return silent_finding(f"The series had ended with {run.name} before it was watched.", run)
    return Finding(WatchState.FIRING, missing_text(run, series, int(age)), run, age, days)


def _fine(run: Run | None, due: datetime) -> str:
    newest = f"The newest run is {run.name} of {run.output_set.dated:%Y-%m-%d}" if run else "No run"
    return f"{newest}; the next one is awaited until {due:%Y-%m-%d %H:%M} UTC."


def missing_text(run: Run | None, series: str, days: int) -> str:
    """That no run has come for so many days since this one."""
    start = f"No run{series and f' of {series}'} for {days:,} day{'s' * (days != 1)}"
    if run is None:
        return f"{start}: none has come since the rule was made."
    return f"{start}: the newest is {run.name} of {run.output_set.dated:%Y-%m-%d}."


def newest_scorer(run: Run, name: str) -> RunScorer | None:
    """The scorer in the newest run over the same outputs that has it; None where none has."""
    scorers = RunScorer.objects.filter(
        run__output_set=run.output_set_id,
        run__state=RunState.FINISHED,
        name=name,
        summary__isnull=False,
    )
    joined = scorers.select_related("summary", "version", f"run__{_OVER_DATASET}")
    return joined.order_by("-run_id").first()


def mean_below(rule: AlertRule, run: Run, scorer: RunScorer | None) -> Finding:
    if scorer is None:
        raise AssertionError("a rule of this kind names a scorer")
    summary = scorer.summary
    if problem := too_many_unscored(run, summary.n, summary.unscored):
        return undecided_finding(problem, run)
    mean, counts = summary.mean or 0.0, (summary.scored, summary.n)
    return below_finding(f"The mean of {rule.scorer}", run, mean, rule.limit or 0.0, counts)


def pass_rate_below(rule: AlertRule, run: Run, scorer: RunScorer | None) -> Finding:
    """As gates count it: the share of cases that pass among those that pass or fail."""
    if scorer:
        passed, judged, n = scorer.summary.passed, scorer.summary.scored, scorer.summary.n
        words, unscored = f"The pass rate of {rule.scorer}", scorer.summary.unscored
    else:
        passed, judged, n = count_judged(run)
        words, unscored = "The pass rate", run.unjudged
    if problem := too_many_unscored(run, n, unscored):
        return undecided_finding(problem, run)
    return below_finding(words, run, passed / judged, rule.limit or 0.0, (judged, n), is_share=True)


def out_of_limits(rule: AlertRule, run: Run, _: RunScorer | None) -> Finding | EvaluateLater:
    """Firing while the level of the drift line is decreased, as the drift page shows it, until
    enough runs have made the new level the usual one.
    """
    series = run.output_set.series
    (line,) = jobs.lines_or_enqueue(rule.dataset, None, scorers=[rule.scorer], series=[series])
    point, standing = line.points[-1], line.standing
    if problem := too_many_unscored(run, point.n + point.unscored, point.unscored):
        return undecided_finding(problem, run)
    if not line.is_tested:
        if failed := jobs.failed_job(rule.dataset, series):
            problem = f"{run.name} could not be measured: {failed.problem.rstrip('.')}."
            return undecided_finding(problem, run)
        return EvaluateLater(RETRY_SECONDS)
    if standing.status == Status.UNTESTED:
        return silent_finding(
            "There is no earlier comparable run to test the newest one against.", run
        )
    mean, change = point.mean or 0.0, standing.change
    start = f"The mean of {rule.scorer} is {number_text(mean, 3)} in {run.name} (n = {point.n:,}): "
    if change is None or standing.status != Status.DECREASED:
        state = "its level increased" if change else "its level has not changed"
        low = line.limits.low if line.limits else None
        return Finding(WatchState.FINE, f"{start}{state}.", run, mean, low)
    first = line.runs[change.place].label
    levels = f"from {number_text(change.before, 3)} to {number_text(change.after, 3)}"
    sentence = f"{start}its level decreased with {first}, {levels} ({p_text(change.p)})."
    return Finding(WatchState.FIRING, sentence, run, mean, change.before)


CONDITIONS: Final[
    dict[str, Callable[[AlertRule, Run, RunScorer | None], Finding | EvaluateLater]]
] = {
    AlertKind.MEAN_BELOW: mean_below,
    AlertKind.PASS_RATE_BELOW: pass_rate_below,
    AlertKind.OUT_OF_LIMITS: out_of_limits,
}
