"""Which scorers of a run are fit to gate: their stamps, and what made these stale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from scoring.core.stats.calibration import verdict_table
from scoring.core.stats.gate_fitness import USUAL_KAPPA, Fitness, FitnessFigures
from scoring.engine.calibration.scorers import ScorerCalibration
from scoring.models import FailureTag, Review, Run, RunScorer, Score, ScorerStamp, User, Verdict
from scoring.models.reviews.scorer_stamp import MAX_MODELS
from scoring.models.runs.judge_models import collect_models

#: What a change of a setting of a judge is called; of any other setting the version says enough.
_NAMED_SETTINGS: Final = {"model": "judge model", "rubric": "rubric"}


@dataclass(frozen=True)
class StampedScorer:
    """A scorer of a run with the newest stamp that is about it, if any, and what changed since."""

    scorer: RunScorer
    stamp: ScorerStamp | None
    changes: Sequence[str]

    @property
    def is_stale(self) -> bool:
        return bool(self.changes)

    @property
    def is_fit(self) -> bool:
        """Whether it was found fit to gate as it is."""
        is_gating = self.stamp is not None and self.stamp.fitness == Fitness.GATING
        return is_gating and not self.is_stale

    @property
    def text(self) -> str:
        """What is known of it, in words."""
        if self.stamp is None:
            return "not stamped"
        if self.changes:
            return f"{self.stamp.fitness}, stale: {', '.join(self.changes)}"
        return str(self.stamp.fitness)


def describe_stamp(stamped: StampedScorer) -> dict[str, Any]:
    """As `StampShape` of the API has it."""
    return {
        "scorer": stamped.scorer.name,
        "fitness": stamped.stamp.fitness if stamped.stamp else None,
        "is_fit": stamped.is_fit,
        "changes": list(stamped.changes),
    }


def measure_fitness(calibration: ScorerCalibration, limit: float = USUAL_KAPPA) -> FitnessFigures:
    """From the outputs of the run's random samples, and from all reviews for severe failures."""
    sample = calibration.sample or frozenset()
    table = verdict_table(
        (label.passed_by_scorer, label.scored.passed_by_people)
        for label in calibration.labels
        if label.output in sample
    )
    return FitnessFigures(table, _count_missed(calibration.scorer), limit)


def give_stamp(calibration: ScorerCalibration, limit: float, *, by: User) -> ScorerStamp:
    """Stamp the scorer as what its figures say."""
    figures, scorer = measure_fitness(calibration, limit), calibration.scorer
    return ScorerStamp.objects.give(scorer, figures, _models_of(scorer), by=by)


def stamped_scorers(run: Run, names: Sequence[str] | None = None) -> list[StampedScorer]:
    """The scorers of the run, or those of these names, in its order, with their stamps."""
    rows = run.scorers.select_related("version").order_by("position")
    return find_stamps(run, [each for each in rows if names is None or each.name in names])


def find_stamps(run: Run, scorers: Sequence[RunScorer]) -> list[StampedScorer]:
    """These scorers of the run, which have their version joined, with their stamps.

    The newest stamp of what the run has counts; only without one that of another version.
    """
    stamps = list(ScorerStamp.objects.about(scorers, run.output_set.version.dataset_id))
    found = []
    for scorer in scorers:
        own = [s for s in stamps if s.scorer_version.scorer_id == scorer.version.scorer_id]
        if not own:
            found.append(StampedScorer(scorer, None, ()))
            continue
        models = _models_of(scorer)
        changes = [_find_changes(stamp, run, scorer, models) for stamp in own]
        best = next((place for place, each in enumerate(changes) if not each), 0)
        found.append(StampedScorer(scorer, own[best], changes[best]))
    return found


def _find_changes(stamp: ScorerStamp, run: Run, scorer: RunScorer, models: str) -> list[str]:
    """What is not as it was, in words."""
    found, version = [], run.output_set.version
    before, now = stamp.scorer_version.config, scorer.version.config
    if stamp.scorer_version_id != scorer.version_id:
        named = [
            text for name, text in _NAMED_SETTINGS.items() if before.get(name) != now.get(name)
        ]
        found += [f"another {text}" for text in named] or [
            f"version {scorer.version.number} of the scorer, not {stamp.scorer_version.number}"
        ]
    elif models and stamp.judge_models and models != stamp.judge_models:
        found.append("another judge model")
    if stamp.threshold != scorer.threshold:
        found.append(f"threshold {scorer.threshold:g}, not {stamp.threshold:g}")
    if stamp.dataset_version_id != version.pk:
        found.append(f"version {version.number} of the dataset, not {stamp.dataset_version.number}")
    return found


def _count_missed(scorer: RunScorer) -> int:
    """The outputs with a severe failure, by any review, that the scorer passes."""
    tags = FailureTag.objects.filter(team=scorer.run.team, is_severe=True)
    severe = set(tags.values_list("name", flat=True))
    if not severe:
        return 0
    tagged = Review.objects.of_run(scorer.run).exclude(failure_tags=[])
    scores = Score.objects.filter(scorer=scorer, output__in=tagged.values("output"))
    passed = set(scores.filter(verdict=Verdict.PASS).values_list("output", flat=True))
    rows = tagged.values_list("output", "failure_tags")
    return len(passed & {output for output, named in rows if severe.intersection(named)})


def _models_of(scorer: RunScorer) -> str:
    """The models that answered its judges, as a stamp keeps them."""
    return ", ".join(collect_models(scorer))[:MAX_MODELS]
