"""The scores of runs' scorers, counted: how many pass at any threshold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from django.db.models import Count

from scoring.core.stats.score_distribution import EDGES, ScoreDistribution, count_by_step, find_step
from scoring.engine.thresholds.case_means import count_always_failing, read_case_means
from scoring.models import RunScorer, Score, ScoreHistogram

BEYOND: Final = 2.0  # above all scores


def read_distributions(
    scorers: Sequence[RunScorer], thresholds: Iterable[float] = ()
) -> dict[int, ScoreDistribution]:
    """By the ids of scorers, which have their runs and summaries joined; exact also at these
    thresholds.

    What is counted are outputs, or in a run with several trials a case, cases by their mean.
    One query for the stored counts, one for each threshold that is no thousandth, and one more if
    counts are not stored: then scores are counted. Runs with trials take queries of their own
    where they have faults, and for each such threshold.
    """
    stored = dict(ScoreHistogram.objects.filter(scorer__in=scorers).values_list("scorer", "counts"))
    tried = [scorer for scorer in scorers if scorer.run.has_trials]
    plain = [scorer for scorer in scorers if not scorer.run.has_trials]
    missing = [scorer for scorer in plain if scorer.pk not in stored]
    counts = stored | (_count_scores(missing) if missing else {})
    for scorer in tried:
        if scorer.pk not in stored:
            means = Counter(each.mean for each in read_case_means(scorer, 0, BEYOND))
            counts[scorer.pk] = count_by_step(means)
    between = {
        threshold: (_count_up_to_edge(plain, threshold) if plain else Counter())
        | Counter({scorer.pk: _count_means_up_to_edge(scorer, threshold) for scorer in tried})
        for threshold in set(thresholds) - set(EDGES)
    }
    forced = {scorer.pk: sum(scorer.summary.faults.values()) for scorer in plain}
    if faulty := [scorer for scorer in tried if scorer.summary.faults]:
        forced |= count_always_failing(faulty)
    return {
        scorer.pk: ScoreDistribution.of_counts(
            counts[scorer.pk],
            forced.get(scorer.pk, 0),
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


def _count_means_up_to_edge(scorer: RunScorer, threshold: float) -> int:
    """The cases whose mean lies from the threshold to below the next edge."""
    return len(read_case_means(scorer, threshold, EDGES[find_step(threshold) + 1]))
