"""Comparisons of two runs: computed once, stored, and computed again after a run is rescored."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction
from django.db.models import QuerySet

from scoring.engine.compare.claims import correct_claims
from scoring.engine.compare.columns import match_cases, tag_columns
from scoring.engine.compare.figures import SHAPE, Figures
from scoring.engine.compare.pair_index import (
    build_pair_index,
    count_pairs,
    count_unjudged,
    count_unpaired,
)
from scoring.engine.compare.scores import compare_scorer, compare_slices, scorer_pairs
from scoring.engine.compare.stages import comparison_stages
from scoring.engine.compare.verdict_changes import compare_verdicts, gate_figures
from scoring.engine.compare.warnings import comparison_warnings
from scoring.engine.jobs.progress import ReportProgress, StageProgress, ignore_progress
from scoring.models import Comparison, Run
from scoring.models.pairs.pair_index import PairIndex
from scoring.models.pairs.pairs import Pairs
from scoring.models.prepared_query import prepared_query


class NotComparableError(Exception):
    """Why two runs cannot be compared, and what to do. `code` is stable."""

    def __init__(self, code: str, text: str, run: Run) -> None:
        super().__init__(text)
        self.code, self.text, self.run = code, text, run


def check_comparable(baseline: Run, candidate: Run) -> None:
    """Raises NotComparableError unless both runs are over one dataset and have ended."""
    if baseline.output_set.version.dataset_id != candidate.output_set.version.dataset_id:
        datasets = [run.output_set.version.dataset for run in (baseline, candidate)]
        text = f"The runs are over different datasets, {datasets[0]} and {datasets[1]}"
        advice = "choose two runs of the same dataset."
        raise NotComparableError("different_datasets", f"{text}: {advice}", candidate)
    for run in (baseline, candidate):
        if run.is_unfinished:
            text = f"The run {run.name} is {run.state}: wait until it has finished."
            raise NotComparableError("run_unfinished", text, run)


def stored_comparison(baseline: Run, candidate: Run) -> Comparison | None:
    """The stored comparison, unless it is out of date."""
    return stored_comparisons(baseline, [candidate]).get(candidate.pk)


def stored_comparisons(baseline: Run, candidates: Sequence[Run]) -> dict[int, Comparison]:
    """The stored comparisons that are up to date, by the candidate's id; one query."""
    rows = _current_comparisons(baseline.pk, [candidate.pk for candidate in candidates])
    stored = {row.candidate_id: row for row in rows if row.figures.get("shape") == SHAPE}
    runs = {candidate.pk: candidate for candidate in candidates}
    for pk, row in stored.items():
        row.baseline, row.candidate = baseline, runs[pk]
    return stored


@prepared_query
def _current_comparisons(baseline: int, candidates: Sequence[int]) -> QuerySet[Comparison]:
    comparisons = Comparison.objects.current()
    return comparisons.filter(baseline=baseline, candidate__pk__in=candidates)


def compare_runs(
    baseline: Run, candidate: Run, tell: ReportProgress = ignore_progress
) -> Comparison:
    """The stored comparison, else a new one, which is stored. Raises NotComparableError.

    `tell` is called with the progress at most twice a second.
    """
    check_comparable(baseline, candidate)
    return stored_comparison(baseline, candidate) or _store_comparison(baseline, candidate, tell)


def compute_figures(baseline: Run, candidate: Run) -> Figures:
    """The figures of the two runs, computed anew and not stored."""
    (figures,) = correct_claims([_compute(baseline, candidate, ignore_progress)[0]])
    return figures


def _compute(
    baseline: Run, candidate: Run, tell: ReportProgress
) -> tuple[Figures, list[PairIndex]]:
    """The figures with uncorrected claims, and index rows that belong to no comparison yet."""
    pairs, scorers = Pairs(baseline, candidate), scorer_pairs(baseline, candidate)
    stages = StageProgress(comparison_stages(pairs, [scorer.name for scorer in scorers]), tell)
    columns = match_cases(pairs, stages.begin(candidate.output_set.version.case_count))
    count = len(columns.positions)
    stages.begin()
    tags, counts = tag_columns(candidate), count_pairs(pairs, columns)
    # One scorer at a time, so that the scores of one are held in memory and not those of all.
    scores = [compare_scorer(scorer, columns, tags, stages.begin(count)) for scorer in scorers]
    stages.begin()
    flips = compare_verdicts(columns)
    figures = Figures(
        **counts._asdict(),
        unjudged=count_unjudged(columns),
        p=flips.p,
        has_one_scorer=len(scorers) == baseline.scorers.count() == candidate.scorers.count() == 1,
        scorers=tuple(scorer.figures for scorer in scores),
        slices=tuple(compare_slices(scores)),
        warnings=tuple(comparison_warnings(pairs, scorers, counts.edited)),
        gate=gate_figures(columns, flips, count_unpaired(baseline, candidate, counts)),
    )
    return figures, list(build_pair_index(pairs, columns, counts, scores))


def _store_comparison(
    baseline: Run, candidate: Run, tell: ReportProgress = ignore_progress
) -> Comparison:
    finished = {
        "baseline_finished_at": baseline.finished_at,
        "candidate_finished_at": candidate.finished_at,
    }
    figures, index = _compute(baseline, candidate, tell)
    with transaction.atomic():
        comparison, _ = Comparison.objects.update_or_create(
            baseline=baseline,
            candidate=candidate,
            defaults={**finished, "figures": figures.as_json()},
        )
        PairIndex.objects.filter(comparison=comparison).delete()
        for row in index:
            row.comparison = comparison
        PairIndex.objects.bulk_create(index)
    return comparison
