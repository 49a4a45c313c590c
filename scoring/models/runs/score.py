"""The results of scoring: a row per output and scorer, a verdict per output, a summary."""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any, NamedTuple

from django.db import models
from django.db.models import Q

from scoring.core import contract
from scoring.core.contract import Result
from scoring.core.stats.descriptive import Estimate, estimate_from_moments
from scoring.models.runs.run import Output, Run, RunScorer


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
    code, so that errors can be counted by cause. The database would look each row's scorer up at
    COMMIT, which takes as long as storing it: whoever removes a run first removes its shards, with
    which alone rows are stored.
    """

    scorer = models.ForeignKey(
        RunScorer, models.CASCADE, related_name="scores", db_index=False, db_constraint=False
    )
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
        return _result(self)


class ScoreRow(NamedTuple):
    """The columns of a score for a table of cases: hundreds of objects would take as long as all
    the rest. Without `metadata_json` where the table does not show it.
    """

    output_id: int
    scorer_id: int
    status: int
    score: float | None
    verdict: int | None
    code: str
    reason: str
    metadata_json: str = "{}"

    @property
    def result(self) -> Result:
        """The row as the scorer's answer."""
        return _result(self)


def _result(row: Score | ScoreRow) -> Result:
    statuses: tuple[contract.Status, ...] = ("scored", "error", "skipped")
    verdicts: dict[int | None, contract.Verdict | None] = {0: "pass", 1: "fail"}
    verdict, metadata = verdicts.get(row.verdict), dict(json.loads(row.metadata_json))
    return Result(statuses[row.status], row.score, verdict, row.reason, metadata)


class CaseVerdict(models.Model):
    """The verdict on one output over all scorers of a run, in the dataset's order.

    Where cases have several trials, `of_case` is the verdict on the case: each scorer's by the mean
    of the trials. It stands on the case's first row alone, and is None on all others.
    """

    run = models.ForeignKey(
        Run, models.CASCADE, related_name="verdicts", db_index=False, db_constraint=False
    )
    output = models.ForeignKey(
        Output, models.CASCADE, related_name="verdicts", db_index=False, db_constraint=False
    )
    position = models.PositiveIntegerField()
    trial = models.PositiveSmallIntegerField(default=0)
    verdict = models.PositiveSmallIntegerField(choices=Verdict.choices)
    of_case = models.PositiveSmallIntegerField(choices=Verdict.choices, null=True)
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

    Figures are over cases, each counted once, by the mean score of those of its trials that have
    one. `n` counts the cases of the dataset version, those without an output included:
    n = scored + errors + skipped + missing outputs, where `scored` cases have a score in any trial.
    `mean` and `variance` (of the sample, None below two cases) are over the scored cases only.

    Outputs are counted, each trial of a case, by `histogram` in 20 equal bins, by `causes` (errors
    and skips by code), `error_causes` (the errors alone) and `faults` (scored outputs that fail for
    a code, such as `invalid_json`). `trials` holds further figures where cases have several
    trials, see `scoring.engine.runs.trial_figures`, and there `outputs` holds how many outputs
    there are, are scored and pass. `classes` is the confusion matrix of a scorer with classes, see
    `scoring.engine.runs.confusion`.
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
    faults = models.JSONField(default=dict)
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
    def outputs_scored(self) -> int:
        """How many outputs have a score, each trial counted."""
        return int(self.trials["outputs"]["scored"]) if self.trials else self.scored

    @property
    def outputs_passed(self) -> int:
        """How many outputs pass, each trial counted."""
        return int(self.trials["outputs"]["passed"]) if self.trials else self.passed

    @property
    def unscored(self) -> float:
        """How many of the `n` cases have no score; a trial that failed to run counts as its share
        of its case.
        """
        return self.n - self.scored + float(self.trials.get("unscored", 0))

    @property
    def problems(self) -> dict[str, int]:
        """How many outputs have each code: of an error, of a skip, or of a fault that scores 0."""
        return dict(Counter(self.causes) + Counter(self.faults))

    @property
    def mean_estimate(self) -> Estimate | None:
        """The mean with its 95 % interval; None where nothing was scored."""
        return estimate_from_moments(self.scored, self.mean, self.variance)

    @property
    def standard_error(self) -> float | None:
        """Of the mean; None below two scores."""
        return None if self.variance is None else math.sqrt(self.variance / self.scored)


class ScoreHistogram(models.Model):
    """How many scores of a run's scorer lie in each thousandth of 0..1, see
    `scoring.core.stats.score_distribution`; of cases with several trials their means.

    Derived like the summary, and apart from it, as only curves over thresholds need so many
    numbers. A run that was summarised before there were such rows has none.
    """

    scorer = models.OneToOneField(RunScorer, models.CASCADE, related_name="score_histogram")
    counts = models.JSONField()

    def __str__(self) -> str:
        return str(self.scorer)
