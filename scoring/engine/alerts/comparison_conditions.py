"""The kinds of rule that compare a run with its baseline, from the stored comparison."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from typing import Final, NamedTuple

from django.utils import timezone

from scoring.core.wording.comparison import ALPHA
from scoring.core.wording.numbers import plain_share
from scoring.engine.alerts.finding import (
    MAX_UNSCORED_SHARE,
    TOLERANCE,
    EvaluateLater,
    Finding,
    count_judged,
    silent_finding,
    too_many_unscored,
    undecided_finding,
)
from scoring.engine.compare import comparison
from scoring.engine.compare import jobs as compare_jobs
from scoring.engine.compare.claims import read_figures
from scoring.engine.compare.figures import Figures, ScorerFigures
from scoring.engine.compare.regressions import count_regressions
from scoring.engine.runs.neighbours import run_baseline
from scoring.models import (
    AlertKind,
    AlertRule,
    Comparison,
    Run,
    RunSummary,
    WatchState,
)
from scoring.models.reviews.broken_cases import BrokenCases, WaivedFlips, waived_flips

NONE_WAIVED: Final = WaivedFlips()
RETRY_SECONDS: Final = 5  # while the worker still compares


class PairedRuns(NamedTuple):
    """A run and its baseline with their stored figures; `scorer` has those of the rule's own."""

    run: Run
    baseline: Run
    figures: Figures
    scorer: ScorerFigures | None

    @property
    def names(self) -> str:
        return f"{self.run.name} against {self.baseline.name}"


def compare_with_baseline(rule: AlertRule, run: Run, since: Run | None) -> Finding | EvaluateLater:
    """The rule's outcome by the stored comparison; a missing one is enqueued and awaited."""
    baseline = run_baseline(run, rule.scorer, since)
    if baseline is None:
        return silent_finding(f"There is no earlier run to compare {run.name} with.", run)
    if baseline.is_unfinished:
        return EvaluateLater()
    stored = comparison.stored_comparison(baseline, run)
    if stored is None:
        if failed := compare_jobs.failed_job(baseline, run):
            problem = f"{run.name} could not be compared: {failed.problem.rstrip('.')}."
            return undecided_finding(problem, run)
        compare_jobs.enqueue_comparison(baseline, run, None)
        return EvaluateLater(RETRY_SECONDS)
    return find_in_comparison(rule, run, baseline, stored)


def find_in_comparison(rule: AlertRule, run: Run, baseline: Run, stored: Comparison) -> Finding:
    """The rule's outcome by a stored comparison."""
    figures = read_figures(stored)
    scorer = next((scorer for scorer in figures.scorers if scorer.name == rule.scorer), None)
    runs = PairedRuns(run, baseline, figures, scorer)
    problem = _problem(rule, runs)
    finding = undecided_finding(problem, run) if problem else CONDITIONS[rule.kind](rule, runs)
    return finding._replace(baseline=baseline)


def significant_drop(rule: AlertRule, runs: PairedRuns) -> Finding:
    """Firing where the run is worse than its baseline by a significant difference, and by the
    limit at least: a scorer's mean, by more than a judge wavers by itself, or the cases' verdicts.
    Either is significant as on the compare page: after the correction of all claims there.
    """
    fall, is_significant, sentence = (
        _fall_of_mean(runs.scorer) if runs.scorer else _fall_of_cases(runs.figures)
    )
    is_enough = fall > 0 and fall >= (rule.limit or 0.0) - TOLERANCE
    state = WatchState.FIRING if is_significant and is_enough else WatchState.FINE
    sentence = f"{runs.names}: {sentence}"
    if is_significant and fall > 0 and not is_enough:
        sentence += f" That is less than {rule.limit:g}."
    return Finding(state, sentence, runs.run, fall, rule.limit)


def regressions(rule: AlertRule, runs: PairedRuns) -> Finding:
    """Firing where more cases than the limit passed in the baseline and fail now.

    Waived ones do not count, as in gates. The day after the first waiver has expired is the time to
    evaluate again.
    """
    limit = rule.limit or 0.0
    broke = (runs.scorer.flips if runs.scorer else runs.figures).broke
    waived, until = _waived(rule, runs) if broke else NONE_WAIVED
    count = broke - waived
    state, relation = WatchState.FINE, "no more than"
    if count > limit:
        state, relation = WatchState.FIRING, "more than"
    cases = f"{count:,} case{'s' * (count != 1)} broke"
    by = f" by {rule.scorer}" if rule.scorer else ""
    besides = f" besides {waived:,} waived one{'s' * (waived != 1)}" if waived else ""
    sentence = f"{runs.names}: {cases}{by}{besides}, {relation} {limit:,.0f}."
    look_at = _next_day(until) if until and until < date.max else None
    return Finding(state, sentence, runs.run, count, limit, look_at)


def _waived(rule: AlertRule, runs: PairedRuns) -> WaivedFlips:
    """How many broken cases are waived, and until when: for the rule's scorer, or for all."""
    broken = BrokenCases(runs.baseline, runs.run)
    if rule.scorer:
        return waived_flips(broken, rule.scorer)
    days = [case.until for case in broken.waiver_use.used]
    return WaivedFlips(len(days), min(days)) if days else NONE_WAIVED


def _next_day(day: date) -> datetime:
    """When the day is over, by the site's clock."""
    return timezone.make_aware(datetime.combine(day + timedelta(days=1), time()))


def _fall_of_mean(scorer: ScorerFigures) -> tuple[float, bool, str]:
    """By how much the mean fell, whether that is significant, and the comparison's own sentence."""
    p, delta = scorer.p_corrected, scorer.delta or 0.0
    is_significant = p is not None and p <= ALPHA and abs(delta) > (scorer.noise or 0.0)
    return -delta, is_significant, scorer.sentence


def _fall_of_cases(figures: Figures) -> tuple[float, bool, str]:
    """The same of the share of cases that pass in both runs' judged cases."""
    fall = (figures.broke - figures.fixed) / figures.judged if figures.judged else 0.0
    p = figures.p_corrected
    return fall, p is not None and p <= ALPHA, figures.sentence


def _problem(rule: AlertRule, runs: PairedRuns) -> str:
    """Why the two cannot be compared under the rule; "" where they can."""
    if not rule.scorer:
        return _unknown_cases(runs)
    if runs.scorer is None:
        return f"{runs.baseline.name}, the baseline, was not scored by {rule.scorer}."
    before, after = runs.scorer.versions
    if before != after:
        versions = f"version {before} of {rule.scorer} and {runs.run.name} by version {after}"
        return f"{runs.baseline.name} was scored by {versions}: they are not comparable."
    if not runs.scorer.n:
        return f"No case has a score of {rule.scorer} in both {runs.names}."
    rows = RunSummary.objects.filter(scorer__run__in=runs[:2], scorer__name=rule.scorer)
    summaries = {summary.scorer.run_id: summary for summary in rows.select_related("scorer")}
    for run in runs[:2]:
        summary = summaries[run.pk]
        if problem := too_many_unscored(run, summary.n, summary.unscored):
            return problem
    return ""


def _unknown_cases(runs: PairedRuns) -> str:
    """As for a gate on regressions: too many cases lack a verdict in both runs, or in one of them,
    as where both lack the outputs of the same cases.
    """
    for run in (runs.run, runs.baseline):
        _, judged, n = count_judged(run)
        if judged and (problem := too_many_unscored(run, n, run.unjudged)):
            return problem
    figures = runs.figures
    alone = figures.only_baseline + figures.only_candidate
    n, unknown = figures.pairs + alone, figures.pairs - figures.judged + alone
    if figures.judged and unknown / n <= MAX_UNSCORED_SHARE:
        return ""
    counts = count_regressions(runs.run, runs.baseline)
    if figures.judged and counts.unknown / counts.n <= MAX_UNSCORED_SHARE:
        return ""
    note = counts.note or "no case has a verdict in both runs"
    return f"{runs.names}: {note}, over {plain_share(MAX_UNSCORED_SHARE)}."


CONDITIONS: Final[dict[str, Callable[[AlertRule, PairedRuns], Finding]]] = {
    AlertKind.DROP: significant_drop,
    AlertKind.REGRESSIONS: regressions,
}
