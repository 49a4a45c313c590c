"""Which run a series is compared with, and the figures kept of two compared runs."""

from __future__ import annotations

from typing import Any, Self

from django.core.exceptions import ValidationError
from django.db import models, transaction

from scoring.models.alert_watch import AlertWatch
from scoring.models.audit import AuditEntry
from scoring.models.base import AddressedRow
from scoring.models.dataset import Dataset
from scoring.models.judged import judge_models
from scoring.models.run import Run, RunState
from scoring.models.team import User


class BaselineQuerySet(models.QuerySet["Baseline"]):
    def of(self, run: Run) -> Self:
        """The baseline pinned for the run's dataset and series; at most one."""
        outputs = run.output_set
        return self.filter(dataset=outputs.version.dataset_id, series=outputs.series)

    def pin(self, run: Run, *, by: User | None) -> Baseline:
        """Make the run its series' baseline. Raises ValidationError saying why it is no measure."""
        if problem := unfitness(run):
            raise ValidationError(problem)
        outputs = run.output_set
        key: dict[str, Any] = {"dataset_id": outputs.version.dataset_id, "series": outputs.series}
        with transaction.atomic():
            before = self.filter(**key).select_related("run").first()
            if before and before.run_id == run.pk:
                return before
            pinned, _ = self.update_or_create(**key, defaults={"run": run, "pinned_by": by})
            AlertWatch.objects.look_again(outputs.version.dataset, outputs.series)
            old = {"run": str(before.run.uuid), "name": before.run.name} if before else None
            new = {"run": str(run.uuid), "name": run.name}
            AuditEntry.objects.record(run.team, by, "baseline.pinned", run, old=old, new=new)
        return pinned


class Baseline(AddressedRow):
    """The run that the other runs of a dataset's series are compared with."""

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="baselines")
    series = models.CharField(max_length=120)
    run = models.ForeignKey(Run, models.CASCADE, related_name="pins")
    pinned_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    pinned_at = models.DateTimeField(auto_now=True)

    objects = BaselineQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["dataset", "series"], name="one_baseline_a_series")
        ]

    def __str__(self) -> str:
        return f"{self.run} for {self.series}"

    def unpin(self, *, by: User | None) -> None:
        """The series is compared with its previous run again."""
        old = {"run": str(self.run.uuid), "name": self.run.name}
        with transaction.atomic():
            AuditEntry.objects.record(self.run.team, by, "baseline.unpinned", self.run, old=old)
            AlertWatch.objects.look_again(self.dataset, self.series)
            self.delete()


def unfitness(run: Run) -> str:
    """Why the run cannot be a baseline, and what to do; empty when it can."""
    if run.state != RunState.FINISHED:
        return f"The run is {run.state}: only a finished run can be a baseline."
    if problem := _errors(run):
        return f"{problem}: score the errors again first."
    missing = run.output_set.version.case_count - _case_count(run)
    if missing:
        cases = "1 case" if missing == 1 else f"{missing:,} cases"
        return f"{cases} of the dataset version without an output: make a run over all."
    for name, answered in judge_models(run).items():
        if len(answered) > 1:
            by = ", ".join(sorted(answered))
            return f"The judge {name} was answered by several models ({by}): make a run with one."
    return ""


def _errors(run: Run) -> str:
    """How many errors there are; a case that fails by one scorer may hide an error of another."""
    if run.error_count:
        has = "case has" if run.error_count == 1 else "cases have"
        return f"{run.error_count:,} {has} an error"
    scorers = run.scorers.filter(summary__errors__gt=0).values_list("name", "summary__errors")
    return ", ".join(f"{name} has {errors:,} error{'s' * (errors > 1)}" for name, errors in scorers)


def _case_count(run: Run) -> int:
    return run.verdicts.values("position").distinct().count()


class Comparison(models.Model):
    """The figures of two runs over the same cases, kept because they take a while.

    They hold for the runs as they were at `baseline_finished_at` and `candidate_finished_at`; a
    run that was scored again since is compared again. The shape of `figures` is that of
    `scoring.engine.compare.Figures`.
    """

    baseline = models.ForeignKey(Run, models.CASCADE, related_name="compared_to")
    candidate = models.ForeignKey(Run, models.CASCADE, related_name="compared_with")
    baseline_finished_at = models.DateTimeField()
    candidate_finished_at = models.DateTimeField()
    figures = models.JSONField(default=dict)
    computed_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["baseline", "candidate"], name="compared_once")
        ]

    def __str__(self) -> str:
        return f"{self.baseline} → {self.candidate}"

    @property
    def is_current(self) -> bool:
        """Whether neither run has been scored again since."""
        seen = self.baseline_finished_at, self.candidate_finished_at
        return seen == (self.baseline.finished_at, self.candidate.finished_at)
