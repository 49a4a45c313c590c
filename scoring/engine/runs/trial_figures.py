"""A scorer's figures over cases, for runs with several trials a case."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from scoring.core.stats.trials import (
    REDUCTIONS,
    Bounds,
    CaseTrials,
    ReducedScores,
    bound_pass_at_k,
    bound_trials,
    pass_at_k,
    reduce_scores,
    reduce_trials,
)
from scoring.models import RunScorer, Score, Status, Verdict
from scoring.models.runs.relabel import FIXED_ZERO
from scoring.models.runs.result_rows import RANK, VERDICT_OF_RANK


@dataclass
class TriedCases:
    """The cases of a run by one scorer, each with its trials; keys are ids of cases."""

    threshold: float
    cases: dict[int, CaseTrials]
    skipped: set[int] = field(default_factory=set)  # with no trial but skipped ones

    @cached_property
    def means(self) -> ReducedScores:
        """Each case as the mean of its trials."""
        return reduce_trials(self.cases.values(), "mean", self.threshold)

    def summary_fields(self) -> dict[str, Any]:
        """The columns of a RunSummary that count cases, each once by the mean of its trials."""
        means = self.means
        lost = sum(not case.scores for case in self.cases.values())
        mean = means.total / means.n if means.n else None
        variance = None
        if mean is not None and means.n > 1:
            variance = max(0.0, (means.squares - means.n * mean**2) / (means.n - 1))
        return {
            "n": means.n + lost + len(self.skipped),
            "scored": means.n,
            "errors": lost,
            "skipped": len(self.skipped),
            "passed": means.passed or 0,
            "mean": mean,
            "variance": variance,
        }

    def count_means(self) -> Counter[float]:
        """How often each mean occurs."""
        scored = (case.scores for case in self.cases.values() if case.scores)
        return Counter(reduce_scores(scores, "mean") for scores in scored)

    def verdicts(self) -> Iterator[tuple[int, tuple[Status, Verdict | None]]]:
        """What the scorer says of each case: the status and, of a scored one, the verdict."""
        for pk, case in self.cases.items():
            if not case.scores:
                yield pk, (Status.ERROR, None)
            else:
                passes = reduce_trials([case], "mean", self.threshold).passed
                yield pk, (Status.SCORED, Verdict.PASS if passes else Verdict.FAIL)
        for pk in self.skipped:
            yield pk, (Status.SKIPPED, None)

    def figures(self, trials: int) -> dict[str, Any]:
        """As JSON: each figure is {n, total, squares, passed}, from which pages make estimates.

        Keys: `trials`, how many a case has at most, `unsteady` (cases whose trials straddle the
        threshold), `mean`, `median`, `min`, and `pass_at` by k, for k = 1, 2, 4 … and all trials.
        Where trials were lost, also `lost`, the cases with such trials, `unscored`, the sum of
        their shares of lost trials where others have a score, and `bounds` by reduction and by
        "pass@k".
        """
        cases = list(self.cases.values())
        figures: dict[str, Any] = {
            "trials": trials,
            "unsteady": sum(case.is_unsteady for case in cases),
            **{how: reduce_trials(cases, how, self.threshold)._asdict() for how in REDUCTIONS},
            "pass_at": {str(k): pass_at_k(cases, k)._asdict() for k in _ks(trials)},
        }
        if lost := [case for case in cases if case.lost]:
            bounds: dict[str, Bounds | None] = {
                how: bound_trials(cases, how, self.threshold) for how in REDUCTIONS
            }
            bounds |= {f"pass@{k}": bound_pass_at_k(cases, k) for k in _ks(trials)}
            figures["lost"] = len(lost)
            figures["unscored"] = sum(case.lost_share for case in lost if case.scores)
            figures["bounds"] = {how: found._asdict() for how, found in bounds.items() if found}
        return figures


class CaseRanks:
    """How much the verdict of each case weighs over the scorers that were added."""

    def __init__(self) -> None:
        self._ranks: dict[int, int] = {}

    def add(self, tried: TriedCases) -> None:
        ranks = self._ranks
        for case, said in tried.verdicts():
            ranks[case] = max(ranks.get(case, 0), RANK[said])

    def verdict_of(self, case: int) -> Verdict:
        return VERDICT_OF_RANK[self._ranks[case]]

    def count_verdicts(self) -> Counter[Verdict]:
        return Counter(VERDICT_OF_RANK[rank] for rank in self._ranks.values())


def rank_cases(
    scorers: Iterable[RunScorer], thresholds: Mapping[str, float], cases: Collection[int]
) -> CaseRanks:
    """The verdicts of these cases over the scorers of a run, by other thresholds for some names."""
    ranks = CaseRanks()
    for scorer in scorers:
        ranks.add(read_trials(scorer, thresholds.get(scorer.name), cases))
    return ranks


def read_trials(
    scorer: RunScorer, threshold: float | None = None, cases: Collection[int] | None = None
) -> TriedCases:
    """Two passes over the scorer's rows: those with a score, and the others.

    With a `threshold` the trials pass or fail by it, instead of as stored; with `cases`, ids that
    one query can name, only these are read.
    """
    scores: dict[int, list[float]] = defaultdict(list)
    passed: dict[int, int] = defaultdict(int)
    lost: dict[int, int] = defaultdict(int)
    rows = Score.objects.filter(scorer=scorer)
    if cases is not None:
        rows = rows.filter(output__case__in=cases)
    scored: Iterator[Any] = (
        rows.filter(score__isnull=False)
        .values_list("output__case", "score", "verdict", "code")
        .iterator()
    )
    for case, score, verdict, code in scored:
        scores[case].append(score)
        if threshold is None:
            passed[case] += verdict == Verdict.PASS
        else:
            is_forced = score == FIXED_ZERO and code != ""
            passed[case] += score >= threshold and not is_forced
    skipped = set()
    unscored = rows.filter(score=None).values_list("output__case", "status")
    for case, status in unscored.iterator():
        if status == Status.ERROR:
            lost[case] += 1
        else:
            skipped.add(case)
    known = {*scores, *lost}
    tried = {case: CaseTrials(scores[case], passed[case], lost[case]) for case in known}
    by = scorer.threshold if threshold is None else threshold
    return TriedCases(by, tried, skipped - known)


def _ks(trials: int) -> list[int]:
    powers = [2**power for power in range(trials.bit_length())]
    return [k for k in powers if k < trials] + [trials]
