"""What other thresholds would do to a run's gates and to its comparison with its baseline.

The verdicts of the cases that flip are worked out anew, in the run and in its baseline; all others
are as stored. Nothing is changed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from scoring.core.wording.thresholds import VerdictChanges, comparison_effect_sentence
from scoring.engine.compare.columns import MatchedCases, match_cases
from scoring.engine.compare.gates import Gate, GateLimits, GateOutcome, check_gate
from scoring.engine.compare.pair_index import count_pairs, count_unpaired
from scoring.engine.compare.regressions import Regressions
from scoring.engine.compare.verdict_changes import run_flip_test
from scoring.engine.runs.neighbours import run_baseline
from scoring.engine.runs.trial_figures import rank_cases
from scoring.engine.thresholds.flips import CaseFlips, OutputFlips
from scoring.models import CaseVerdict, Output, Relabel, Run, RunScorer, Score, Verdict
from scoring.models.pairs.pairs import Pairs
from scoring.models.runs.relabel import combine_verdicts

if TYPE_CHECKING:
    import numpy as np

BATCH: Final = 5_000  # outputs or cases that one query names


class NewVerdicts(NamedTuple):
    """The verdicts of outputs and of their cases by other thresholds, both by output.

    Of single trials these are the same. Only what may differ from the stored ones is there.
    """

    outputs: Mapping[int, Verdict]
    cases: Mapping[int, Verdict]


class GateEffect(NamedTuple):
    """A gate's answer as scored, and the one that it would have given."""

    before: GateOutcome
    after: GateOutcome

    @property
    def differs(self) -> bool:
        return self.before.state != self.after.state


@dataclass(frozen=True)
class ThresholdEffects:
    """Counts of case verdicts, gates, and the comparison: none without a finished baseline."""

    run: Run
    verdicts: tuple[Mapping[str, int], Mapping[str, int]]  # as scored, and as they would be
    gates: Sequence[GateEffect]
    baseline: Run | None
    regressions: tuple[Regressions, Regressions] | None

    @property
    def pass_rates(self) -> tuple[float | None, float | None]:
        """Of the cases that pass or fail."""
        before, after = (
            counts["pass"] / judged if (judged := counts["pass"] + counts["fail"]) else None
            for counts in self.verdicts
        )
        return before, after

    @cached_property
    def sentence(self) -> str:
        """What becomes of the comparison; empty without one."""
        if self.baseline is None or self.regressions is None:
            return ""
        changes = (
            VerdictChanges(flips.broke, flips.fixed, flips.has_dropped)
            for flips in (each.flips for each in self.regressions)
            if flips
        )
        return comparison_effect_sentence(self.baseline.name, *changes)


def preview_effects(
    run: Run,
    thresholds: Mapping[int, float],
    gates: Sequence[Gate],
    limits: GateLimits | None = None,
) -> ThresholdEffects:
    """Of a finished run, by new thresholds for scorers' ids; the baseline is judged by them, too.

    Reads the verdicts of all matched cases, so it takes longer than a preview.
    Raises GateError for a scorer that the run does not have.
    """
    limits = limits or GateLimits()
    baseline, labels = run_baseline(run), find_new_verdicts(run, thresholds)
    if baseline and baseline.is_unfinished:  # pinned, and its errors are being retried
        baseline = None
    judged = _with_counts(run, labels)
    regressions = None
    if baseline:
        pairs = Pairs(baseline, run)
        columns = match_cases(pairs)
        sides = find_new_verdicts(baseline, thresholds), labels
        regressions = (
            _count_regressions(pairs, columns),
            _count_regressions(pairs, _relabel_columns(columns, sides)),
        )
    before, after = regressions or (None, None)
    answers = [
        GateEffect(
            check_gate(gate, run, before, *limits),
            check_gate(gate, judged, after, *limits),
        )
        for gate in gates
    ]
    counts = tuple(
        {name: count or 0 for name, count in each.verdict_counts.items()} for each in (run, judged)
    )
    return ThresholdEffects(run, (counts[0], counts[1]), answers, baseline, regressions)


def find_new_verdicts(run: Run, thresholds: Mapping[int, float]) -> NewVerdicts:
    """The verdicts of the outputs and cases that flip by some scorer at its new threshold."""
    scorers = list(run.scorers.select_related("version"))
    for scorer in scorers:
        scorer.run = run
    new = {s.name: thresholds.get(s.version.scorer_id, s.threshold) for s in scorers}
    changed = [scorer for scorer in scorers if new[scorer.name] != scorer.threshold]
    flipped = {
        output
        for scorer in changed
        for output in OutputFlips(scorer, scorer.threshold, new[scorer.name]).rows.values_list(
            "output", flat=True
        )
    }
    relabel = Relabel(run=run, thresholds={scorer.name: new[scorer.name] for scorer in changed})
    outputs = _output_verdicts(relabel, scorers, sorted(flipped))
    if not run.has_trials:
        return NewVerdicts(outputs, outputs)
    return NewVerdicts(outputs, _case_verdicts(relabel, scorers))


def _output_verdicts(
    relabel: Relabel, scorers: Sequence[RunScorer], outputs: Sequence[int]
) -> dict[int, Verdict]:
    names = {scorer.pk: scorer.name for scorer in scorers}
    verdicts: defaultdict[int, list[tuple[int, Verdict | None]]] = defaultdict(list)
    for batch in _batches(outputs):
        rows = Score.objects.filter(scorer__in=names, output__in=batch).order_by()
        columns = ("output", "scorer", "status", "score", "verdict", "code")
        for output, scorer, status, *score in rows.values_list(*columns):
            verdicts[output].append((status, relabel.verdict_by(names[scorer], *score)))
    return {output: combine_verdicts(each) for output, each in verdicts.items()}


def _case_verdicts(relabel: Relabel, scorers: Sequence[RunScorer]) -> dict[int, Verdict]:
    """By the ids of all their outputs the cases that flip by the mean of their trials."""
    run, new = relabel.run, relabel.thresholds
    flips = (CaseFlips(s, s.threshold, new[s.name]) for s in scorers if s.name in new)
    cases = sorted({mean.case for each in flips for mean in each.means})
    verdicts = {}
    for batch in _batches(cases):
        ranks = rank_cases(scorers, relabel.thresholds, batch)
        outputs = Output.objects.filter(output_set=run.output_set_id, case__in=batch)
        for output, case in outputs.values_list("pk", "case"):
            verdicts[output] = ranks.verdict_of(case)
    return verdicts


def _with_counts(run: Run, labels: NewVerdicts) -> Run:
    """A copy of the run with the counts of these verdicts; it is not to be saved."""
    stored: Counter[Verdict] = Counter()
    later: Counter[Verdict] = Counter()
    column = "of_case" if run.has_trials else "verdict"
    for batch in _batches(sorted(labels.cases)):
        rows = CaseVerdict.objects.filter(run=run, output__in=batch)
        for output, verdict in rows.values_list("output", column):
            if verdict is not None:
                stored[Verdict(verdict)] += 1
                later[labels.cases[output]] += 1
    copied = copy(run)
    for verdict in Verdict:
        field = f"{verdict.label}_count"
        count = (getattr(run, field) or 0) - stored[verdict] + later[verdict]
        setattr(copied, field, count)
    return copied


def _count_regressions(pairs: Pairs, columns: MatchedCases) -> Regressions:
    counts = count_pairs(pairs, columns)
    alone = count_unpaired(pairs.baseline, pairs.candidate, counts)
    return Regressions(
        broke=counts.broke,
        n=counts.pairs + alone,
        unclear=counts.pairs - counts.judged,
        alone=alone,
        flips=run_flip_test(columns, pairs.candidate),
    )


def _relabel_columns(columns: MatchedCases, sides: tuple[NewVerdicts, NewVerdicts]) -> MatchedCases:
    """The columns with these verdicts of both runs in place of the stored ones."""
    outputs, verdicts = [], []
    for side, own, labels in zip(columns.outputs, columns.verdicts, sides, strict=True):
        indices, values = _places(side.ids, labels.outputs)
        relabelled = side.verdicts.copy()
        relabelled[indices] = values
        outputs.append(side._replace(verdicts=relabelled))
        indices, values = _places(side.ids, labels.cases)
        of_cases = own.copy()
        of_cases[indices if side.cases is None else side.cases[indices]] = values
        verdicts.append(of_cases)
    return columns._replace(outputs=(outputs[0], outputs[1]), verdicts=(verdicts[0], verdicts[1]))


def _places(ids: np.ndarray, labels: Mapping[int, Verdict]) -> tuple[np.ndarray, np.ndarray]:
    """Where the outputs stand among these ids, and the verdicts of those that do."""
    import numpy as np

    outputs = np.array(list(labels), np.int64)
    values = np.array(list(labels.values()), np.int8)
    order = np.argsort(ids)
    places = np.searchsorted(ids, outputs, sorter=order)
    places = order[np.minimum(places, len(ids) - 1)] if len(ids) else np.empty(0, int)
    is_there = ids[places] == outputs if len(ids) else np.empty(0, bool)
    return places[is_there], values[is_there] if len(ids) else values[:0]


def _batches(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    return (ids[start : start + BATCH] for start in range(0, len(ids), BATCH))
