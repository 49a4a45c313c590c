"""The kinds that look at a run beside its baseline, from the comparison that is kept of the two."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Final, NamedTuple

from django.db.models import Q

from scoring.core.number_text import typed_share
from scoring.core.sentences import ALPHA
from scoring.engine import compare, compare_asks
from scoring.engine.alerts.finding import (
    MOST_UNJUDGED,
    SAME,
    Finding,
    Later,
    silent,
    undecided,
    unjudged,
)
from scoring.engine.figures import Figures, ScorerFigures
from scoring.engine.regressions import regressions_of
from scoring.models import AlertKind, AlertRule, Baseline, Run, RunState, RunSummary, WatchState

ASK_AGAIN_SECONDS: Final = 5  # while the worker still compares


class Beside(NamedTuple):
    """A run and its baseline, with what is kept of the two; `scorer` has the figures of the
    rule's own one.
    """

    run: Run
    baseline: Run
    figures: Figures
    scorer: ScorerFigures | None

    @property
    def names(self) -> str:
        return f"{self.run.name} against {self.baseline.name}"


def judged(rule: AlertRule, run: Run, since: Run | None) -> Finding | Later:
    """What the comparison says. One that is missing is asked of the worker and awaited."""
    baseline = baseline_of(run, rule.scorer, since)
    if baseline is None:
        return silent(f"There is no earlier run to compare {run.name} with.", run)
    if baseline.is_unfinished:
        return Later()
    kept = compare.kept(baseline, run)
    if kept is None:
        return _awaited(baseline, run)
    figures = Figures.read(kept.figures)
    scorer = next((each for each in figures.scorers if each.name == rule.scorer), None)
    beside = Beside(run, baseline, figures, scorer)
    problem = _problem(rule, beside)
    found = undecided(problem, run) if problem else KINDS[rule.kind](rule, beside)
    return found._replace(baseline=baseline)


def baseline_of(run: Run, scorer: str, since: Run | None = None) -> Run | None:
    """The run pinned for the series, else the one `since` which an alert goes on, else the newest
    finished one over earlier outputs, of those that have the scorer: a run over the same outputs
    again is no step in time.
    """
    joined = "run__output_set__version__dataset"
    pinned = Baseline.objects.of(run).exclude(run=run).select_related(joined).first()
    if pinned:
        return pinned.run
    if since and since.deleted_at is None and _dated(since) < _dated(run):
        return since
    outputs = run.output_set
    earlier = Q(output_set__dated__lt=outputs.dated)
    earlier |= Q(output_set__dated=outputs.dated, output_set__lt=outputs.pk)
    runs = Run.objects.of_dataset(outputs.version.dataset).filter(
        earlier, output_set__series=outputs.series, state=RunState.FINISHED
    )
    runs = runs.filter(scorers__name=scorer) if scorer else runs
    ordered = runs.order_by("-output_set__dated", "-output_set", "-pk")
    return ordered.select_related("output_set__version__dataset").first()


def _dated(run: Run) -> tuple[datetime, int]:
    """Runs over the same outputs are at one point in time."""
    return run.output_set.dated, run.output_set_id


def drop(rule: AlertRule, beside: Beside) -> Finding:
    """Firing where the run is worse than its baseline by more than chance explains, and by the
    limit at least: a scorer's mean (p corrected for all scorers, and more than a judge wavers by
    itself), or the cases' verdicts (the exact McNemar test).
    """
    fall, is_shown, sentence = (
        _fall_of_mean(beside.scorer) if beside.scorer else _fall_of_cases(beside.figures)
    )
    is_enough = fall > 0 and fall >= (rule.limit or 0.0) - SAME
    state = WatchState.FIRING if is_shown and is_enough else WatchState.FINE
    told = f"{beside.names}: {sentence}"
    if is_shown and fall > 0 and not is_enough:
        told += f" That is less than {rule.limit:g}."
    return Finding(state, told, beside.run, fall, rule.limit)


def regressions(rule: AlertRule, beside: Beside) -> Finding:
    """Firing where more cases than the limit passed in the baseline and fail now."""
    limit = rule.limit or 0.0
    of = beside.scorer.flips if beside.scorer else beside.figures
    state = WatchState.FIRING if of.broke > limit else WatchState.FINE
    cases = f"{of.broke:,} case{'s' * (of.broke != 1)} broke"
    by = f" by {rule.scorer}" if rule.scorer else ""
    more = "more than" if state == WatchState.FIRING else "no more than"
    sentence = f"{beside.names}: {cases}{by}, {more} {limit:,.0f}."
    return Finding(state, sentence, beside.run, of.broke, limit)


def _fall_of_mean(scorer: ScorerFigures) -> tuple[float, bool, str]:
    """By how much the mean fell, whether that is shown, and the comparison's own sentence."""
    p, delta = scorer.p_corrected, scorer.delta or 0.0
    is_shown = p is not None and p <= ALPHA and abs(delta) > (scorer.noise or 0.0)
    return -delta, is_shown, scorer.sentence


def _fall_of_cases(figures: Figures) -> tuple[float, bool, str]:
    """The same of the share of cases that pass in both runs' judged cases."""
    fall = (figures.broke - figures.fixed) / figures.judged if figures.judged else 0.0
    return fall, figures.p is not None and figures.p <= ALPHA, figures.sentence


def _problem(rule: AlertRule, beside: Beside) -> str:
    """Why the two cannot be gone by; "" where they can."""
    if not rule.scorer:
        return _unknown_cases(beside)
    if beside.scorer is None:
        return f"{beside.baseline.name}, the baseline, was not scored by {rule.scorer}."
    before, after = beside.scorer.versions
    if before != after:
        versions = f"version {before} of {rule.scorer} and {beside.run.name} by version {after}"
        return f"{beside.baseline.name} was scored by {versions}: they are not comparable."
    if not beside.scorer.n:
        return f"No case has a score of {rule.scorer} in both {beside.names}."
    return _unscored(rule.scorer, beside)


def _unscored(scorer: str, beside: Beside) -> str:
    rows = RunSummary.objects.filter(
        scorer__run__in=[beside.run, beside.baseline], scorer__name=scorer
    )
    of = {summary.scorer.run_id: summary for summary in rows.select_related("scorer")}
    for run in (beside.run, beside.baseline):
        summary = of[run.pk]
        if problem := unjudged(run, summary.n, summary.errors + summary.skipped):
            return problem
    return ""


def _unknown_cases(beside: Beside) -> str:
    """As a gate on regressions: nothing can be said of cases without a verdict in both runs."""
    figures = beside.figures
    alone = figures.only_baseline + figures.only_candidate
    n, unknown = figures.pairs + alone, figures.pairs - figures.judged + alone
    if figures.judged and unknown / n <= MOST_UNJUDGED:
        return ""
    counted = regressions_of(beside.run, beside.baseline)
    if figures.judged and counted.unknown / counted.n <= MOST_UNJUDGED:
        return ""
    note = counted.note or "no case has a verdict in both runs"
    return f"{beside.names}: {note}, over {typed_share(MOST_UNJUDGED)}."


def _awaited(baseline: Run, run: Run) -> Finding | Later:
    failed = compare_asks.failed(baseline, run)
    if failed:
        return undecided(f"{run.name} could not be compared: {failed.problem.rstrip('.')}.", run)
    compare_asks.ask(baseline, run, None)
    return Later(ASK_AGAIN_SECONDS)


KINDS: Final[dict[str, Callable[[AlertRule, Beside], Finding]]] = {
    AlertKind.DROP: drop,
    AlertKind.REGRESSIONS: regressions,
}
