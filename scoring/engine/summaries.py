"""A run's figures, always rebuilt from its rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import fsum
from typing import Any, Final

from django.db import transaction
from django.db.models import Count, Sum

from scoring.core.stats import percentiles
from scoring.engine.confusion import classes_of
from scoring.engine.needs import families_of
from scoring.engine.trials import trial_count, trial_figures
from scoring.models import (
    CallPurpose,
    CaseVerdict,
    ModelCall,
    Output,
    Run,
    RunScorer,
    RunSummary,
    Score,
    Status,
    Verdict,
)

BINS: Final = 20
PERCENTILES: Final = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99}


def summarise(run: Run) -> None:
    """Write a summary per scorer, the counts of case verdicts and the cost, the same each time."""
    trials = trial_count(run)
    figures = [
        (scorer, {**_figures(scorer), "trials": trial_figures(scorer, trials)})
        for scorer in run.scorers.select_related("version")
    ]
    counts = {
        **_verdict_counts(run),
        **_spent(run),
        "latencies_ms": _latencies_ms(run),
        **_judge_figures(run),
    }
    with transaction.atomic():
        for scorer, found in figures:
            RunSummary.objects.update_or_create(scorer=scorer, defaults=found)
        Run.objects.filter(pk=run.pk).update(**counts)
    run.refresh_from_db(fields=list(counts))


def _figures(scorer: RunScorer) -> dict[str, Any]:
    scored, failed = _counted_scores(scorer)
    by_status: Counter[int] = Counter()
    causes: Counter[str] = Counter()
    error_causes: Counter[str] = Counter()
    # Without a score: an error or a skip. The index on scorer and score finds both kinds.
    rest = Score.objects.filter(scorer=scorer, score=None).values_list("status", "code")
    for status, code, count in rest.annotate(Count("pk")).order_by():
        by_status[status] += count
        causes[code] += count
        error_causes[code] += count * (status == Status.ERROR)
    mean, variance = moments(scored)
    return {
        "n": scored.total() + by_status.total(),
        "scored": scored.total(),
        "errors": by_status[Status.ERROR],
        "skipped": by_status[Status.SKIPPED],
        "passed": scored.total() - failed,
        "mean": mean,
        "variance": variance,
        "histogram": histogram(scored),
        "causes": dict(causes),
        "error_causes": dict(+error_causes),
        "classes": classes_of(scorer),
    }


def _counted_scores(scorer: RunScorer) -> tuple[Counter[float], int]:
    """How often each score occurs, and how many of them failed (that verdict is 1).

    Grouped by the score alone, which the index has in order: three times faster than sorting.
    """
    scored = Score.objects.filter(scorer=scorer, score__isnull=False).values_list("score")
    groups = scored.annotate(Count("pk"), failed=Sum("verdict")).order_by()
    counts: Counter[float] = Counter()
    failures = 0
    for score, count, failed in groups:
        counts[score] = count
        failures += failed
    return counts, failures


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
    cases = CaseVerdict.objects.filter(run=run)
    counts = dict.fromkeys((f"{verdict.label}_count" for verdict in Verdict), 0)
    for verdict, count in cases.values_list("verdict").annotate(Count("pk")).order_by():
        counts[f"{Verdict(verdict).label}_count"] = count
    # A case that lacks what a scorer needs has failed: only the failed ones are looked at.
    missing = cases.filter(verdict=Verdict.FAIL, missing_expected=True).count()
    return {**counts, "missing_expected_count": missing}


def _spent(run: Run) -> dict[str, float | None]:
    """Cost and tokens of the outputs, as far as known; None where nothing is."""
    outputs = Output.objects.filter(output_set=run.output_set_id)
    return outputs.aggregate(
        cost_usd=Sum("cost_usd"),
        output_tokens_in=Sum("tokens_in"),
        output_tokens_out=Sum("tokens_out"),
    )


def _latencies_ms(run: Run) -> dict[str, float]:
    """Percentiles of how long the outputs took, by name; empty where no latency is known."""
    outputs = Output.objects.filter(output_set=run.output_set_id, latency_ms__isnull=False)
    latencies: Iterator[Any] = outputs.values_list("latency_ms", flat=True).iterator()
    found = percentiles(latencies, list(PERCENTILES.values()))
    return dict(zip(PERCENTILES, found, strict=True)) if found else {}


def _judge_figures(run: Run) -> dict[str, Any]:
    """What the run has paid its judges, retries included; None where it has none."""
    calls = ModelCall.objects.paid_by(run).filter(purpose=CallPurpose.JUDGE)
    figures = calls.aggregate(
        judge_calls=Count("pk"),
        judge_tokens_in=Sum("tokens_in"),
        judge_tokens_out=Sum("tokens_out"),
        judge_cost_usd=Sum("cost_usd"),
    )
    if not figures["judge_calls"] and "llm" not in families_of(run):
        figures["judge_calls"] = None
    return figures
