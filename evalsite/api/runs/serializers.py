"""Runs: what is sent, and what is shown of them."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from drf_spectacular.utils import extend_schema_field, inline_serializer
from rest_framework import serializers
from rest_framework.request import Request

from evalsite.api.fields import (
    BodySerializer,
    BooleanField,
    DateTimeField,
    IntegerField,
    JsonField,
    JsonObjectField,
    ManyField,
    NameField,
    NumberField,
    TextField,
    interval_field,
)
from scoring.core.llm.prompt_template import MAX_CHARACTERS
from scoring.engine.outputs.output_recipe import PARAMETERS
from scoring.engine.runs.progress import run_progress
from scoring.engine.runs.run_errors import find_run_errors
from scoring.models import Relabel, Run, RunScorer, RunState, RunSummary, Verdict
from scoring.models.data.dataset import KEY_LENGTH
from scoring.models.runs.generation import MAX_TRIALS
from scoring.models.runs.relabel import describe_relabel
from scoring.models.runs.run import is_future_date

MAX_OUTPUTS = 10_000
MAX_TRIAL = 32_767
MAX_COUNT = 2_147_483_647
MAX_SCORERS = 100


class NewOutput(BodySerializer):
    key = TextField(allow_blank=False, max_length=KEY_LENGTH, help_text="The case's key.")
    output = JsonField(
        required=False, help_text="A text or a JSON value. Absent or null, nothing was produced."
    )
    error = TextField(required=False, help_text="Why nothing was produced.")
    trial = IntegerField(required=False, min_value=0, max_value=MAX_TRIAL)
    latency_ms = NumberField(required=False, allow_null=True, min_value=0)
    tokens_in = IntegerField(required=False, allow_null=True, min_value=0, max_value=MAX_COUNT)
    tokens_out = IntegerField(required=False, allow_null=True, min_value=0, max_value=MAX_COUNT)
    cost_usd = NumberField(required=False, allow_null=True, min_value=0)


def outputs_field(**options: Any) -> ManyField:
    return ManyField(
        child=NewOutput(),
        most=MAX_OUTPUTS,
        beyond="Send the rest to the run's outputs/ in further requests.",
        **options,
    )


class NewRecipe(BodySerializer):
    """How the run makes its outputs by calling a model."""

    connection = NameField(
        required=False, max_length=100, help_text="By name. Left out, the team's default one."
    )
    model = NameField(max_length=200)
    template = TextField(
        allow_blank=False,
        max_length=MAX_CHARACTERS,
        help_text="The user's message; places such as `{{ input }}` are filled from each case.",
    )
    system = TextField(required=False, max_length=MAX_CHARACTERS, help_text="Sent as it is.")
    parameters = JsonObjectField(
        required=False, help_text=f"Any of {', '.join(PARAMETERS)}. Left out, the model's own."
    )
    trials = IntegerField(
        required=False, min_value=1, max_value=MAX_TRIALS, help_text="Outputs a case."
    )


class NewRun(BodySerializer):
    dataset = serializers.UUIDField(help_text="Its latest version is scored.")
    suite = serializers.UUIDField(
        required=False, help_text="What to score with. Left out, the dataset's own suite."
    )
    scorers = serializers.ListField(
        child=serializers.UUIDField(),
        required=False,
        allow_empty=False,
        max_length=MAX_SCORERS,
        help_text="Scorers with their default thresholds, in place of a suite.",
    )
    name = NameField(required=False, help_text="Left out, the series.")
    series = NameField(
        required=False,
        help_text="Runs of one series make one drift line. Left out, the model that is called, "
        "else the label `model`, else the run's name.",
    )
    dated = DateTimeField(
        required=False,
        help_text="When the outputs were made. Left out, now. Later than tomorrow is refused.",
    )
    allow_future_date = BooleanField(
        required=False,
        help_text="true says that `dated` is meant where it is in the future. In their series the "
        "outputs then stand where they came.",
    )
    labels = JsonObjectField(required=False, help_text="Texts of your own, such as the commit.")
    outputs = outputs_field(required=False)
    generate = NewRecipe(
        required=False, help_text="In place of outputs: the run makes them, then scores them."
    )
    budget_usd = NumberField(
        required=False,
        allow_null=True,
        min_value=0,
        help_text="Once this much is spent no model is called. Left out, there is no limit.",
    )
    final = BooleanField(
        required=False,
        help_text="false keeps the run open for further outputs. Left out, true with outputs.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        dated = attrs.get("dated")
        if dated and is_future_date(dated) and not attrs.get("allow_future_date"):
            text = "This is in the future. Correct it, or send allow_future_date as true."
            raise serializers.ValidationError(
                {"dated": [serializers.ErrorDetail(text, "future_date")]}
            )
        return attrs


class MoreOutputs(BodySerializer):
    outputs = outputs_field()
    final = BooleanField(required=False, default=False, help_text="true starts scoring.")


class ProgressShape(serializers.Serializer[object]):
    done = serializers.IntegerField(min_value=0)
    total = serializers.IntegerField(min_value=0)


def near_keys_field() -> serializers.DictField:
    return serializers.DictField(
        child=serializers.CharField(),
        required=False,
        help_text="By unmatched key, the key of a case that differs in case, Unicode form or zeros "
        "alone; only where there are any.",
    )


class StartedShape(serializers.Serializer[object]):
    id = serializers.UUIDField()
    state = serializers.ChoiceField(RunState.choices)
    progress = ProgressShape()
    url = serializers.URLField(help_text="The run's page.")
    unmatched = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text="The first hundred keys that no case has; only where there are any.",
    )
    did_you_mean = near_keys_field()


class AcceptedShape(serializers.Serializer[object]):
    accepted = serializers.IntegerField(min_value=0)
    unmatched = serializers.ListField(
        child=serializers.CharField(), help_text="The first hundred keys that no case has."
    )
    did_you_mean = near_keys_field()


class FiguresShape(serializers.Serializer[object]):
    name = serializers.CharField()
    version = serializers.IntegerField(min_value=1)
    n = serializers.IntegerField(min_value=0, allow_null=True)
    scored = serializers.IntegerField(min_value=0, allow_null=True)
    errors = serializers.IntegerField(  # type: ignore[assignment]  # taken off the class there
        min_value=0, allow_null=True
    )
    skipped = serializers.IntegerField(min_value=0, allow_null=True)
    mean = serializers.FloatField(allow_null=True)
    interval = interval_field(help_text="95 %, around the mean.")
    pass_rate = serializers.FloatField(allow_null=True, help_text="Of the scored ones.")
    threshold = serializers.FloatField()
    problems = serializers.DictField(
        child=serializers.IntegerField(min_value=1),
        help_text="Outputs by code: errors, skips, and faults such as invalid_json that score 0.",
    )


class JudgesShape(serializers.Serializer[object]):
    """What the run has paid its judges."""

    calls = serializers.IntegerField(min_value=0, help_text="Paid ones; kept replies are free.")
    tokens_in = serializers.IntegerField(min_value=0, allow_null=True)
    tokens_out = serializers.IntegerField(min_value=0, allow_null=True)
    cost_usd = serializers.FloatField(allow_null=True, help_text="Of calls whose price is known.")


def verdict_counts(name: str) -> serializers.Serializer[Any]:
    """How many cases have each verdict, as a component of that name in the schema."""
    # Each serializer gets fields of its own: Django REST framework takes them out of the mapping.
    counts: dict[str, serializers.Field[Any, Any, Any, Any]] = {
        verdict.label: serializers.IntegerField(min_value=0, allow_null=True) for verdict in Verdict
    }
    return inline_serializer(name, counts)


class RelabelShape(serializers.Serializer[object]):
    """The later labels of a run: what its cases are by the suite's thresholds of that time."""

    thresholds = serializers.DictField(
        child=serializers.FloatField(min_value=0, max_value=1),
        help_text="By scorer, those that differ from the run's.",
    )
    verdicts = verdict_counts("RelabelledVerdicts")
    passed = serializers.DictField(
        child=serializers.IntegerField(min_value=0),
        help_text="By scorer of `thresholds`: how many of its scored outputs pass.",
    )
    by = serializers.CharField(allow_null=True, help_text="null for the operator.")
    created_at = serializers.DateTimeField()


class StateShape(serializers.Serializer[object]):
    """Figures are null until the run has ended: no result is not 0."""

    id = serializers.UUIDField()
    state = serializers.ChoiceField(RunState.choices)
    stage = serializers.CharField(
        allow_null=True, help_text="What is being done; null once the run has ended."
    )
    progress = ProgressShape()
    cause = serializers.CharField(
        allow_null=True,
        help_text="Why nothing moves, or the run was given up; of a finished run, why over 5 % of"
        " its cases have an error.",
    )
    verdicts = verdict_counts("Verdicts")
    relabel = RelabelShape(
        allow_null=True, help_text="null where the run has no later labels; nothing else uses them."
    )
    scorers = FiguresShape(many=True)
    thresholds_note = serializers.CharField(
        help_text="Where a suite file's thresholds counted instead of the suite's; else empty."
    )
    missing_expected = serializers.IntegerField(allow_null=True, min_value=0)
    empty_expected = serializers.IntegerField(
        allow_null=True,
        min_value=0,
        help_text="Cases that expect an empty text, which `includes` finds in every output.",
    )
    missing_outputs = serializers.IntegerField(
        allow_null=True,
        min_value=0,
        help_text="Cases of the dataset version that have no output; the n of scorers counts them.",
    )
    cost_usd = serializers.FloatField(allow_null=True, help_text="Of the outputs.")
    estimated_cost_usd = serializers.FloatField(
        allow_null=True,
        help_text="Of calls without reported usage, by the length of their texts.",
    )
    latencies_ms = serializers.DictField(
        child=serializers.FloatField(min_value=0),
        help_text="Percentiles of the outputs' latency, p50 to p99; empty where none is known.",
    )
    judges = JudgesShape(allow_null=True, help_text="null without judges or before the end.")


def page_url(request: HttpRequest | Request, run: Run) -> str:
    """The address of the run's page."""
    return request.build_absolute_uri(reverse("run", args=[run.uuid]))


def state_body(run: Run) -> dict[str, Any]:
    """A run as StateShape describes it."""
    progress = run_progress(run)
    scorers = run.read_scorers()
    errors = find_run_errors(run, scorers)
    return {
        "id": str(run.uuid),
        "state": progress.state,
        "stage": progress.stage if run.is_unfinished else None,
        "progress": {"done": progress.done, "total": progress.total},
        "cause": run.failure or (errors.sentence if errors else progress.cause),
        "verdicts": run.verdict_counts,
        "relabel": _relabel(run),
        "scorers": [_figures(scorer) for scorer in scorers],
        "thresholds_note": run.thresholds_note,
        "missing_expected": run.missing_expected_count,
        "empty_expected": run.empty_expected_count,
        "missing_outputs": run.missing_output_count,
        "cost_usd": run.cost_usd,
        "estimated_cost_usd": run.estimated_cost_usd,
        "latencies_ms": run.latencies_ms,
        "judges": _judges(run),
    }


def _relabel(run: Run) -> dict[str, Any] | None:
    relabel = None if run.is_unfinished else Relabel.objects.latest_of(run)
    return describe_relabel(relabel)


def _judges(run: Run) -> dict[str, Any] | None:
    if run.judge_calls is None:
        return None
    return {
        "calls": run.judge_calls,
        "tokens_in": run.judge_tokens_in,
        "tokens_out": run.judge_tokens_out,
        "cost_usd": run.judge_cost_usd,
    }


def _figures(scorer: RunScorer) -> dict[str, Any]:
    summary: RunSummary | None = getattr(scorer, "summary", None)
    counted = ("n", "scored", "errors", "skipped", "mean")
    estimate = summary.mean_estimate if summary else None
    return {
        "name": scorer.name,
        "version": scorer.version.number,
        **{name: getattr(summary, name, None) for name in counted},
        "interval": estimate.interval if estimate else None,
        "pass_rate": summary.pass_rate if summary else None,
        "threshold": scorer.threshold,
        "problems": summary.problems if summary else {},
    }


class RunShape(serializers.ModelSerializer[Run]):
    """A run in a list."""

    id = serializers.UUIDField(source="uuid")
    dataset = serializers.UUIDField(source="output_set.version.dataset.uuid")
    version = serializers.IntegerField(source="output_set.version.number")
    series = serializers.CharField(source="output_set.series")
    dated = serializers.DateTimeField(source="output_set.dated")
    labels = JsonObjectField(source="output_set.labels")
    is_baseline = serializers.BooleanField(help_text="Whether its series is compared with it.")
    url = serializers.SerializerMethodField()

    class Meta:
        model = Run
        fields = [
            "id",
            "name",
            "state",
            "dataset",
            "version",
            "series",
            "dated",
            "labels",
            "is_baseline",
            "created_at",
            "finished_at",
            "url",
        ]
        read_only_fields = fields

    @extend_schema_field({"type": "string", "format": "uri"})
    def get_url(self, run: Run) -> str:
        return page_url(self.context["request"], run)
