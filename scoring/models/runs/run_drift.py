"""Stored drift figures of runs, so that a drift page need not read their rows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from django.db import models

from scoring.core.stats.flips import FlipCounts
from scoring.core.wording.drift import same_text
from scoring.models.data.dataset import Dataset
from scoring.models.prepared_query import prepared_query
from scoring.models.runs.run import OLDEST_FIRST, OutputSet, Run, RunScorer, RunState


class CountedStep(NamedTuple):
    """The figures of a RunStep that holds."""

    pairs: int
    fixed: int
    broke: int
    scorers: Mapping[str, Sequence[int]]

    @property
    def flips(self) -> FlipCounts:
        return FlipCounts(self.pairs, self.fixed, self.broke)

    def flips_of(self, scorer: str) -> FlipCounts:
        """Of its own verdicts; none where one of the runs has not the scorer."""
        return FlipCounts(*self.scorers.get(scorer, (0, 0, 0)))


class RunStep(models.Model):
    """The flips from one run of a drift line to the next; they hold while neither is re-scored.

    `scorers` holds those of each scorer's own verdicts, by name: [pairs, fixed, broke]; None where
    they were never counted.
    """

    before = models.ForeignKey(Run, models.CASCADE, related_name="steps_on")
    after = models.ForeignKey(Run, models.CASCADE, related_name="steps_here", db_index=False)
    before_finished_at = models.DateTimeField()
    after_finished_at = models.DateTimeField()
    pairs = models.PositiveIntegerField()
    fixed = models.PositiveIntegerField()
    broke = models.PositiveIntegerField()
    scorers = models.JSONField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["after", "before"], name="step_once")]

    def __str__(self) -> str:
        return f"{self.before} → {self.after}"

    @property
    def flips(self) -> FlipCounts:
        return FlipCounts(self.pairs, self.fixed, self.broke)

    def flips_of(self, scorer: str) -> FlipCounts:
        """Of its own verdicts; none where one of the runs has not the scorer."""
        return FlipCounts(*(self.scorers or {}).get(scorer, (0, 0, 0)))

    def holds_for(self, before: Run, after: Run) -> bool:
        """Whether all is counted and neither run has been scored again since."""
        counted = self.before_finished_at, self.after_finished_at
        return self.scorers is not None and counted == (before.finished_at, after.finished_at)


class RunDrift(models.Model):
    """The figures of one run on a drift page besides its summaries.

    `tags` holds figures of the commonest tags, by scorer name and tag: [n, mean, pass rate]; they
    hold for the run as finished at `run_finished_at`. Over a sample of cases, `similarity` (mean,
    0..1, of `compared` texts) is that to the outputs of `reference`, and `distinct` of `sampled`
    texts differ from each other. A figure is None where no text was there to look at.
    """

    run = models.OneToOneField(Run, models.CASCADE, related_name="drift")
    run_finished_at = models.DateTimeField()
    tags = models.JSONField(default=dict)
    reference = models.ForeignKey(OutputSet, models.SET_NULL, null=True, related_name="+")
    similarity = models.FloatField(null=True)
    compared = models.PositiveIntegerField(default=0)
    sampled = models.PositiveIntegerField(default=0)
    distinct = models.PositiveIntegerField(default=0)
    #: How many of `sampled` have the text that most of them have; None where never counted.
    commonest = models.PositiveIntegerField(null=True)

    class Meta:
        verbose_name_plural = "drift of runs"

    def __str__(self) -> str:
        return f"drift of {self.run}"

    @property
    def distinct_share(self) -> float | None:
        return self.distinct / self.sampled if self.sampled else None

    @property
    def same_text(self) -> str:
        """Which share of the outputs is one text, where that is nearly all of them; else empty."""
        return same_text(self.sampled, self.commonest or 0)


class DriftResult(models.Model):
    """What a run is to the earlier ones of its drift line, decided by `core.stats.change_points`.

    It holds for the run as finished at `run_finished_at`, after the RunScorer with the id `before`
    (None for the first run that is comparable). `step` is the paired difference from that one:
    [n, mean, low, high, p]; None where no case was scored in both. `churn_p` and `mcnemar_p`, both
    corrected, say that its flips are unusually many or one-sided; None where they are not.
    `detectable` is the smallest drop that the next run's test finds with 80 % power.
    """

    scorer = models.OneToOneField(RunScorer, models.CASCADE, related_name="drift_result")
    run_finished_at = models.DateTimeField()
    before = models.BigIntegerField(null=True)
    outcome = models.PositiveSmallIntegerField()
    back = models.PositiveSmallIntegerField(default=0)
    p = models.FloatField(null=True)
    p_corrected = models.FloatField(null=True)
    step = models.JSONField(null=True)
    churn_p = models.FloatField(null=True)
    mcnemar_p = models.FloatField(null=True)
    detectable = models.FloatField(null=True)

    def __str__(self) -> str:
        return f"drift result of {self.scorer}"


class LevelSums(models.Model):
    """Scores added up by case over the runs of a line that `runs` names by a hash: what the next
    run is tested against. Made anew from the scores where it is missing.
    """

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="+")
    series = models.CharField(max_length=120)
    scorer = models.CharField(max_length=120)
    runs = models.CharField(max_length=64)
    data = models.BinaryField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["dataset", "series", "scorer", "runs"], name="level_sums_once"
            )
        ]
        verbose_name_plural = "level sums"

    def __str__(self) -> str:
        return f"{self.series}, {self.scorer}"


def runs_in_time(
    dataset: Dataset | int, *, scorers: Collection[str] = (), series: Collection[str] = ()
) -> models.QuerySet[RunScorer]:
    """The scorers of finished runs, all or those with these names in these series, oldest first by
    the time of their outputs.

    Run, output set, versions, figures and what is kept of the run's drift are joined, but for
    the figures that no drift line shows.
    """
    rows = RunScorer.objects.filter(
        run__output_set__version__dataset=dataset,
        run__state=RunState.FINISHED,
        summary__isnull=False,
    ).select_related("run__output_set__version", "run__drift", "version", "summary", "drift_result")
    if scorers:
        rows = rows.filter(name__in=scorers)
    if series:
        rows = rows.filter(run__output_set__series__in=series)
    unused = ("histogram", "causes", "error_causes", "faults", "trials")
    rows = rows.defer(*(f"summary__{name}" for name in unused))
    return rows.order_by(*(f"run__{name}" for name in OLDEST_FIRST))


def steps_into(runs: Iterable[Run]) -> dict[tuple[int, int], RunStep]:
    """The stored steps into these runs, by the ids of the runs before and after."""
    steps = RunStep.objects.filter(after__in=[run.pk for run in runs])
    return {(step.before_id, step.after_id): step for step in steps}


def counted_steps(runs: Iterable[int]) -> dict[tuple[int, int], CountedStep]:
    """Those into the runs with these ids that hold, by the ids of the runs before and after."""
    rows = _counted_steps(sorted(runs))
    return {(before, after): CountedStep(*figures) for before, after, *figures in rows}


@prepared_query
def _counted_steps(runs: Sequence[int]) -> models.QuerySet[RunStep, Any]:
    steps = RunStep.objects.filter(
        after__pk__in=runs,
        scorers__isnull=False,
        before_finished_at=models.F("before__finished_at"),
        after_finished_at=models.F("after__finished_at"),
    )
    return steps.values_list("before", "after", *CountedStep._fields)
