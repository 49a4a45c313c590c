"""Labelling runs by their suite's present thresholds, without scoring them again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Prefetch, Q

from scoring.engine.runs.trial_figures import CaseRanks, read_trials
from scoring.models import (
    AuditEntry,
    Relabel,
    Run,
    RunScorer,
    RunState,
    Score,
    Status,
    Suite,
    SuiteEntry,
    User,
    Verdict,
)

RUNS: Final = 10  # of a suite, the last ones


class NothingToRelabelError(Exception):
    """The labels would be those that the run has; the text says so to people."""


class RelabelledRuns(NamedTuple):
    """How many runs got other labels, and of how many the later labels were removed."""

    relabelled: int
    removed: int


def find_new_thresholds(run: Run) -> dict[str, float]:
    """The suite's present thresholds that differ from the run's, by the scorer's name in the run.

    Empty without a suite.
    """
    entries = SuiteEntry.objects.filter(suite=run.suite_id, suite__isnull=False)
    current = dict(entries.values_list("scorer", "threshold"))
    return _differing_thresholds(run.scorers.select_related("version"), current)


def needs_relabel(run: Run) -> bool:
    """Whether the suite's present thresholds give the run other labels than it has."""
    return find_new_thresholds(run) != _thresholds_of(Relabel.objects.latest_of(run))


def find_runs_to_relabel(suite: Suite, most: int = RUNS) -> list[Run]:
    """Those of the suite's last finished runs that its present thresholds label otherwise.

    The newest first, with their team joined; four queries.
    """
    current = dict(SuiteEntry.objects.filter(suite=suite).values_list("scorer", "threshold"))
    scorers = Prefetch("scorers", RunScorer.objects.select_related("version"))
    runs = Run.objects.filter(suite=suite, state=RunState.FINISHED).select_related("team")
    last = list(runs.prefetch_related(scorers).order_by("-pk")[:most])
    relabels = Relabel.objects.of_runs(last)
    return [
        run
        for run in last
        if _differing_thresholds(run.scorers.all(), current) != _thresholds_of(relabels.get(run.pk))
    ]


def relabel_runs(
    runs: Sequence[Run],
    *,
    by: User | None,
    report: Callable[[int], object] = lambda _done: None,
) -> RelabelledRuns:
    """Label each of the runs by its suite's present thresholds; audited.

    Where these are those of the run again, its later labels are removed. Runs whose labels would
    not change are left as they are. `report` is told how many runs are done.
    """
    relabelled = removed = 0
    for done, run in enumerate(runs, 1):
        if find_new_thresholds(run):
            try:
                relabel_run(run, by=by)
                relabelled += 1
            except NothingToRelabelError:
                pass
        elif remove_labels(run, by=by):
            removed += 1
        report(done)
    return RelabelledRuns(relabelled, removed)


def relabel_run(run: Run, *, by: User | None) -> Relabel:
    """Label a finished run by the thresholds that its suite has now; audited.

    Raises NothingToRelabelError where it is not finished, or its labels would not change.
    """
    with transaction.atomic():
        if Run.objects.select_for_update().get(pk=run.pk).state != RunState.FINISHED:
            raise NothingToRelabelError("Only a finished run can be re-labelled.")
        thresholds, latest = find_new_thresholds(run), Relabel.objects.latest_of(run)
        if thresholds == _thresholds_of(latest):
            raise NothingToRelabelError("The suite has no other thresholds than these labels.")
        if not thresholds:
            raise NothingToRelabelError(
                "The suite has the thresholds of the run again: remove the labels."
            )
        relabel = Relabel.objects.create(
            run=run, thresholds=thresholds, created_by=by, **_count_labels(run, thresholds)
        )
        old = {"thresholds": _thresholds_of(latest)}
        new = {"thresholds": thresholds}
        AuditEntry.objects.record(run.team, by, "run.relabelled", run, old=old, new=new)
    return relabel


def recount_labels(runs: Iterable[Run]) -> None:
    """Count the later labels of runs anew that have ended again, as after errors were retried."""
    for relabel in Relabel.objects.of_runs(runs).values():
        counts = _count_labels(relabel.run, relabel.thresholds)
        Relabel.objects.filter(pk=relabel.pk).update(**counts)


def remove_labels(run: Run, *, by: User | None) -> bool:
    """Remove all later labels of a run; audited. False where it has none."""
    with transaction.atomic():
        latest = Relabel.objects.latest_of(run)
        if latest is None:
            return False
        Relabel.objects.filter(run=run).delete()
        old = {"thresholds": latest.thresholds}
        AuditEntry.objects.record(run.team, by, "run.labels_removed", run, old=old, new={})
    return True


def _differing_thresholds(
    scorers: Iterable[RunScorer], current: Mapping[int, float]
) -> dict[str, float]:
    return {
        scorer.name: current[scorer.version.scorer_id]
        for scorer in scorers
        if current.get(scorer.version.scorer_id, scorer.threshold) != scorer.threshold
    }


def _thresholds_of(relabel: Relabel | None) -> dict[str, float]:
    return relabel.thresholds if relabel else {}


def _count_labels(run: Run, thresholds: Mapping[str, float]) -> dict[str, Any]:
    """How many cases pass by each new threshold, and the counts of case verdicts."""
    scorers = list(run.scorers.with_summary())
    if any(scorer.summary.trials for scorer in scorers):
        return _count_tried_cases(scorers, thresholds)
    fails = Q()
    for scorer in scorers:
        fails |= _fails_by(scorer, thresholds.get(scorer.name))
    rows = Score.objects.filter(scorer__in=scorers).order_by()
    failed = rows.filter(fails).aggregate(n=Count("output", distinct=True))["n"]
    counts = {name: count or 0 for name, count in run.verdict_counts.items()}
    total, skipped = sum(counts.values()), counts["skipped"]
    also_fails = Score.objects.filter(fails, scorer__in=scorers, output=OuterRef("output"))
    errors = rows.filter(~Exists(also_fails), status=Status.ERROR)
    error_count = errors.aggregate(n=Count("output", distinct=True))["n"]
    passed = {
        scorer.name: rows.filter(scorer=scorer, status=Status.SCORED)
        .exclude(_fails_by(scorer, thresholds[scorer.name]))
        .count()
        for scorer in scorers
        if scorer.name in thresholds
    }
    return {
        "passed": passed,
        "pass_count": total - failed - error_count - skipped,
        "fail_count": failed,
        "error_count": error_count,
        "skipped_count": skipped,
    }


def _count_tried_cases(
    scorers: Sequence[RunScorer], thresholds: Mapping[str, float]
) -> dict[str, Any]:
    """The same where cases have several trials, of which the mean score counts."""
    ranks, passed = CaseRanks(), {}
    for scorer in scorers:
        threshold = thresholds.get(scorer.name)
        tried = read_trials(scorer, threshold)
        ranks.add(tried)
        if threshold is not None:
            passed[scorer.name] = tried.means.passed or 0
    counts = ranks.count_verdicts()
    return {"passed": passed, **{f"{each.label}_count": counts[each] for each in Verdict}}


def _fails_by(scorer: RunScorer, threshold: float | None) -> Q:
    """The scores that fail by a new threshold, or as stored without one."""
    if threshold is None:
        return Q(scorer=scorer, verdict=Verdict.FAIL)
    is_forced = Q(score=0) & ~Q(code="")
    return Q(scorer=scorer) & (Q(score__lt=threshold) | is_forced)
