"""Stamps: for what a scorer was found fit, and on what that rests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Self

from django.db import models, transaction

from scoring.core.stats.gate_fitness import Fitness, FitnessFigures
from scoring.models.base import AddressedRow
from scoring.models.data.dataset import DatasetVersion
from scoring.models.runs.run import Run, RunScorer
from scoring.models.scorers.scorer import ScorerVersion
from scoring.models.team.audit_entry import AuditEntry
from scoring.models.team.team import User

MAX_MODELS: Final = 500  # characters of the names of a judge's models


class ScorerStampQuerySet(models.QuerySet["ScorerStamp"]):
    def give(
        self, scorer: RunScorer, figures: FitnessFigures, judge_models: str, *, by: User
    ) -> ScorerStamp:
        """What these figures of a run say of its scorer, audited."""
        version = scorer.run.output_set.version
        bound = figures.lower_bound
        with transaction.atomic():
            stamp = self.create(
                scorer_version=scorer.version,
                dataset_version=version,
                judge_models=judge_models,
                run=scorer.run,
                fitness=figures.fitness,
                threshold=scorer.threshold,
                labels=figures.labels,
                kappa_low=bound,
                limit=figures.limit,
                missed=figures.missed,
                stamped_by=by,
            )
            new = {"fitness": stamp.fitness, "labels": stamp.labels, "kappa_low": bound}
            new |= {"limit": figures.limit, "run": str(scorer.run.uuid)}
            team = scorer.run.team
            AuditEntry.objects.record(team, by, "scorer.stamped", scorer.version, new=new)
        return stamp

    def about(self, scorers: Iterable[RunScorer], dataset: int) -> Self:
        """The newest first, those of any version of these scorers over the dataset of this id."""
        own = {scorer.version.scorer_id for scorer in scorers}
        found = self.filter(scorer_version__scorer__in=own, dataset_version__dataset=dataset)
        return found.select_related("scorer_version", "dataset_version").order_by("-pk")


class ScorerStamp(AddressedRow):
    """For what a version of a scorer was found fit, over a version of a dataset.

    It holds for these and for the models that answered the judge; `kappa_low` is the lower bound of
    kappa, None where that was not defined, and `limit` what was asked of it.
    """

    scorer_version = models.ForeignKey(ScorerVersion, models.CASCADE, related_name="stamps")
    dataset_version = models.ForeignKey(DatasetVersion, models.CASCADE, related_name="+")
    judge_models = models.CharField(max_length=MAX_MODELS, blank=True, default="")
    run = models.ForeignKey(Run, models.SET_NULL, null=True, related_name="+")
    fitness = models.CharField(
        max_length=10, choices=[(each.value, each.value) for each in Fitness]
    )
    threshold = models.FloatField()
    labels = models.PositiveIntegerField(help_text="Reviews of a random sample.")
    kappa_low = models.FloatField(null=True)
    limit = models.FloatField()
    missed = models.PositiveIntegerField(help_text="Outputs with a severe failure that it passes.")
    stamped_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")

    objects = ScorerStampQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.scorer_version}: {self.fitness}"
