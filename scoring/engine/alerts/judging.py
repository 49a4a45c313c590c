"""Looks at the newest run of a series under a rule, from what is stored of it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Final, NamedTuple

from scoring.core.number_text import number_text
from scoring.engine.alerts import absence, paired
from scoring.engine.alerts.finding import Finding, Later, below, silent, undecided, unjudged
from scoring.engine.drift import lines_of
from scoring.models import AlertKind, AlertRule, Dataset, Run, RunScorer, RunState, WatchState

_OVER_DATASET: Final = "output_set__version__dataset"


class Seen(NamedTuple):
    """A finished run, and the rule's scorer in it; None where the rule is about all scorers."""

    run: Run
    scorer: RunScorer | None


def judge(rule: AlertRule, series: str, now: datetime, since: Run | None = None) -> Finding | Later:
    """What is to be said of the series, without scoring or comparing anything anew.

    `since` is the baseline of an alert that goes on: where none is pinned, runs are compared with
    it until they are as good again. A drop that stays is no step from the run before.

    Only the newest run by its outputs' date is looked at, so that runs of the past which come late
    never fire. A rule over all series that was made before any run waits under the series "".
    """
    run = newest_run(rule.dataset, series)
    if run and not series:
        return Finding(WatchState.FINE, "Runs have come: each series is watched by itself.", run)
    if rule.kind == AlertKind.NO_DATA:
        return absence.judged(rule, series, now)
    if run is None:
        return silent("No run has finished yet.")
    return Later() if run.is_unfinished else _judged(rule, run, since)


def _judged(rule: AlertRule, run: Run, since: Run | None) -> Finding | Later:
    seen = seen_in(run, rule.scorer)
    if seen is None:
        return undecided(f"{run.name} was not scored by {rule.scorer}.", run)
    if rule.kind in paired.KINDS:
        return paired.judged(rule, seen.run, since)
    return KINDS[rule.kind](rule, seen)


def newest_run(dataset: Dataset, series: str) -> Run | None:
    """The series' newest run by its outputs' date, unfinished ones included; without a series
    that of the dataset.
    """
    runs = Run.objects.of_dataset(dataset).exclude(state=RunState.CANCELLED)
    runs = runs.filter(output_set__series=series) if series else runs
    return runs.select_related(_OVER_DATASET).order_by("-output_set__dated", "-pk").first()


def seen_in(run: Run, scorer: str) -> Seen | None:
    """The newest run over the same outputs that has the scorer; None where none has."""
    if not scorer:
        return Seen(run, None)
    alike = RunScorer.objects.filter(
        run__output_set=run.output_set_id,
        run__state=RunState.FINISHED,
        name=scorer,
        summary__isnull=False,
    )
    joined = alike.select_related("summary", "version", f"run__{_OVER_DATASET}")
    found = joined.order_by("-run_id").first()
    return Seen(found.run, found) if found else None


def mean_below(rule: AlertRule, seen: Seen) -> Finding:
    run, summary = seen.run, _scorer(seen).summary
    if problem := unjudged(run, summary.n, summary.errors + summary.skipped):
        return undecided(problem, run)
    told_of = summary.n - summary.errors - summary.skipped, summary.n
    return below(f"The mean of {rule.scorer}", run, summary.mean or 0.0, rule.limit or 0.0, told_of)


def pass_rate_below(rule: AlertRule, seen: Seen) -> Finding:
    """As gates count it: the share of cases that pass among those that pass or fail."""
    run = seen.run
    passed, judged, n = _of_scorer(seen.scorer) if seen.scorer else _of_cases(run)
    if problem := unjudged(run, n, n - judged):
        return undecided(problem, run)
    of = f" of {rule.scorer}" if rule.scorer else ""
    told_of = judged, n
    return below(
        f"The pass rate{of}", run, passed / judged, rule.limit or 0.0, told_of, is_share=True
    )


def out_of_limits(rule: AlertRule, seen: Seen) -> Finding:
    """The newest point of the drift line, as the drift page has it."""
    run = seen.run
    (line,) = lines_of(rule.dataset, scorer=rule.scorer, series=run.output_set.series)
    point = line.points[-1]
    if problem := unjudged(run, point.n + point.unscored, point.unscored):
        return undecided(problem, run)
    if line.limits is None:
        return silent(line.limits_reason, run)
    told_of = point.n, point.n + point.unscored
    found = below(f"The mean of {rule.scorer}", run, point.mean or 0.0, line.limits.low, told_of)
    if found.state == WatchState.FINE:
        return found._replace(sentence=f"{found.sentence[:-1]}, the lower control limit.")
    usual = f"{number_text(line.limits.centre, 3)} is usual in the latest {line.limits.n} runs"
    low = number_text(line.limits.low, 3)
    told = found.sentence.replace(f"below {line.limits.low:g}.", f"below the control limit {low}")
    return found._replace(sentence=f"{told} ({usual}).")


def _scorer(seen: Seen) -> RunScorer:
    if seen.scorer is None:
        raise AssertionError("a rule of this kind names a scorer")
    return seen.scorer


def _of_scorer(scorer: RunScorer) -> tuple[int, int, int]:
    """How many passed, have a verdict, and are there."""
    summary = scorer.summary
    return summary.passed, summary.scored, summary.n


def _of_cases(run: Run) -> tuple[int, int, int]:
    passed, failed = run.pass_count or 0, run.fail_count or 0
    return passed, passed + failed, run.case_count or 0


KINDS: Final[dict[str, Callable[[AlertRule, Seen], Finding]]] = {
    AlertKind.MEAN_BELOW: mean_below,
    AlertKind.PASS_RATE_BELOW: pass_rate_below,
    AlertKind.OUT_OF_LIMITS: out_of_limits,
}
