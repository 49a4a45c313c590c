"""The later verdicts of cases with several trials, of which the mean score counts."""

from __future__ import annotations

from collections.abc import Collection

from scoring.engine.runs.trial_figures import rank_cases
from scoring.models import Output, Relabel, Verdict


def read_later_cases(relabel: Relabel, outputs: Collection[int]) -> dict[int, Verdict]:
    """By the output that stands for it, the verdict of each case by the later labels of its run.

    Two queries for each scorer, and two more; none without outputs.
    """
    if not outputs:
        return {}
    own = Output.objects.filter(output_set=relabel.run.output_set_id, pk__in=outputs)
    cases = dict(own.values_list("pk", "case"))
    scorers = relabel.run.scorers.all()
    ranks = rank_cases(scorers, relabel.thresholds, set(cases.values()))
    return {output: ranks.verdict_of(case) for output, case in cases.items()}
