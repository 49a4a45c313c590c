"""What is kept of runs in time, so that a drift page need not read their rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from django.db import models

from scoring.models.dataset import Dataset
from scoring.models.pairs import Pairs
from scoring.models.run import OutputSet, Run, RunScorer, RunState
from scoring.models.score import Verdict


class Flips(NamedTuple):
    """Cases (each trial counted) that have a verdict in both runs, and how many flipped: over all
    scorers, or those of one scorer.
    """

    pairs: int
    fixed: int  # fail → pass
    broke: int  # pass → fail


def count_flips(before: Run, after: Run) -> Flips:
    """Counted from the verdicts; cases are matched by key."""
    counts = Pairs(before, after).counts()
    return Flips(counts.pairs, counts.fixed, counts.broke)


def count_scorer_flips(before: Run, after: Run) -> dict[str, Flips]:
    """For each scorer of both runs, by name, counted from its own verdicts."""
    names = [set(run.scorers.values_list("name", flat=True)) for run in (before, after)]
    pairs = Pairs(before, after)
    return {name: _flips(pairs.verdicts_of(name)) for name in sorted(names[0] & names[1])}


def _flips(counts: Mapping[tuple[int, int], int]) -> Flips:
    fixed = counts.get((Verdict.FAIL, Verdict.PASS), 0)
    return Flips(sum(counts.values()), fixed, counts.get((Verdict.PASS, Verdict.FAIL), 0))


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
    def flips(self) -> Flips:
        return Flips(self.pairs, self.fixed, self.broke)

    def flips_of(self, scorer: str) -> Flips:
        """Of its own verdicts; none where one of the runs has not the scorer."""
        return Flips(*(self.scorers or {}).get(scorer, (0, 0, 0)))

    def holds_for(self, before: Run, after: Run) -> bool:
        """Whether all is counted and neither run has been scored again since."""
        seen = self.before_finished_at, self.after_finished_at
        return self.scorers is not None and seen == (before.finished_at, after.finished_at)


class RunDrift(models.Model):
    """What a drift page says of one run besides its summaries.

    `tags` holds figures of the commonest tags, by scorer name and tag: [n, mean, pass rate]; they
    hold for the run as finished at `run_finished_at`. Over a sample of cases, `similarity` (mean,
    0..1, of `compared` texts) is that to the outputs of `against`, and `distinct` of `sampled`
    texts differ from each other. A figure is None where no text was there to look at.
    """

    run = models.OneToOneField(Run, models.CASCADE, related_name="drift")
    run_finished_at = models.DateTimeField()
    tags = models.JSONField(default=dict)
    against = models.ForeignKey(OutputSet, models.SET_NULL, null=True, related_name="+")
    similarity = models.FloatField(null=True)
    compared = models.PositiveIntegerField(default=0)
    sampled = models.PositiveIntegerField(default=0)
    distinct = models.PositiveIntegerField(default=0)

    class Meta:
        verbose_name_plural = "drift of runs"

    def __str__(self) -> str:
        return f"drift of {self.run}"

    @property
    def distinct_share(self) -> float | None:
        return self.distinct / self.sampled if self.sampled else None


def points_in_time(
    dataset: Dataset, *, scorer: str = "", series: str = ""
) -> models.QuerySet[RunScorer]:
    """The scorers of finished runs, oldest first by the outputs' dates.

    Run, output set, versions, figures and what is kept of the run's drift are joined, but for
    the figures that no drift line shows.
    """
    found = RunScorer.objects.filter(
        run__output_set__version__dataset=dataset,
        run__state=RunState.FINISHED,
        summary__isnull=False,
    )
    found = found.filter(name=scorer) if scorer else found
    found = found.filter(run__output_set__series=series) if series else found
    joined = found.select_related("run__output_set__version", "run__drift", "version", "summary")
    unseen = ("histogram", "causes", "error_causes", "trials")
    lean = joined.defer(*(f"summary__{name}" for name in unseen))
    return lean.order_by("run__output_set__dated", "run__id")


def steps_into(runs: Iterable[Run]) -> dict[tuple[int, int], RunStep]:
    """The kept steps into these runs, by the ids of the runs before and after."""
    found = RunStep.objects.filter(after__in=[run.pk for run in runs])
    return {(step.before_id, step.after_id): step for step in found}
