"""What scoring left behind: a row per output and scorer, a verdict per output, a summary."""

from __future__ import annotations

import json
import math
from typing import Any

from django.db import models
from django.db.models import Q

from scoring.core import contract
from scoring.core.contract import Result
from scoring.core.stats import Estimate, mean_estimate
from scoring.models.run import Output, Run, RunScorer


class Status(models.IntegerChoices):
    SCORED = 0, "scored"
    ERROR = 1, "error"
    SKIPPED = 2, "skipped"


class Verdict(models.IntegerChoices):
    """Case verdicts; a single score knows only pass and fail."""

    PASS = 0, "pass"
    FAIL = 1, "fail"
    ERROR = 2, "error"
    SKIPPED = 3, "skipped"


class Score(models.Model):
    """What one scorer of a run said of one output. Unique per run, output and scorer version.

    The verdict is the one at scoring time and never changes. `code` repeats the metadata's stable
    code, so that errors can be counted by cause.
    """

    scorer = models.ForeignKey(RunScorer, models.CASCADE, related_name="scores", db_index=False)
    output = models.ForeignKey(
        Output, models.CASCADE, related_name="scores", db_index=False, db_constraint=False
    )
    status = models.PositiveSmallIntegerField(choices=Status.choices)
    score = models.FloatField(null=True)
    verdict = models.PositiveSmallIntegerField(choices=Verdict.choices, null=True)
    code = models.CharField(max_length=40, default="", blank=True)
    reason = models.TextField(default="", blank=True)
    metadata_json = models.TextField("metadata", default="{}")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["scorer", "output"], name="score_once"),
            models.CheckConstraint(
                # SQLite turns NaN into NULL silently, and a CHECK that comes out NULL passes.
                condition=Q(score__isnull=False, verdict__isnull=False)
                & Q(status=Status.SCORED, score__gte=0, score__lte=1, verdict__lte=1)
                | Q(status__gt=Status.SCORED, score=None, verdict=None),
                name="score_is_finite_and_unit",
            ),
        ]
        indexes = [models.Index(fields=["scorer", "score", "output"], name="score_by_size")]

    def __str__(self) -> str:
        return f"{self.scorer}: {self.score}"

    @property
    def metadata(self) -> dict[str, Any]:
        return dict(json.loads(self.metadata_json))

    @property
    def result(self) -> Result:
        """The row as the scorer's answer."""
        statuses: tuple[contract.Status, ...] = ("scored", "error", "skipped")
        verdicts: dict[int | None, contract.Verdict | None] = {0: "pass", 1: "fail"}
        verdict = verdicts.get(self.verdict)
        return Result(statuses[self.status], self.score, verdict, self.reason, self.metadata)


class CaseVerdict(models.Model):
    """The verdict on one output over all scorers of a run, in the dataset's order."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="verdicts", db_index=False)
    output = models.ForeignKey(
        Output, models.CASCADE, related_name="verdicts", db_index=False, db_constraint=False
    )
    position = models.PositiveIntegerField()
    trial = models.PositiveSmallIntegerField(default=0)
    verdict = models.PositiveSmallIntegerField(choices=Verdict.choices)
    missing_expected = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "position", "trial"], name="case_verdict_once")
        ]
        indexes = [
            models.Index(fields=["run", "verdict", "position", "trial"], name="cases_by_verdict")
        ]

    def __str__(self) -> str:
        return f"{self.run} #{self.position}: {self.get_verdict_display()}"


class RunSummary(models.Model):
    """One scorer's figures over a run: derived, and rebuilt from the score rows at any time.

    `mean` and `variance` (of the sample, None below two scores) are over the scored outputs only;
    `histogram` counts scores in 20 equal bins, `causes` counts errors and skips by code,
    `error_causes` the errors alone. `trials` holds the figures over cases where cases have several
    trials, see `scoring.engine.trials`, and `classes` the confusion matrix of a scorer with
    classes, see `scoring.engine.confusion`.
    """

    scorer = models.OneToOneField(RunScorer, models.CASCADE, related_name="summary")
    n = models.PositiveIntegerField()
    scored = models.PositiveIntegerField()
    errors = models.PositiveIntegerField()
    skipped = models.PositiveIntegerField()
    passed = models.PositiveIntegerField()
    mean = models.FloatField(null=True)
    variance = models.FloatField(null=True)
    histogram = models.JSONField(default=list)
    causes = models.JSONField(default=dict)
    error_causes = models.JSONField(default=dict)
    trials = models.JSONField(default=dict)
    classes = models.JSONField(default=dict)

    class Meta:
        verbose_name_plural = "run summaries"

    def __str__(self) -> str:
        return f"{self.scorer}: {self.scored} of {self.n}"

    @property
    def pass_rate(self) -> float | None:
        """Passed over scored, None where nothing was scored."""
        return self.passed / self.scored if self.scored else None

    @property
    def mean_estimate(self) -> Estimate | None:
        """The mean with its 95 % interval; None where nothing was scored."""
        if self.mean is None:
            return None
        squares = (self.variance or 0.0) * (self.scored - 1) + self.mean**2 * self.scored
        return mean_estimate(self.scored, self.mean * self.scored, squares)

    @property
    def standard_error(self) -> float | None:
        """Of the mean; None below two scores."""
        return None if self.variance is None else math.sqrt(self.variance / self.scored)
