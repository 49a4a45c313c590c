"""The scores of runs' scorers, counted: how many pass at any threshold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from django.db.models import Count

from scoring.core.stats.score_distribution import EDGES, ScoreDistribution, count_by_step, find_step
from scoring.models import RunScorer, Score, ScoreHistogram


def read_distributions(
    scorers: Sequence[RunScorer], thresholds: Iterable[float] = ()
) -> dict[int, ScoreDistribution]:
    """By the ids of scorers, which have their summaries joined; exact also at these thresholds.

    One query for the stored counts, one for each threshold that is no thousandth, and one more if
    counts are not stored: then scores are counted.
    """
    stored = dict(ScoreHistogram.objects.filter(scorer__in=scorers).values_list("scorer", "counts"))
    missing = [scorer for scorer in scorers if scorer.pk not in stored]
    counts = stored | (_count_scores(missing) if missing else {})
    between = {t: _count_up_to_edge(scorers, t) for t in set(thresholds) - set(EDGES)}
    return {
        scorer.pk: ScoreDistribution.of_counts(
            counts[scorer.pk],
            sum(scorer.summary.faults.values()),
            {threshold: counted[scorer.pk] for threshold, counted in between.items()},
        )
        for scorer in scorers
    }


def _count_scores(scorers: Sequence[RunScorer]) -> dict[int, list[int]]:
    """By step, as they are stored when a run is summarised."""
    scores: dict[int, dict[float, int]] = {scorer.pk: {} for scorer in scorers}
    rows = Score.objects.filter(scorer__in=list(scores), score__isnull=False).order_by()
    for scorer, score, count in rows.values_list("scorer", "score").annotate(Count("pk")):
        scores[scorer][score] = count
    return {scorer: count_by_step(counted) for scorer, counted in scores.items()}


def _count_up_to_edge(scorers: Sequence[RunScorer], threshold: float) -> Counter[int]:
    """By scorer the scores from the threshold to below the next edge."""
    edge = EDGES[find_step(threshold) + 1]
    rows = Score.objects.filter(scorer__in=scorers, score__gte=threshold, score__lt=edge).order_by()
    return Counter(dict(rows.values_list("scorer").annotate(Count("pk"))))
