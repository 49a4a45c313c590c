"""A scorer's figures over cases, where a run's outputs have several trials a case."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from django.db.models import Max

from scoring.core.trials import REDUCTIONS, CaseTrials, Reduced, pass_at_k, reduced
from scoring.models import Output, Run, RunScorer, Score, Verdict


def trial_count(run: Run) -> int:
    """How many trials a case of the run has at most."""
    outputs = Output.objects.filter(output_set=run.output_set_id)
    highest: int | None = outputs.aggregate(highest=Max("trial"))["highest"]
    return 0 if highest is None else highest + 1


def trial_figures(scorer: RunScorer, trials: int) -> dict[str, Any]:
    """The figures as JSON: each {n, total, squares, passed}, for a page to make estimates of.

    Keys: `trials`, `unsteady` (cases whose trials straddle the threshold), `mean`, `median`, `min`
    and `pass_at` by k, for k = 1, 2, 4 … and all trials. Empty where cases have one trial.
    """
    if trials < 2:
        return {}
    cases = _cases(scorer)
    return {
        "trials": trials,
        "unsteady": sum(case.is_unsteady for case in cases),
        **{how: _kept(reduced(cases, how, scorer.threshold)) for how in REDUCTIONS},
        "pass_at": {str(k): _kept(pass_at_k(cases, k)) for k in _ks(trials)},
    }


def _cases(scorer: RunScorer) -> list[CaseTrials]:
    scores: dict[int, list[float]] = defaultdict(list)
    passed: dict[int, int] = defaultdict(int)
    found = Score.objects.filter(scorer=scorer, score__isnull=False)
    rows: Iterator[Any] = found.values_list("output__case", "score", "verdict").iterator()
    for case, score, verdict in rows:
        scores[case].append(score)
        passed[case] += verdict == Verdict.PASS
    return [CaseTrials(of_case, passed[case]) for case, of_case in scores.items()]


def _ks(trials: int) -> list[int]:
    powers = [2**power for power in range(trials.bit_length())]
    return [k for k in powers if k < trials] + [trials]


def _kept(figure: Reduced) -> dict[str, Any]:
    return figure._asdict()
