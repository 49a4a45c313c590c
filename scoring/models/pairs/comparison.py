"""Baselines of series, and the stored figures of compared runs."""

from __future__ import annotations

from typing import Any, Final, Self

from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.dispatch import Signal

from scoring.models.base import AddressedRow
from scoring.models.data.dataset import Dataset
from scoring.models.locks import lock_row
from scoring.models.runs.judge_models import judge_models
from scoring.models.runs.run import Run, RunState
from scoring.models.team.audit_entry import AuditEntry
from scoring.models.team.team import User

#: Sent in the transaction that pins or unpins a baseline, with its `dataset` and `series`.
baseline_changed: Final = Signal()


class BaselineQuerySet(models.QuerySet["Baseline"]):
    def of(self, run: Run) -> Self:
        """The baseline pinned for the run's dataset and series; at most one."""
        outputs = run.output_set
        return self.filter(dataset=outputs.version.dataset_id, series=outputs.series)

    def pin(self, run: Run, *, by: User | None) -> Baseline:
        """Make the run its series' baseline. Raises ValidationError saying why it is no measure."""
        if problem := baseline_problem(run):
            raise ValidationError(problem)
        outputs = run.output_set
        key: dict[str, Any] = {"dataset_id": outputs.version.dataset_id, "series": outputs.series}
        with transaction.atomic():
            lock_row(outputs.version.dataset, "latest")
            if not Run.objects.select_for_update().filter(pk=run.pk).exists():
                raise ValidationError("The run was deleted meanwhile.")
            previous = self.filter(**key).select_related("run").first()
            if previous and previous.run_id == run.pk:
                return previous
            baseline, _ = self.update_or_create(**key, defaults={"run": run, "pinned_by": by})
            baseline_changed.send(Baseline, dataset=outputs.version.dataset, series=outputs.series)
            old = _audit_values(previous.run) if previous else None
            new = _audit_values(run)
            AuditEntry.objects.record(run.team, by, "baseline.pinned", run, old=old, new=new)
        return baseline


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
        with transaction.atomic():
            lock_row(self.dataset, "latest")
            pinned = Baseline.objects.select_related("run").filter(pk=self.pk).first()
            if pinned is None:
                return
            run, old = pinned.run, _audit_values(pinned.run)
            pinned.delete()
            AuditEntry.objects.record(run.team, by, "baseline.unpinned", run, old=old)
            baseline_changed.send(Baseline, dataset=self.dataset, series=self.series)


def _audit_values(run: Run) -> dict[str, str]:
    return {"run": str(run.uuid), "name": run.name}


def baseline_problem(run: Run) -> str:
    """Why the run cannot be a baseline, and what to do; empty when it can."""
    if run.state != RunState.FINISHED:
        return f"The run is {run.state}: only a finished run can be a baseline."
    if problem := _errors(run):
        return f"{problem}: score the errors again first."
    case_count = run.verdicts.values("position").distinct().count()
    if missing := run.output_set.version.case_count - case_count:
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
    scorers = run.scorers.exclude(summary__error_causes={}).filter(summary__isnull=False)
    counts = [(s.name, sum(s.summary.error_causes.values())) for s in scorers.with_summary()]
    return ", ".join(f"{name} has {errors:,} error{'s' * (errors > 1)}" for name, errors in counts)


class ComparisonQuerySet(models.QuerySet["Comparison"]):
    def current(self) -> Self:
        """Those of which neither run has been scored again since."""
        return self.filter(
            baseline_finished_at=models.F("baseline__finished_at"),
            candidate_finished_at=models.F("candidate__finished_at"),
        )


class Comparison(models.Model):
    """The figures of two runs over the same cases, stored because they take a while.

    They hold for the runs as they were at `baseline_finished_at` and `candidate_finished_at`; a
    run that was scored again since is compared again. The shape of `figures` is that of
    `scoring.engine.compare.figures.Figures`.
    """

    baseline = models.ForeignKey(Run, models.CASCADE, related_name="compared_to")
    candidate = models.ForeignKey(Run, models.CASCADE, related_name="compared_with")
    baseline_finished_at = models.DateTimeField()
    candidate_finished_at = models.DateTimeField()
    figures = models.JSONField(default=dict)
    computed_at = models.DateTimeField(auto_now=True)

    objects = ComparisonQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["baseline", "candidate"], name="compared_once")
        ]

    def __str__(self) -> str:
        return f"{self.baseline} → {self.candidate}"
