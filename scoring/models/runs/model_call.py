"""Model calls with their raw replies, cached embeddings, and A/A checks of judges."""

from __future__ import annotations

from math import sqrt
from typing import Self

from django.db import models
from django.db.models.functions import Coalesce

from scoring.core.stats.descriptive import t_quantile
from scoring.models.base import AddressedRow
from scoring.models.runs.run import Run
from scoring.models.scorers.scorer import ScorerVersion
from scoring.models.team.team import Team, User


class CallPurpose(models.TextChoices):
    JUDGE = "judge"
    GENERATE = "generate"
    TRY = "try"  # try it, a connection test, an A/A check: paid by no run


class ModelCallQuerySet(models.QuerySet["ModelCall"]):
    def paid_by(self, run: Run) -> Self:
        return self.filter(run=run)

    def with_spent_usd(self) -> Self:
        """With `spent_usd`: what the call cost, or an estimate where no usage is reported."""
        return self.annotate(spent_usd=Coalesce("cost_usd", "estimated_cost_usd"))

    def spent_usd(self) -> float:
        """What all of them cost, estimates included."""
        return self.with_spent_usd().aggregate(sum=models.Sum("spent_usd"))["sum"] or 0.0


class ModelCall(models.Model):
    """One paid call of a model and its raw reply; written as soon as the reply is there.

    `cache_key` is SHA-256 over everything that decides the reply, the team included; it is None
    for a reply that is no use (refused, cut off, faulty) and so is asked for again. `reply` is what
    came, as it came; of a reply that is no use at most 4 KB. A cache hit adds no row. `removed_at`
    is when retention rules took the reply, and the key with it.
    """

    team = models.ForeignKey(Team, models.CASCADE, related_name="model_calls", db_index=False)
    run = models.ForeignKey(Run, models.SET_NULL, null=True, related_name="model_calls")
    purpose = models.CharField(max_length=10, choices=CallPurpose.choices)
    cache_key = models.CharField(max_length=64, null=True, unique=True)
    connection_name = models.CharField(max_length=100)
    model = models.CharField(max_length=200)
    reply = models.TextField(default="")
    refusal = models.TextField(default="")
    finish = models.CharField(max_length=40, default="")
    fault = models.CharField("code of a faulty reply", max_length=40, default="", blank=True)
    tokens_in = models.PositiveIntegerField(null=True)
    tokens_out = models.PositiveIntegerField(null=True)
    cost_usd = models.FloatField(null=True)
    estimated_cost_usd = models.FloatField(
        null=True, help_text="By the length of the texts, where no usage is reported."
    )
    latency_ms = models.FloatField(null=True)
    attempts = models.PositiveSmallIntegerField(default=1)
    removed_at = models.DateTimeField(null=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ModelCallQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.model} {self.purpose} {self.pk}"


class Embedding(models.Model):
    """The vector of one text, under the SHA-256 of everything that decides it.

    `vector` is float32, little-endian, of length 1; empty for a text without a vector.
    """

    cache_key = models.CharField(max_length=64, primary_key=True)
    vector = models.BinaryField()
    is_cut = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.cache_key[:12]


class JudgeVarianceQuerySet(models.QuerySet["JudgeVariance"]):
    def latest_for(self, version: ScorerVersion) -> JudgeVariance | None:
        """The newest check of this version that gives a band, on whatever run it was made."""
        checks = self.filter(version=version, band__isnull=False).order_by("-pk")
        return checks.select_related("run", "requested_by").first()


class JudgeVariance(AddressedRow):
    """An A/A check: a judge asked again about unchanged outputs of a run.

    Over the `n` outputs scored both times: `mean_difference` and `deviation` are mean and sample
    standard deviation of second minus first score, `flips` counts changed verdicts. `pairs` holds
    [first, second] of each. `band` is the half-width within which 95 % of mean
    differences of that many outputs lie by noise alone: t(n - 1) · deviation / √n. `model_names`
    are the models that had answered in the run, empty where not known.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="variance_checks")
    version = models.ForeignKey(ScorerVersion, models.CASCADE, related_name="variance_checks")
    requested_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    n = models.PositiveIntegerField(default=0)
    errors = models.PositiveIntegerField(default=0)
    mean_difference = models.FloatField(null=True)
    deviation = models.FloatField(null=True)
    band = models.FloatField(null=True)
    flips = models.PositiveIntegerField(default=0)
    model_names = models.JSONField(default=list)
    pairs = models.JSONField(default=list)

    objects = JudgeVarianceQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        verbose_name = "judge noise check"
        verbose_name_plural = "judge noise checks"

    def __str__(self) -> str:
        return f"A/A check of {self.version} on {self.run}"

    def band_for(self, count: int) -> float | None:
        """The band around 0 for the difference of two means over the same `count` outputs.

        Both means are of outputs judged once, as two runs are compared. For one mean alone, as on a
        line over time, divide by √2: half of the variance of a difference is each answer's own.
        """
        if self.deviation is None or self.n < 2 or count < 1:
            return None
        return t_quantile(self.n - 1) * self.deviation / sqrt(count)

    def flip_share(self, threshold: float) -> float:
        """The share of outputs that pass by one of both scores only."""
        flips = sum((first >= threshold) != (second >= threshold) for first, second in self.pairs)
        return flips / len(self.pairs) if self.pairs else 0.0
