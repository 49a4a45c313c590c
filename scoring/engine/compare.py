"""Two runs compared: worked out once, kept, and worked out again when a run was scored again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID

from django.db import transaction

from scoring.core.paired import holm
from scoring.core.sentences import Finding, scorer_sentence, whole_sentence
from scoring.engine.compare_columns import matched, tags_of
from scoring.engine.compare_places import counts_of, places_of, unjudged_of
from scoring.engine.compare_progress import stages_of
from scoring.engine.compare_scores import (
    OneScorer,
    TwoScorers,
    scored_by,
    scorers_of,
    slices_of,
    verdict_flips,
)
from scoring.engine.compare_warnings import warnings_of
from scoring.engine.figures import SHAPE, Figures, FlipFigures, ScorerFigures
from scoring.engine.probe import ErrandProblem
from scoring.engine.stages import Stages, Tell, untold
from scoring.models import Comparison, Errand, JudgeNoise, Run
from scoring.models.pair_places import PairPlaces
from scoring.models.pairs import Pairs


class NotComparableError(Exception):
    """Why two runs cannot be compared, and what to do. `code` is stable."""

    def __init__(self, code: str, text: str, run: Run) -> None:
        super().__init__(text)
        self.code, self.text, self.run = code, text, run


def check(baseline: Run, candidate: Run) -> None:
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


def kept(baseline: Run, candidate: Run) -> Comparison | None:
    """The comparison as it is kept, if it still holds."""
    return kept_among(baseline, [candidate]).get(candidate.pk)


def kept_among(baseline: Run, candidates: Sequence[Run]) -> dict[int, Comparison]:
    """The comparisons of these candidates that still hold, by the candidate's id; one query."""
    rows = Comparison.objects.select_related("baseline", "candidate")
    found = rows.filter(baseline=baseline, candidate__in=candidates)
    return {row.candidate_id: row for row in found if _holds(row)}


def compared(baseline: Run, candidate: Run, tell: Tell = untold) -> Comparison:
    """The comparison, worked out now unless it is kept. Raises NotComparableError.

    `tell` is called with how far it is, now and then.
    """
    check(baseline, candidate)
    return kept(baseline, candidate) or _kept_now(baseline, candidate, tell)


def done_errand(errand: Errand) -> dict[str, Any]:
    """The errand's way to it: from {baseline, candidate}, two uuids, to {}.

    Until then its answer is how far it is, the fields of `Progress`.
    """
    runs = {
        side: Run.objects.filter(team=errand.team, uuid=UUID(errand.request[side]))
        .select_related("output_set__version__dataset")
        .first()
        for side in ("baseline", "candidate")
    }
    baseline, candidate = runs["baseline"], runs["candidate"]
    if baseline is None or candidate is None:
        raise ErrandProblem("one of the runs is no longer there")
    try:
        compared(baseline, candidate, lambda progress: errand.tell(progress._asdict()))
    except NotComparableError as fault:
        raise ErrandProblem(fault.text) from None
    return {}


def figures_of(baseline: Run, candidate: Run) -> Figures:
    """Everything there is to say of the two runs."""
    return _worked_out(baseline, candidate, untold).figures


class _WorkedOut(NamedTuple):
    figures: Figures
    places: list[PairPlaces]  # of no comparison yet


def _worked_out(baseline: Run, candidate: Run, tell: Tell) -> _WorkedOut:
    pairs, both = Pairs(baseline, candidate), scorers_of(baseline, candidate)
    stages = Stages(stages_of(pairs, [each.name for each in both]), tell)
    columns = matched(pairs, stages.begin(candidate.output_set.version.case_count))
    count = len(columns.positions)
    stages.begin()
    tags, counts = tags_of(candidate), counts_of(pairs, columns)
    scores = [scored_by(each, columns, tags, stages.begin(count)) for each in both]
    stages.begin()
    scorers, findings = _scorers(scores)
    _, p = verdict_flips(columns)
    figures = Figures(
        **counts._asdict(),
        p=p,
        scorers=tuple(scorers),
        slices=tuple(slices_of(scores)),
        warnings=tuple(warnings_of(pairs, both, counts.edited)),
        sentence=whole_sentence(
            counts.pairs, counts.broke, counts.fixed, p, findings, unjudged_of(columns)
        ),
    )
    return _WorkedOut(figures, list(places_of(pairs, columns, counts, scores)))


def _holds(row: Comparison) -> bool:
    return row.is_current and row.figures.get("shape") == SHAPE


def _kept_now(baseline: Run, candidate: Run, tell: Tell = untold) -> Comparison:
    finished = {
        "baseline_finished_at": baseline.finished_at,
        "candidate_finished_at": candidate.finished_at,
    }
    figures, places = _worked_out(baseline, candidate, tell)
    with transaction.atomic():
        found, _ = Comparison.objects.update_or_create(
            baseline=baseline,
            candidate=candidate,
            defaults={**finished, "figures": figures.as_json()},
        )
        PairPlaces.objects.filter(comparison=found).delete()
        for each in places:
            each.comparison = found
        PairPlaces.objects.bulk_create(places)
    return found


def _scorers(scores: Sequence[OneScorer]) -> tuple[list[ScorerFigures], list[Finding]]:
    flips = [each.flips for each in scores]
    tested = [each.difference.p for each in scores]
    corrected = _corrected(tested)
    of_flips = _corrected([p for _, p in flips])
    findings = [
        _finding(each, p, len([p for p in tested if p is not None]))
        for each, p in zip(scores, corrected, strict=True)
    ]
    figures = [
        _figures(each, finding, FlipFigures(*counted[:3], p, p_corrected))
        for each, finding, (counted, p), p_corrected in zip(
            scores, findings, flips, of_flips, strict=True
        )
    ]
    return figures, findings


def _corrected(ps: Sequence[float | None]) -> list[float | None]:
    """Holm's correction over those that were tested."""
    corrected = iter(holm([p for p in ps if p is not None]))
    return [None if p is None else next(corrected) for p in ps]


def _finding(scores: OneScorer, p: float | None, tests: int) -> Finding:
    return Finding(
        scores.scorers.name,
        scores.difference,
        p,
        tests,
        improved=scores.improved,
        regressed=scores.regressed,
        noise=_noise(scores.scorers, scores.difference.n),
    )


def _noise(scorers: TwoScorers, n: int) -> float | None:
    """Of the version that scored both runs; two versions differ by more than noise."""
    if not scorers.is_same_version:
        return None
    checked = JudgeNoise.objects.latest_for(scorers.after.version)
    return checked.band_for(n) if checked else None


def _figures(scores: OneScorer, found: Finding, flips: FlipFigures) -> ScorerFigures:
    of, scorers = found.difference, scores.scorers
    return ScorerFigures(
        name=found.name,
        versions=(scorers.before.version.number, scorers.after.version.number),
        thresholds=(scorers.before.threshold, scorers.after.threshold),
        n=of.n,
        means=scores.means,
        delta=of.mean,
        interval=of.interval,
        p=of.p,
        p_corrected=found.p,
        detectable=of.detectable,
        method=of.method,
        improved=found.improved,
        regressed=found.regressed,
        flips=flips,
        noise=found.noise,
        histogram=scores.histogram,
        scatter=scores.scatter,
        sentence=scorer_sentence(found),
    )
