"""What scorers say of single cases by all their trials, for the few that a page or a gate asks for.

A case is named by the output of one of its trials.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from typing import Final, NamedTuple

from scoring.core.stats.trials import CaseTrials, reduce_trials
from scoring.models.runs.run import Output, Run
from scoring.models.runs.score import Score, Status, Verdict

_ORDER: Final = ("scorer__position", "scorer", "output")


class ScorerVerdict(NamedTuple):
    """What a scorer of a run, by its id, says of the case of an output."""

    output: int
    scorer: int
    verdict: Verdict


def find_trials(run: Run, outputs: Collection[int]) -> dict[int, int]:
    """The run's outputs for the cases of these, each with the one that names its case.

    No query where cases have one trial.
    """
    if not run.has_trials:
        return {output: output for output in outputs}
    named = dict(Output.objects.filter(pk__in=outputs).values_list("case", "pk"))
    trials = Output.objects.filter(output_set=run.output_set_id, case__in=named)
    return {pk: named[case] for pk, case in trials.values_list("pk", "case")}


def read_scorer_verdicts(run: Run, outputs: Collection[int]) -> Iterator[ScorerVerdict]:
    """By each scorer's stored verdicts, of several trials by their mean; cases without a score are
    left out. In the order of the run's scorers, and then of the outputs.
    """
    named_by = find_trials(run, outputs)
    # Without the status, SQLite would walk the index over all of a run's scores.
    rows = Score.objects.filter(
        scorer__run=run, output__in=list(named_by), status=Status.SCORED
    ).values_list("scorer", "scorer__threshold", "output", "score", "verdict")
    cases: dict[tuple[int, float, int], list[tuple[float, int | None]]] = defaultdict(list)
    for scorer, threshold, output, score, verdict in rows.order_by(*_ORDER):
        cases[scorer, threshold, named_by[output]].append((score or 0.0, verdict))
    for (scorer, threshold, output), given in cases.items():
        passed = sum(verdict == Verdict.PASS for _, verdict in given)
        case = CaseTrials([score for score, _ in given], passed)
        passes = reduce_trials([case], "mean", threshold).passed
        yield ScorerVerdict(output, scorer, Verdict.PASS if passes else Verdict.FAIL)
