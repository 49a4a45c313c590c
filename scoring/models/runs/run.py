"""Output sets and runs, with their scorers, attempts and shards."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, Final, Self

from django.apps import apps
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Coalesce, Least
from django.utils import timezone

from scoring.core.search_text import fold_text
from scoring.models.base import AddressedRow, validate_name
from scoring.models.data.dataset import RETENTION, Case, Dataset, DatasetVersion
from scoring.models.prepared_query import prepared_query
from scoring.models.scorers.scorer import ScorerVersion
from scoring.models.scorers.suite import Suite
from scoring.models.scorers.threshold_change import UNIT
from scoring.models.search_text import SearchTextField
from scoring.models.team.team import Team, User
from scoring.models.written_json import WrittenJSONField

UNJUDGED: Final = "unjudged"  # beside the verdicts of outputs
MAX_ERROR_SHARE: Final = 0.05  # of cases; above it a run's figures are not to be gone by
CLOCK_TOLERANCE: Final = timedelta(days=1)  # by which clocks and time zones may differ
#: Of runs: the newest outputs first, and of runs over the same outputs the newest.
NEWEST_FIRST: Final = ("-output_set__series_time", "-output_set", "-pk")
OLDEST_FIRST: Final = ("output_set__series_time", "output_set", "pk")


class OutputSetState(models.TextChoices):
    LOADING = "loading"
    GENERATING = "generating"  # a run makes them by calling a model
    READY = "ready"
    EMPTIED = "emptied"  # the team's retention rules took its texts


#: What an output says in place of its text.
TEXT_REMOVED: Final = "The text was removed by the team's retention rules."


class OutputSetQuerySet(models.QuerySet["OutputSet"]):
    def ready(self) -> Self:
        """Those that can be scored, exported and copied."""
        return self.filter(state=OutputSetState.READY)

    def whole(self) -> Self:
        """Those that nothing is still adding to, with or without their texts."""
        return self.filter(state__in=(OutputSetState.READY, OutputSetState.EMPTIED))

    def visible_to(self, user: User) -> Self:
        teams = Team.objects.of(user)
        return self.filter(version__dataset__team__in=teams, version__dataset__deleted_at=None)

    def for_list(self) -> Self:
        """Newest first, with `version` joined and the attribute `run_count`."""
        runs = models.Count("runs", filter=models.Q(runs__deleted_at=None))
        return (
            self.select_related("version__dataset__latest").annotate(run_count=runs).order_by("-id")
        )

    def to_score(self, dataset: Dataset) -> Self:
        """The whole output sets over any version of the dataset, newest first, `version` joined."""
        output_sets = self.ready().filter(version__dataset=dataset)
        return output_sets.select_related("version__dataset__latest").order_by("-id")


def is_future_date(dated: datetime) -> bool:
    """Whether outputs cannot have been made then, because it is later than now."""
    return dated > timezone.now() + CLOCK_TOLERANCE


class OutputSet(AddressedRow):
    """The outputs of one model or prompt version over one dataset version.

    `dated` is when they were made, as people say. `series_time` is their place in the series: that
    date, but no later than they came, lest a date in the future hides whatever comes after it.
    `emptied_at` is when the last of its texts was removed.
    """

    version = models.ForeignKey(DatasetVersion, models.CASCADE, related_name="output_sets")
    state = models.CharField(
        max_length=10, choices=OutputSetState.choices, default=OutputSetState.LOADING
    )
    name = models.CharField(max_length=120, blank=True, validators=[validate_name])
    series = models.CharField(
        max_length=120,
        validators=[validate_name],
        help_text="Runs of one series make one drift line.",
    )
    dated = models.DateTimeField(default=timezone.now)
    series_time = models.GeneratedField(
        expression=Least("dated", "created_at"),
        output_field=models.DateTimeField(),
        db_persist=True,
    )
    labels = WrittenJSONField(default=dict, blank=True)
    source_name = models.CharField(max_length=255, blank=True)
    copied_from = models.ForeignKey(
        "self", models.SET_NULL, null=True, blank=True, editable=False, related_name="copies",
        help_text="The same outputs over an older version of the dataset.",
    )  # fmt: skip
    original = models.ForeignKey(
        "self", models.SET_NULL, null=True, blank=True, editable=False, related_name="+",
        help_text="As what they were first stored, where they were carried over.",
    )  # fmt: skip
    output_count = models.PositiveIntegerField(default=0)
    emptied_at = models.DateTimeField(null=True, blank=True, editable=False)
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")

    objects = OutputSetQuerySet.as_manager()

    def __str__(self) -> str:
        return self.name or self.series

    @property
    def identity(self) -> int:
        """The same for all sets of the same outputs, over whatever version; see `identity_of`."""
        return self.original_id or self.pk


def identity_of(output_set: str) -> Coalesce:
    """The `identity` of the output set that is found under this name, for a query."""
    return Coalesce(F(f"{output_set}__original"), F(output_set))


def text_condition(text: str, output: str = "") -> Q:
    """That an output, found under the prefix `output`, holds this text in any case of letters."""
    folded = fold_text(text)
    as_stored = {f"{output}search_text": None, f"{output}text__holds": folded}
    return Q(**as_stored) | Q(**{f"{output}search_text__holds": folded})


class OutputQuerySet(models.QuerySet["Output"]):
    def matching(self, text: str) -> Self:
        """Those that hold the text, whatever the case of its letters."""
        return self.filter(text_condition(text))


class Output(models.Model):
    """What was answered for one case in one trial.

    `text` is None where nothing was produced, or it was removed; `error` then says why. `is_json`
    tells a stored JSON value from plain text. Bulk rows carry no database constraint on `case`:
    removing a failed import would otherwise search this table once per case. Nor on `output_set`,
    which the database would look up for each row: whoever stores rows locks the set.
    """

    output_set = models.ForeignKey(
        OutputSet, models.CASCADE, related_name="outputs", db_index=False, db_constraint=False
    )
    case = models.ForeignKey(
        Case, models.CASCADE, related_name="outputs", db_index=False, db_constraint=False
    )
    trial = models.PositiveSmallIntegerField(default=0)
    text = models.TextField(null=True)
    is_json = models.BooleanField(default=False)
    error = models.TextField(blank=True, default="")
    latency_ms = models.FloatField(null=True)
    tokens_in = models.PositiveIntegerField(null=True)
    tokens_out = models.PositiveIntegerField(null=True)
    cost_usd = models.FloatField(null=True)
    search_text = SearchTextField("text")

    objects = OutputQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["output_set", "case", "trial"], name="output_once")
        ]

    def __str__(self) -> str:
        return f"{self.case} trial {self.trial}"

    @property
    def value(self) -> Any:
        """What was answered: a text, or the JSON value; None where nothing was produced."""
        is_json = self.is_json and self.text is not None
        return json.loads(self.text or "") if is_json else self.text


class RunState(models.TextChoices):
    QUEUED = "queued"
    RUNNING = "running"
    CANCELLING = "cancelling"
    CANCELLED = "cancelled"
    FINISHED = "finished"


UNFINISHED = (RunState.QUEUED, RunState.RUNNING, RunState.CANCELLING)


class RunQuerySet(models.QuerySet["Run"]):
    def visible_to(self, user: User) -> Self:
        return self.filter(team__in=Team.objects.of(user))

    def for_list(self) -> Self:
        """Newest first, with output set, version and dataset joined and the attribute
        `is_baseline`.
        """
        pins = apps.get_model("scoring", "Baseline").objects.filter(run=models.OuterRef("pk"))
        runs = self.annotate(is_baseline=models.Exists(pins))
        return runs.select_related("output_set__version__dataset__latest").order_by("-id")

    def of_dataset(self, dataset: Dataset) -> Self:
        return self.filter(output_set__version__dataset=dataset)

    def unfinished(self) -> Self:
        return self.filter(state__in=UNFINISHED)

    def ended(self) -> Self:
        """Finished or cancelled."""
        return self.exclude(state__in=UNFINISHED)

    def unarchived(self) -> Self:
        """Those that lists show unless others are asked for."""
        return self.filter(archived_at=None)

    def deleted(self) -> Self:
        """Those that can still be brought back; only `Run.with_deleted` has them.

        Those of a deleted dataset come back with it alone.
        """
        since = timezone.now() - RETENTION
        return self.filter(deleted_at__gte=since, output_set__version__dataset__deleted_at=None)


_Runs = models.Manager.from_queryset(RunQuerySet)


class UndeletedRuns(_Runs["Run"]):
    """The one door to runs: those that nobody has deleted."""

    def get_queryset(self) -> models.QuerySet[Run]:
        return super().get_queryset().filter(deleted_at=None)


class Run(AddressedRow):
    """One output set scored by one frozen suite.

    The counts are of case verdicts, each case counted once by the mean of its trials; None until
    the run has ended, and can be rebuilt from rows.
    `lease_owner` and `lease_expires_at` are the lease of the process that works on it.
    `stall_reason` says why its calls of a model pause, and is empty while they do not. `failure`
    says why the worker gave the run up, and is empty where it did not. A deleted run is kept for a
    while, and can only be restored; retention rules count its days anew from then.
    """

    team = models.ForeignKey(Team, models.CASCADE, related_name="runs")
    output_set = models.ForeignKey(OutputSet, models.CASCADE, related_name="runs")
    suite = models.ForeignKey(Suite, models.SET_NULL, null=True, blank=True, related_name="runs")
    suite_name = models.CharField(max_length=120, blank=True)
    suite_revision = models.PositiveIntegerField(null=True)
    thresholds_note = models.TextField(
        blank=True, default="", editable=False,
        help_text="Where a suite file's thresholds counted instead of the suite's.",
    )  # fmt: skip
    name = models.CharField(max_length=120, validators=[validate_name])
    state = models.CharField(max_length=10, choices=RunState.choices, default=RunState.QUEUED)
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    lease_owner = models.CharField(max_length=80, blank=True, default="")
    lease_expires_at = models.DateTimeField(null=True, blank=True)
    pass_count = models.PositiveIntegerField(null=True)
    fail_count = models.PositiveIntegerField(null=True)
    error_count = models.PositiveIntegerField(null=True)
    skipped_count = models.PositiveIntegerField(null=True)
    missing_expected_count = models.PositiveIntegerField(null=True)
    empty_expected_count = models.PositiveIntegerField(
        null=True, help_text="Cases that expect an empty text, which `includes` finds everywhere."
    )
    output_verdicts = models.JSONField(
        default=dict, editable=False,
        help_text="How many outputs have each verdict, where cases have several trials, and how "
        "many trials of judged cases have none, each as a share of its case.",
    )  # fmt: skip
    missing_output_count = models.PositiveIntegerField(
        null=True, help_text="Cases of the dataset version that have no output in the run."
    )
    cost_usd = models.FloatField(null=True, help_text="Of the outputs whose cost is known.")
    judge_calls = models.PositiveIntegerField(null=True, help_text="Paid ones; cached are free.")
    judge_tokens_in = models.PositiveBigIntegerField(null=True)
    judge_tokens_out = models.PositiveBigIntegerField(null=True)
    judge_cost_usd = models.FloatField(null=True, help_text="Of the calls whose price is known.")
    estimated_cost_usd = models.FloatField(
        null=True, help_text="Of the calls whose usage the endpoint does not report."
    )
    latencies_ms = models.JSONField(
        default=dict, editable=False, help_text="Percentiles of the outputs' latency: p50 to p99."
    )
    output_tokens_in = models.PositiveBigIntegerField(null=True, editable=False)
    output_tokens_out = models.PositiveBigIntegerField(null=True, editable=False)
    budget_usd = models.FloatField(
        null=True, blank=True, help_text="No model is called once this much is spent."
    )
    stall_reason = models.CharField(max_length=200, blank=True, default="", editable=False)
    failure = models.CharField(max_length=500, blank=True, default="", editable=False)
    by_program = models.BooleanField(
        default=False, editable=False, help_text="Whether it was last started through a token."
    )

    note = models.TextField(blank=True, default="")
    archived_at = models.DateTimeField(null=True, blank=True, editable=False)
    deleted_at = models.DateTimeField(null=True, blank=True, editable=False)
    restored_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects = UndeletedRuns()
    with_deleted = RunQuerySet.as_manager()
    later_labels: Any  # a Relabel or None, of a run that `attach_later_labels` was given

    class Meta:
        indexes = [models.Index(fields=["state"], name="run_by_state")]

    def __str__(self) -> str:
        return self.name

    @property
    def verdict_counts(self) -> dict[str, int | None]:
        """How many cases have each verdict, by its name; None until the run has ended."""
        return {
            "pass": self.pass_count,
            "fail": self.fail_count,
            "error": self.error_count,
            "skipped": self.skipped_count,
        }

    @property
    def has_trials(self) -> bool:
        """Whether its cases have several trials; False until the run has ended."""
        return bool(self.output_verdicts)

    @property
    def output_counts(self) -> dict[str, int | None]:
        """How many outputs have each verdict, by its name; None until the run has ended."""
        by_output = {name: self.output_verdicts.get(name) for name in self.verdict_counts}
        return by_output if self.output_verdicts else self.verdict_counts

    @property
    def output_count(self) -> int | None:
        """How many outputs have a verdict; None until the run has ended."""
        counts = [count for count in self.output_counts.values() if count is not None]
        return sum(counts) if counts else None

    @property
    def case_count(self) -> int | None:
        """How many cases have a verdict; None until the run has ended."""
        counts = [count for count in self.verdict_counts.values() if count is not None]
        return sum(counts) if counts else None

    @property
    def has_many_errors(self) -> bool:
        """Whether more cases have an error than the run's figures bear."""
        return (self.error_count or 0) > MAX_ERROR_SHARE * (self.case_count or 0)

    @property
    def has_only_errors(self) -> bool:
        """Whether the run has finished and every case has an error."""
        is_finished = self.state == RunState.FINISHED
        return is_finished and bool(self.error_count) and self.error_count == self.case_count

    @property
    def expected_count(self) -> int:
        """How many cases had a verdict if no output were missing."""
        return (self.case_count or 0) + (self.missing_output_count or 0)

    @property
    def unjudged(self) -> float:
        """How many of the expected cases neither pass nor fail; a trial without a verdict counts as
        its share of its case.
        """
        judged = (self.pass_count or 0) + (self.fail_count or 0)
        lost: float = self.output_verdicts.get(UNJUDGED, 0)
        return self.expected_count - judged + lost

    @property
    def is_unfinished(self) -> bool:
        return self.state in UNFINISHED

    @cached_property
    def frozen_scorers(self) -> list[RunScorer]:
        """In their order, with their versions; read once, as nothing of them ever changes."""
        return self._own(_frozen_scorers(self.pk))

    def read_scorers(self) -> list[RunScorer]:
        """As `with_summary` has them."""
        return self._own(_scorers_with_summary(self.pk))

    def _own(self, scorers: list[RunScorer]) -> list[RunScorer]:
        for scorer in scorers:
            scorer.run = self
        return scorers


@prepared_query
def _frozen_scorers(run: int) -> models.QuerySet[RunScorer]:
    return RunScorer.objects.filter(run=run).select_related("version")


@prepared_query
def _scorers_with_summary(run: int) -> models.QuerySet[RunScorer]:
    return RunScorer.objects.filter(run=run).with_summary()


class RunScorerQuerySet(models.QuerySet["RunScorer"]):
    def with_summary(self) -> Self:
        """In the run's order, with scorer version, scorer and, where there is one, summary."""
        return self.select_related("version__scorer", "summary").order_by("position", "id")


_RunScorers = models.Manager.from_queryset(RunScorerQuerySet)


class UndeletedRunScorers(_RunScorers["RunScorer"]):
    """Those of runs that nobody has deleted."""

    def get_queryset(self) -> models.QuerySet[RunScorer]:
        return super().get_queryset().filter(run__deleted_at=None)


class RunScorer(models.Model):
    """A scorer version with its threshold, frozen into a run."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="scorers")
    version = models.ForeignKey(ScorerVersion, models.PROTECT, related_name="run_scorers")
    name = models.CharField(max_length=120)
    threshold = models.FloatField(validators=UNIT)
    position = models.PositiveSmallIntegerField(default=0)

    objects = UndeletedRunScorers()
    with_deleted = RunScorerQuerySet.as_manager()

    class Meta:
        ordering = ["position", "id"]
        constraints = [
            models.UniqueConstraint(fields=["run", "version"], name="run_scorer_once"),
            models.UniqueConstraint(fields=["run", "name"], name="run_scorer_name_once"),
        ]

    def __str__(self) -> str:
        return self.name


class AttemptKind(models.TextChoices):
    GENERATE = "generate"
    SCORE = "score"
    RETRY = "retry"


class Attempt(models.Model):
    """One go at a run: the first scores everything, a retry reopens only the error rows.

    With a `code` it reopens those of this cause alone.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="attempts")
    number = models.PositiveSmallIntegerField()
    kind = models.CharField(max_length=10, choices=AttemptKind.choices, default=AttemptKind.SCORE)
    code = models.CharField(max_length=40, default="", blank=True)
    started_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["run_id", "number"]
        constraints = [models.UniqueConstraint(fields=["run", "number"], name="attempt_once")]

    def __str__(self) -> str:
        return f"{self.run} {self.kind} {self.number}"


class Shard(models.Model):
    """A range of output ids, both ends included, scored and stored in one transaction.

    In an attempt that generates outputs the ids are those of cases.
    `done_at` is set in that transaction, so progress counted from these rows is never ahead of
    the scores. `try_count` counts failures: a shard that keeps killing its process is given up.

    Where a broker hands shards to workers of many machines, `lease_owner` and `lease_expires_at`
    are the lease of the process that scores it, `start_count` counts how often one began, and
    `fault` says why the last one failed, and is empty where it did not.
    """

    attempt = models.ForeignKey(Attempt, models.CASCADE, related_name="shards", db_index=False)
    number = models.PositiveIntegerField()
    first_output = models.BigIntegerField()
    last_output = models.BigIntegerField()
    output_count = models.PositiveIntegerField()
    try_count = models.PositiveSmallIntegerField(default=0)
    start_count = models.PositiveSmallIntegerField(default=0)
    lease_owner = models.CharField(max_length=80, blank=True, default="")
    lease_expires_at = models.DateTimeField(null=True, blank=True)
    fault = models.TextField(blank=True, default="")
    done_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["attempt_id", "number"]
        constraints = [models.UniqueConstraint(fields=["attempt", "number"], name="shard_once")]

    def __str__(self) -> str:
        return f"{self.attempt} shard {self.number}"
