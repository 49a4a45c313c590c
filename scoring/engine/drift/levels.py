"""Tests each run of a series against the earlier ones, and stores what is decided."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import pairwise
from typing import Any, Final

from django.db.models import F, Min
from django.db.models.functions import Coalesce

from scoring.core.stats.change_points import (
    DecidedRun,
    NextRun,
    decide_runs,
    find_periods,
    open_periods,
)
from scoring.core.stats.drift_power import detectable_drop
from scoring.core.stats.flips import FlipCounts, flip_tests
from scoring.engine.drift.level_sums import PartSums, paired_step
from scoring.engine.drift.results import comparable_parts, judged_runs, stored_results
from scoring.engine.runs.neighbours import series_key
from scoring.models import Dataset, DriftResult, OutputSet, RunScorer, RunState, RunStep, RunSummary

LATEST_STEPS: Final = 20  # whose numbers of flips are usual

Steps = Mapping[tuple[int, int], RunStep]


@dataclass
class ComparableRuns:
    """The comparable runs of one line, and what is decided of the first of them."""

    scorers: Sequence[RunScorer]
    sums: PartSums
    decided: list[DecidedRun]
    is_changed: bool = False  # whether any run was judged since the part was read

    @property
    def next(self) -> RunScorer | None:
        """The first run that is not judged."""
        index = len(self.decided)
        return self.scorers[index] if index < len(self.scorers) else None

    @cached_property
    def _indices(self) -> dict[int, int]:
        return {scorer.run.output_set.identity: index for index, scorer in enumerate(self.scorers)}

    def p_of(self, outputs: int) -> float | None:
        """The p of the run over these outputs, if it is judged."""
        index = self._indices.get(outputs, len(self.decided))
        return self.decided[index].p if index < len(self.decided) else None

    def latest(self, index: int) -> Sequence[RunScorer]:
        """The runs whose steps say how many flips are usual at the run of this index."""
        return self.scorers[max(0, index - LATEST_STEPS) : index + 1]


class SeriesJudge:
    """Judges the runs of a series that are not judged yet, in order of time."""

    def __init__(self, dataset: Dataset, series: str, lines: Sequence[Sequence[RunScorer]]) -> None:
        self._dataset = dataset
        self._parts = [
            ComparableRuns(scorers, PartSums(dataset, series, scorers), judged_runs(results))
            for line in lines
            for scorers in comparable_parts(line)
            for results in [[stored_results(scorer) for scorer in scorers]]
        ]

    @property
    def missing(self) -> int:
        """How many output sets have a run that is not judged."""
        waiting = (scorer for part in self._parts for scorer in part.scorers[len(part.decided) :])
        return len({scorer.run.output_set.identity for scorer in waiting})

    def judge_next(self) -> None:
        """Judge the runs of all lines over the oldest outputs together."""
        waiting = filter(None, (part.next for part in self._parts))
        first = min(waiting, key=lambda scorer: series_key(scorer.run))
        outputs = first.run.output_set
        due = [
            (part, scorer)
            for part in self._parts
            if (scorer := part.next) and scorer.run.output_set.identity == outputs.identity
        ]
        entries = [
            NextRun(part.decided, scorer.summary.mean or 0.0, part.sums) for part, scorer in due
        ]
        known = [p for part in self._parts if (p := part.p_of(outputs.identity)) is not None]
        series = max(1, sum(time <= outputs.series_time for time in self._first_tests))
        steps = _read_steps([part for part, _ in due])
        tests = series * (len(due) + len(known))
        decided_runs = decide_runs(entries, series=series, known=known)
        for (part, scorer), decided in zip(due, decided_runs, strict=True):
            part.decided.append(decided)
            part.is_changed = True
            _store_result(part, scorer, tests, steps)

    def finish(self) -> None:
        """Judge all other runs, and store the sums that the next runs are tested against."""
        while any(part.next for part in self._parts):
            self.judge_next()
        newest = {part.scorers[0].name: part for part in self._parts}
        for part in newest.values():
            if part.is_changed:
                part.sums.keep([period.runs for period in open_periods(find_periods(part.decided))])

    @cached_property
    def _first_tests(self) -> list[datetime]:
        """The time of the second run of each series, from which on it shares the page's level."""
        rows = OutputSet.objects.filter(
            version__dataset=self._dataset, runs__state=RunState.FINISHED
        )
        times: dict[str, list[datetime]] = defaultdict(list)
        same = rows.annotate(same=Coalesce(F("original"), F("pk"))).values_list("same", "series")
        for _, series, time in same.annotate(Min("series_time")):
            times[series].append(time)
        return [sorted(of_series)[1] for of_series in times.values() if len(of_series) > 1]


def _store_result(part: ComparableRuns, scorer: RunScorer, tests: int, steps: Steps) -> None:
    """Store what is decided of the part's latest judged run."""
    index = len(part.decided) - 1
    decided, periods = part.decided[index], find_periods(part.decided)
    pairs = [(old.run_id, new.run_id) for old, new in pairwise(part.latest(index))]
    flips = [FlipCounts(*steps[pair].flips_of(scorer.name)) for pair in pairs if pair in steps]
    is_counted = bool(pairs) and pairs[-1] in steps
    churn_p, mcnemar_p = flip_tests(flips, tests) if is_counted else (None, None)
    figures: dict[str, Any] = {
        "run_finished_at": scorer.run.finished_at,
        "before": part.scorers[index - 1].pk if index else None,
        "outcome": decided.outcome,
        "back": decided.back,
        "p": decided.p,
        "p_corrected": decided.p_corrected,
        "step": paired_step(part.sums, index) if index else None,
        "churn_p": churn_p,
        "mcnemar_p": mcnemar_p,
        "detectable": _detectable(part, periods[-1].runs, tests) if index else None,
    }
    DriftResult.objects.update_or_create(scorer=scorer, defaults=figures)
    part.sums.retain([*(period.runs for period in open_periods(periods)), [index]])


def _detectable(part: ComparableRuns, runs: Sequence[int], tests: int) -> float | None:
    means = [part.decided[run].mean for run in runs]
    return detectable_drop(part.sums(runs), means, max(1, tests))


def _read_steps(parts: Sequence[ComparableRuns]) -> Steps:
    """The stored steps of these parts up to their next run, by the ids of the two runs.

    Steps between other numbers of trials are left out: verdicts of the mean depend on how many
    there are, so flips tell nothing there.
    """
    runs = {scorer.run_id for part in parts for scorer in part.latest(len(part.decided))}
    steps = RunStep.objects.filter(after__in=runs).only("before", "after", "scorers")
    tried = RunSummary.objects.filter(scorer__run__in=runs).exclude(trials={})
    trials = dict(tried.values_list("scorer__run", "trials__trials"))
    return {
        (step.before_id, step.after_id): step
        for step in steps
        if trials.get(step.before_id) == trials.get(step.after_id)
    }
