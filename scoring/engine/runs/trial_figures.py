"""A scorer's figures over cases, for runs with several trials a case."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from scoring.core.stats.trials import REDUCTIONS, CaseTrials, pass_at_k, reduce_trials
from scoring.models import RunScorer, Score, Verdict


def trial_figures(scorer: RunScorer, trials: int) -> dict[str, Any]:
    """The figures as JSON: each {n, total, squares, passed}, from which pages compute estimates.

    Keys: `trials`, `unsteady` (cases whose trials straddle the threshold), `mean`, `median`, `min`
    and `pass_at` by k, for k = 1, 2, 4 … and all trials. Empty where cases have one trial.
    """
    if trials < 2:
        return {}
    cases = _cases(scorer)
    return {
        "trials": trials,
        "unsteady": sum(case.is_unsteady for case in cases),
        **{how: reduce_trials(cases, how, scorer.threshold)._asdict() for how in REDUCTIONS},
        "pass_at": {str(k): pass_at_k(cases, k)._asdict() for k in _ks(trials)},
    }


def _cases(scorer: RunScorer) -> list[CaseTrials]:
    scores: dict[int, list[float]] = defaultdict(list)
    passed: dict[int, int] = defaultdict(int)
    scored = Score.objects.filter(scorer=scorer, score__isnull=False)
    rows: Iterator[Any] = scored.values_list("output__case", "score", "verdict").iterator()
    for case, score, verdict in rows:
        scores[case].append(score)
        passed[case] += verdict == Verdict.PASS
    return [CaseTrials(trials, passed[case]) for case, trials in scores.items()]


def _ks(trials: int) -> list[int]:
    powers = [2**power for power in range(trials.bit_length())]
    return [k for k in powers if k < trials] + [trials]
