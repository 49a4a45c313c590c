"""Gates of a run: what is asked and what is answered."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from rest_framework import serializers

from evalsite.api.fields import BodySerializer, TextField
from scoring.core.stats.gate_fitness import Fitness
from scoring.engine.compare.gates import DEFAULT_DROP, DEFAULT_UNJUDGED

AUTO: Final = "auto"
MAX_GATES: Final = 20  # gates
STATES: Final = ["passed", "failed", "undecided"]
MAX_GATE: Final = 200  # characters


class GateQuery(BodySerializer):
    """The gates, as `evaluate --gate` takes them, and what they are checked by."""

    gate = serializers.ListField(
        child=TextField(allow_blank=False, max_length=MAX_GATE),
        min_length=1,
        max_length=MAX_GATES,
        help_text="`pass_rate>=0.9`, `mean.SCORER>=0.8`, `regressions<=0` or `no_regression`; "
        "repeat it for several.",
    )
    baseline = TextField(
        default=AUTO,
        help_text="A run of the dataset, by its id. `auto`, the default, is the pinned baseline, "
        "else the previous finished run of the series.",
    )
    max_errors = serializers.FloatField(
        default=DEFAULT_UNJUDGED,
        help_text="Gates are undecided over this share of outputs without a verdict.",
    )
    min_drop = serializers.FloatField(
        default=DEFAULT_DROP,
        help_text="`no_regression` is undecided unless it could find such a drop.",
    )

    def validate_baseline(self, value: str) -> UUID | None:
        """The id; None for `auto`."""
        try:
            return None if value == AUTO else UUID(value)
        except ValueError:
            text = "Name a run by its id, or write auto."
            raise serializers.ValidationError(text, "invalid") from None

    def validate_max_errors(self, value: float) -> float:
        if not 0 <= value <= 1:
            raise serializers.ValidationError("A share from 0 to 1.", "out_of_range")
        return value

    def validate_min_drop(self, value: float) -> float:
        if not 0 < value <= 1:
            raise serializers.ValidationError("A share above 0, up to 1.", "out_of_range")
        return value


class UnstableShape(serializers.Serializer[object]):
    count = serializers.IntegerField(min_value=0)
    keys = serializers.ListField(
        child=serializers.CharField(), help_text="Of the first 20, without those you are to review."
    )


class GateOutcomeShape(serializers.Serializer[object]):
    """The answer of one gate; the last five fields are there for `no_regression` alone."""

    gate = serializers.CharField()
    state = serializers.ChoiceField(STATES)
    value = serializers.FloatField(
        allow_null=True, help_text="What the gate limits; of `no_regression` p."
    )
    why = serializers.CharField(allow_blank=True, help_text="What it rests on, or lacks.")
    drop = serializers.FloatField(required=False, help_text="As asked by `min_drop`.")
    power = serializers.FloatField(required=False, help_text="The chance to find such a drop.")
    detectable_drop = serializers.FloatField(
        required=False, allow_null=True, help_text="The smallest one with 80 % power."
    )
    judge_flips = serializers.FloatField(
        required=False, allow_null=True, help_text="The share of verdicts judges change by chance."
    )
    unstable_cases = UnstableShape(required=False, help_text="Worth more trials.")


class UsedWaiverShape(serializers.Serializer[object]):
    id = serializers.UUIDField()
    scorer = serializers.CharField()
    until = serializers.DateField()
    reason = serializers.CharField()
    owner = serializers.EmailField(allow_null=True)


class WaivedCaseShape(serializers.Serializer[object]):
    """A broken case with a waiver for every scorer that fails it."""

    key = serializers.CharField()
    trial = serializers.IntegerField(min_value=0)
    waivers = UsedWaiverShape(many=True)


class WaiversShape(serializers.Serializer[object]):
    used = WaivedCaseShape(many=True, help_text="Not counted by `regressions`.")
    expired = WaivedCaseShape(many=True, help_text="Counted again.")


class UnknownShape(serializers.Serializer[object]):
    """Cases of which nothing can be said."""

    unknown = serializers.IntegerField(min_value=0)
    of = serializers.IntegerField(min_value=0)
    unclear = serializers.IntegerField(min_value=0, help_text="With an error or a skip.")
    only_in_one_run = serializers.IntegerField(min_value=0)


class StampShape(serializers.Serializer[object]):
    """For what a scorer was found fit by its agreement with people."""

    scorer = serializers.CharField()
    fitness = serializers.ChoiceField([*map(str, Fitness)], allow_null=True)
    is_fit = serializers.BooleanField(help_text="Stamped as gating, and not stale.")
    changes = serializers.ListField(
        child=serializers.CharField(), help_text="What changed since, so that the stamp is stale."
    )


class GateCheckShape(serializers.Serializer[object]):
    """What the gates answer; null where nothing was compared."""

    state = serializers.ChoiceField(
        STATES, help_text="Failed where one has failed, passed where all have."
    )
    run = serializers.UUIDField()
    baseline = serializers.UUIDField(allow_null=True)
    gates = GateOutcomeShape(many=True)
    broke = serializers.IntegerField(min_value=0, allow_null=True)
    regressions = serializers.IntegerField(
        min_value=0, allow_null=True, help_text="Broken cases that are not waived."
    )
    regressions_unknown = UnknownShape(allow_null=True)
    waivers = WaiversShape(allow_null=True)
    warnings = serializers.ListField(child=serializers.CharField())
    stamps = StampShape(many=True, help_text="Of the scorers that the gates rest on.")
