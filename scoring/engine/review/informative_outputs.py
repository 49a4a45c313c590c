"""Which outputs of a run are worth a person's look, the most informative first, and why.

An output has the first reason that holds, in the order of `TaskReason`. Scores of exactly 0 and 1
are never near a threshold: they are the two answers of a scorer that knows no others.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

from django.db.models import Exists, OuterRef, QuerySet

from scoring.engine.runs.neighbours import run_baseline
from scoring.models import CaseVerdict, Review, Run, RunScorer, Score, TaskReason, Verdict
from scoring.models.case_list.change_filter import ChangeFilter
from scoring.models.case_list.filters import CaseFilters
from scoring.models.case_list.selection import Selection
from scoring.models.pairs.rows import PairKind

NEAR_THRESHOLD: Final = 0.05  # of the threshold, on both sides
_ROUNDING: Final = 1e-9
_OPEN: Final = (TaskReason.UNSEEN, TaskReason.REVIEWED)  # reasons that say nothing of scores


class Candidate(NamedTuple):
    """An output to review. `detail` says more of the reason, such as the score."""

    output: int
    reason: TaskReason
    detail: str = ""


def most_informative(
    run: Run, filters: CaseFilters, count: int, blind: frozenset[int] = frozenset()
) -> list[Candidate]:
    """At most `count` outputs of the run that pass the filters, the most informative first.

    `blind` outputs have no reason that tells anything of their scores, and no place by it.
    """
    allowed = None if not filters.parts else set(selected_outputs(run, filters, blind))
    told = (each for each in _ranked(run) if each.reason in _OPEN or each.output not in blind)
    return list(islice(_distinct(told, allowed), count))


def selected_outputs(
    run: Run, filters: CaseFilters, blind: frozenset[int] = frozenset()
) -> QuerySet[CaseVerdict, int]:
    """The ids of the run's outputs that pass the filters, in the order of the cases.

    Filters that tell verdicts leave out the `blind` ones.
    """
    without = blind if filters.tells_verdicts else frozenset[int]()
    selection = Selection(run, filters, without=without)
    verdicts = selection.of_verdicts().order_by("position", "trial")
    outputs: QuerySet[CaseVerdict, int] = verdicts.values_list("output", flat=True)
    return outputs


def _distinct(candidates: Iterator[Candidate], allowed: set[int] | None) -> Iterator[Candidate]:
    seen: set[int] = set()
    for candidate in candidates:
        if candidate.output not in seen and (allowed is None or candidate.output in allowed):
            seen.add(candidate.output)
            yield candidate


def _ranked(run: Run) -> Iterator[Candidate]:
    """Candidates for every reason in turn; an output may come more than once."""
    scorers = list(run.frozen_scorers)
    yield from _near_threshold(scorers)
    if len(scorers) > 1:
        yield from _disagreeing(run, scorers)
    yield from _flipped(run)
    yield from _wavering(scorers)
    rows = CaseVerdict.objects.filter(run=run).order_by("position", "trial")
    is_reviewed = Exists(Review.objects.filter(output=OuterRef("output")))
    for reason, part in (
        (TaskReason.UNSEEN, rows.exclude(is_reviewed)),
        (TaskReason.REVIEWED, rows.filter(is_reviewed)),
    ):
        for output in part.values_list("output", flat=True).iterator():
            yield Candidate(output, reason)


def _near_threshold(scorers: list[RunScorer]) -> Iterator[Candidate]:
    """The closest first, over all scorers."""
    found: list[tuple[float, int, str]] = []
    for scorer in scorers:
        low, high = (
            scorer.threshold - NEAR_THRESHOLD - _ROUNDING,
            scorer.threshold + NEAR_THRESHOLD + _ROUNDING,
        )
        near = Score.objects.filter(scorer=scorer, score__gte=low, score__lte=high)
        for output, score in near.filter(score__gt=0, score__lt=1).values_list("output", "score"):
            detail = f"{scorer.name} {score:.4g}, threshold {scorer.threshold:g}"
            found.append((round(abs((score or 0) - scorer.threshold), 9), output, detail))
    for _, output, detail in sorted(found):
        yield Candidate(output, TaskReason.NEAR_THRESHOLD, detail[:200])


def _disagreeing(run: Run, scorers: list[RunScorer]) -> Iterator[Candidate]:
    """Those that one scorer passes and another fails: the case fails, but not by every scorer."""
    passed = Score.objects.filter(
        scorer__in=scorers, output=OuterRef("output"), verdict=Verdict.PASS
    )
    failed = CaseVerdict.objects.filter(run=run, verdict=Verdict.FAIL)
    rows = failed.filter(Exists(passed)).order_by("position", "trial")
    for output in rows.values_list("output", flat=True).iterator():
        yield Candidate(output, TaskReason.DISAGREEING)


def _flipped(run: Run) -> Iterator[Candidate]:
    """Those that broke since the baseline, then those that were fixed."""
    baseline = run_baseline(run)
    if baseline is None:
        return
    for kind in (PairKind.BROKE, PairKind.FIXED):
        filters = CaseFilters(change=ChangeFilter(kind, baseline, is_compared=False))
        detail = f"{kind.label} since {baseline.name}"[:200]
        for output in selected_outputs(run, filters).iterator():
            yield Candidate(output, TaskReason.FLIPPED, detail)


def _wavering(scorers: list[RunScorer]) -> Iterator[Candidate]:
    """Those to which a judge that was asked several times gave different answers."""
    for scorer in scorers:
        if scorer.version.config.get("samples", 1) < 2:
            continue
        rows = Score.objects.filter(scorer=scorer, score__isnull=False).order_by("output")
        for output, text in rows.values_list("output", "metadata_json").iterator():
            samples = {json.dumps(each) for each in json.loads(text).get("samples", ())}
            if len(samples) > 1:
                answers = ", ".join(sorted(samples))
                yield Candidate(output, TaskReason.WAVERING, f"{scorer.name}: {answers}"[:200])
