"""The worst cases of a run, with their texts and the explanations of their scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple

from django.db.models import F, OuterRef, Subquery, Sum
from django.db.models.functions import Greatest

from scoring.core.contract import Case as ScoredCase
from scoring.core.explain.explanation import Explanation, explain
from scoring.engine.reports.case_texts import CaseReport, read_cases
from scoring.models import CaseVerdict, Run, RunScorer, Score, Verdict

MAX_CASES: Final = 200  # cases of a report, unless another number is asked for
LEAVES: Final = 12  # of a JSON value, those that lost the most credit
BAD: Final = (Verdict.FAIL, Verdict.ERROR)
_UNSEEN: Final = ScoredCase(None)


class ScoreReason(NamedTuple):
    """One scorer's answer, explained; `lost_count` leaves of a JSON value lost credit."""

    scorer: RunScorer
    score: Score
    explanation: Explanation
    lost_count: int


@dataclass(frozen=True)
class WorstCase:
    """A case that failed or could not be scored. `scores` has the scorers' answers in order."""

    verdict: str
    read: CaseReport
    scores: Sequence[tuple[RunScorer, Score | None]]

    @cached_property
    def why(self) -> list[ScoreReason]:
        return [self._why(scorer, score) for scorer, score in self.scores if score]

    def _why(self, scorer: RunScorer, score: Score) -> ScoreReason:
        explanation = _explain(scorer, score, self.read.scored)
        if (
            self.read.output_text is None
        ):  # the error is shown with the output, once for all scorers
            explanation = explanation._replace(found=())
        leaves = sorted(explanation.leaves, key=lambda leaf: leaf.credit)
        lost = [leaf for leaf in leaves if leaf.credit < 1]
        return ScoreReason(
            scorer, score, explanation._replace(leaves=tuple(lost[:LEAVES])), len(lost)
        )


def worst_cases(
    run: Run,
    scorers: Sequence[RunScorer],
    most: int = MAX_CASES,
    without: frozenset[int] = frozenset(),
) -> Iterator[WorstCase]:
    """Failed cases by how far their scores are below their thresholds in sum, then errors.

    The outputs `without` are left out. Three queries, whatever their number.
    """
    verdicts = dict(_worst(run, scorers, most, without))
    texts = read_cases(verdicts)
    rows = Score.objects.filter(scorer__in=scorers, output__in=list(verdicts))
    scores = {(score.scorer_id, score.output_id): score for score in rows}
    for output, verdict in verdicts.items():
        answers = [(scorer, scores.get((scorer.pk, output))) for scorer in scorers]
        yield WorstCase(Verdict(verdict).label, texts[output], answers)


def _worst(
    run: Run, scorers: Sequence[RunScorer], most: int, without: frozenset[int]
) -> Iterable[tuple[int, int]]:
    """Output ids with their verdicts."""
    missing = Greatest(F("scorer__threshold") - F("score"), 0.0)
    own = Score.objects.filter(scorer__in=scorers, output=OuterRef("output"), score__isnull=False)
    sums: Any = own.order_by().values("output").annotate(sum=Sum(missing)).values("sum")
    bad = CaseVerdict.objects.filter(run=run, verdict__in=BAD).annotate(missing=Subquery(sums))
    falling = F("missing").desc(nulls_last=True)
    if without:
        bad = bad.exclude(output__in=without)
    rows = bad.order_by("verdict", falling, "position", "trial")
    return rows.values_list("output", "verdict")[:most]


def _explain(scorer: RunScorer, score: Score, case: ScoredCase | None) -> Explanation:
    """Only from what is stored for a case whose texts were not read whole."""
    version = scorer.version
    if case is None:
        return explain("", {}, scorer.threshold, _UNSEEN, score.result)
    return explain(version.type, version.config, scorer.threshold, case, score.result)
