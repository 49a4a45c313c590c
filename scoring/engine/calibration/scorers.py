"""Calibration: the scorers of a run, or the versions of a scorer, against people's reviews."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from scoring.core.stats.calibration import (
    BestThreshold,
    ScoredLabel,
    VerdictTable,
    best_threshold,
    kappa_difference,
    verdict_table,
)
from scoring.engine.calibration.people import People, read_people
from scoring.engine.calibration.sample import (
    CorrectedPassRate,
    corrected_pass_rate,
    tasks_in_turn,
)
from scoring.models import (
    Review,
    ReviewQueue,
    ReviewTask,
    Run,
    RunScorer,
    Score,
    Scorer,
    ScorerVersion,
)
from scoring.models.reviews.people_verdict import PeopleVerdict
from scoring.models.reviews.queue import sampled_outputs

MAX_RUNS: Final = 20  # of a scorer, the newest that people have reviewed
_BATCH: Final = 5_000  # outputs that are looked up at once


class Label(NamedTuple):
    """A scored output that people passed or failed."""

    output: int
    scored: ScoredLabel
    passed_by_scorer: bool


@dataclass(frozen=True)
class Calibration:
    """A scorer's verdicts and scores against people's verdicts."""

    labels: Sequence[Label]

    @cached_property
    def table(self) -> VerdictTable:
        return _table(self.labels)

    @cached_property
    def best(self) -> BestThreshold | None:
        return best_threshold([label.scored for label in self.labels])


@dataclass(frozen=True)
class ScorerCalibration(Calibration):
    """Of a scorer in a run.

    `sample` are the outputs whose labels speak for the run, see `tasks_in_turn`, or None where
    none were drawn; `unscored` counts outputs that people passed or failed and that have no score.
    """

    scorer: RunScorer
    sample: Set[int] | None
    unscored: int

    @property
    def is_best_threshold(self) -> bool:
        """Whether the run's threshold is among those that are as good as the best."""
        return self.best is not None and self.best.includes(self.scorer.threshold)

    @cached_property
    def corrected(self) -> CorrectedPassRate | None:
        """None without a random sample, and before the run has ended."""
        if self.sample is None or getattr(self.scorer, "summary", None) is None:
            return None
        labelled = _table(label for label in self.labels if label.output in self.sample)
        return corrected_pass_rate(self.scorer, labelled)


@dataclass(frozen=True)
class RunCalibration:
    """The scorers of a run against the reviews of its outputs.

    `drawn` are the outputs of random samples, `sample` those whose labels speak for the run.
    """

    run: Run
    people: People
    scorers: Sequence[ScorerCalibration]
    drawn: Set[int]
    sample: Set[int]

    @property
    def is_random(self) -> bool:
        """Whether its figures speak for the whole run: they rest on a random sample alone."""
        return bool(self.drawn) and self.people.decided.keys() <= self.sample

    @property
    def sample_reviewed(self) -> int:
        """How many of the outputs drawn at random are reviewed."""
        return len(self.drawn & self.people.outputs.keys())

    @property
    def out_of_turn(self) -> int:
        """How many of these were reviewed before others that are drawn to come first."""
        return self.sample_reviewed - len(self.sample & self.people.outputs.keys())

    @cached_property
    def best(self) -> ScorerCalibration | None:
        """The scorer with the highest kappa; None unless there are several with one above 0."""
        rated = [(each.table.kappa.value, each) for each in self.scorers if each.table.kappa]
        if len(rated) < 2:
            return None
        kappa, best = max(rated, key=lambda pair: pair[0])
        return best if kappa > 0 else None

    def is_as_good(self, other: ScorerCalibration) -> bool:
        """Whether the outputs that both judged do not tell its kappa from that of the best."""
        if self.best is None or other is self.best or other.table.kappa is None:
            return False
        difference = kappa_difference(_triples(self.best.labels, other.labels))
        return difference is not None and difference.is_chance


@dataclass(frozen=True)
class VersionCalibration(Calibration):
    """A version of a scorer over the newest runs whose outputs people have reviewed.

    An output that several runs scored counts once, as the newest of them judged it.
    """

    version: ScorerVersion
    thresholds: Sequence[float]  # of its runs, each once
    run_count: int


def calibrate_run(run: Run, scorers: Iterable[RunScorer]) -> RunCalibration:
    """The given scorers of the run, of `with_summary`, against the reviews of its outputs."""
    people, drawn = read_people(Review.objects.of_run(run)), frozenset(sampled_outputs(run))
    queues = ReviewQueue.objects.random_of(run).values_list("pk", flat=True)
    in_turn = tasks_in_turn(list(queues)) if drawn else ReviewTask.objects.none()
    sample = frozenset(in_turn.values_list("output", flat=True))
    scored = _calibrate(scorers, people.decided, sample if drawn else None)
    return RunCalibration(run, people, scored, drawn, sample)


def _calibrate(
    scorers: Iterable[RunScorer], decided: Mapping[int, bool], sample: frozenset[int] | None
) -> list[ScorerCalibration]:
    scorers = list(scorers)
    labels = _labels_of(scorers, decided)
    return [
        ScorerCalibration(labels[each.pk], each, sample, len(decided) - len(labels[each.pk]))
        for each in scorers
    ]


def calibrate_versions(scorer: Scorer) -> list[VersionCalibration]:
    """The versions of a scorer that scored outputs which people pass or fail, newest first.

    Over its MAX_RUNS newest runs whose outputs were reviewed.
    """
    runs = list(RunScorer.objects.filter(version__scorer=scorer).select_related("run", "version"))
    reviews = Review.objects.filter(output_set__in={each.run.output_set_id for each in runs})
    reviewed = set(reviews.values_list("output_set", flat=True).distinct())
    runs = [each for each in runs if each.run.output_set_id in reviewed]
    newest = sorted(runs, key=lambda each: -each.run_id)[:MAX_RUNS]
    decided = read_people(reviews).decided if newest else {}
    by_version: dict[ScorerVersion, list[RunScorer]] = defaultdict(list)
    for each in newest:
        by_version[each.version].append(each)
    found = [_calibrate_version(*each, decided) for each in by_version.items()]
    return sorted(
        (calibration for calibration in found if calibration.labels),
        key=lambda calibration: -calibration.version.number,
    )


def calibrate_runs(runs: Sequence[RunScorer]) -> VersionCalibration | None:
    """The version that scored the first of these runs, over all of them that it scored.

    The runs are of one scorer, the newest first. None where people have passed or failed none of
    its outputs.
    """
    own = [each for each in runs if each.version_id == runs[0].version_id]
    reviews = Review.objects.filter(output_set__in={each.run.output_set_id for each in own})
    decided = read_people(reviews).decided if own else {}
    found = _calibrate_version(own[0].version, own, decided) if decided else None
    return found if found and found.labels else None


def _calibrate_version(
    version: ScorerVersion, runs: Sequence[RunScorer], decided: Mapping[int, bool]
) -> VersionCalibration:
    """From its runs, the newest first."""
    labels: dict[int, Label] = {}
    by_run = _labels_of(runs, decided)
    for each in reversed(runs):
        labels |= {label.output: label for label in by_run[each.pk]}
    thresholds = sorted({each.threshold for each in runs})
    return VersionCalibration(list(labels.values()), version, thresholds, len(runs))


def _labels_of(
    scorers: Collection[RunScorer], decided: Mapping[int, bool]
) -> dict[int, list[Label]]:
    """By the scorers' ids their scored outputs among these, whose values say if people pass."""
    labels: dict[int, list[Label]] = {scorer.pk: [] for scorer in scorers}
    columns = ("scorer", "output", "score", "verdict", "code")
    outputs = sorted(decided)
    for start in range(0, len(outputs), _BATCH):
        batch = outputs[start : start + _BATCH]
        # Without a filter for scores, for which SQLite would walk all of the run's.
        rows = Score.objects.filter(scorer__in=labels, output__in=batch)
        for scorer, output, score, verdict, code in rows.values_list(*columns):
            if score is not None:
                scored = ScoredLabel(score, decided[output], bool(code))
                labels[scorer].append(Label(output, scored, verdict == PeopleVerdict.PASS))
    return labels


def _table(labels: Iterable[Label]) -> VerdictTable:
    pairs = ((label.passed_by_scorer, label.scored.passed_by_people) for label in labels)
    return verdict_table(pairs)


def _triples(one: Iterable[Label], other: Iterable[Label]) -> Counter[tuple[bool, bool, bool]]:
    """Both scorers' verdicts and people's on the outputs that both have scored."""
    passed = {label.output: label.passed_by_scorer for label in one}
    return Counter(
        (passed[label.output], label.passed_by_scorer, label.scored.passed_by_people)
        for label in other
        if label.output in passed
    )
