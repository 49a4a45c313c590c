"""Runs of a comparison that have later labels; a comparison counts the verdicts as scored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from scoring.engine.thresholds.later_cases import read_later_cases
from scoring.models import Relabel, Run, Verdict
from scoring.models.pairs.rows import Pair, RunSide
from scoring.models.runs.later_verdicts import read_later_verdicts


class RelabelledRun(NamedTuple):
    """A run and its later labels."""

    run: Run
    relabel: Relabel


def find_relabelled_runs(runs: Sequence[Run]) -> list[RelabelledRun]:
    """Those with later labels, in their order; one query, none where no run is of a suite."""
    relabels = Relabel.objects.of_runs(runs)
    return [RelabelledRun(run, relabels[run.pk]) for run in runs if run.pk in relabels]


class LaterVerdicts:
    """The verdicts of a page of pairs by the later labels of two runs; one query, if any has some,
    and a few for each run whose cases have several trials.

    `relabels` are by the runs' ids.
    """

    def __init__(
        self, baseline: Run, candidate: Run, relabels: Mapping[int, Relabel], pairs: Iterable[Pair]
    ) -> None:
        self._runs = baseline.pk, candidate.pk
        halves = [half for pair in pairs for half in (pair.baseline, pair.candidate) if half]
        outputs = [half.output for half in halves]
        single = {pk: each for pk, each in relabels.items() if not each.run.has_trials}
        self._later = read_later_verdicts(single, outputs)
        for pk in relabels.keys() - single.keys():
            later = read_later_cases(relabels[pk], outputs)
            self._later |= {(pk, output): verdict for output, verdict in later.items()}

    def of(self, pair: Pair) -> list[str]:
        """Of the baseline and the candidate, if both have the case; a run without later labels has
        its stored verdict. Empty where these are the stored ones.
        """
        halves = zip(self._runs, (pair.baseline, pair.candidate), strict=True)
        shown = [(run, half) for run, half in halves if half]
        later = [self._find(run, half) for run, half in shown]
        stored = [half.verdict for _, half in shown]
        return [] if later == stored else [verdict.label for verdict in later]

    def _find(self, run: int, half: RunSide) -> Verdict:
        return self._later.get((run, half.output), half.verdict)
