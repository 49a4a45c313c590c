"""A run's figures, always rebuilt from its rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import fsum
from typing import Any, Final

from django.db import transaction
from django.db.models import Count

from scoring.models import CaseVerdict, Run, RunScorer, RunSummary, Score, Status, Verdict

BINS: Final = 20


def summarise(run: Run) -> None:
    """Write a summary per scorer and the counts of case verdicts, the same however often."""
    figures = [(scorer, _figures(scorer)) for scorer in run.scorers.all()]
    counts = _verdict_counts(run)
    with transaction.atomic():
        for scorer, found in figures:
            RunSummary.objects.update_or_create(scorer=scorer, defaults=found)
        Run.objects.filter(pk=run.pk).update(**counts)
    run.refresh_from_db(fields=list(counts))


def _figures(scorer: RunScorer) -> dict[str, Any]:
    # Scores repeat a good deal, so grouping them in the database leaves little to carry over.
    groups = Score.objects.filter(scorer=scorer).values_list("status", "score", "verdict", "code")
    counted = [(*group[:-1], group[-1]) for group in groups.annotate(Count("pk")).order_by()]
    by_status: Counter[int] = Counter()
    causes: Counter[str] = Counter()
    scores: Counter[float] = Counter()
    passed = 0
    for status, score, verdict, code, count in counted:
        by_status[status] += count
        if score is None:
            causes[code] += count
        else:
            scores[score] += count
            passed += count if verdict == Verdict.PASS else 0
    mean, variance = moments(scores)
    return {
        "n": sum(by_status.values()),
        "scored": by_status[Status.SCORED],
        "errors": by_status[Status.ERROR],
        "skipped": by_status[Status.SKIPPED],
        "passed": passed,
        "mean": mean,
        "variance": variance,
        "histogram": histogram(scores),
        "causes": dict(causes),
    }


def moments(scores: Counter[float]) -> tuple[float | None, float | None]:
    """Mean and sample variance of counted values; None where there are too few for it."""
    n = scores.total()
    if not n:
        return None, None
    mean = fsum(score * count for score, count in scores.items()) / n
    if n == 1:
        return mean, None
    squares = fsum((score - mean) ** 2 * count for score, count in scores.items())
    return mean, squares / (n - 1)


def histogram(scores: Counter[float]) -> Sequence[int]:
    """Counts in BINS equal bins of 0..1; each holds its lower edge, the last one also 1."""
    bins = [0] * BINS
    for score, count in scores.items():
        bins[min(int(score * BINS), BINS - 1)] += count
    return bins


def _verdict_counts(run: Run) -> dict[str, int]:
    verdicts = CaseVerdict.objects.filter(run=run).values_list("verdict", "missing_expected")
    counts = dict.fromkeys((f"{verdict.label}_count" for verdict in Verdict), 0)
    missing = 0
    for verdict, is_missing, count in verdicts.annotate(Count("pk")).order_by():
        counts[f"{Verdict(verdict).label}_count"] += count
        missing += count if is_missing else 0
    return {**counts, "missing_expected_count": missing}
