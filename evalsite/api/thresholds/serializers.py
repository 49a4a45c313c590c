"""Thresholds: which are asked for, what is sent, and how previews and changes look."""

from __future__ import annotations

from typing import Final

from rest_framework import serializers

from evalsite.api.calibration.serializers import BestThresholdShape, EstimateShape, unit_field
from evalsite.api.fields import BodySerializer, NumberField, TextField
from evalsite.api.pagination import PageShape, PlacesQuery
from scoring.models import ThresholdProposal

MAX_PROPOSED: Final = 200  # thresholds at once
SUITE_HELP = "One with the scorer. Left out, the scorer's default is meant."
THRESHOLD_HELP = "From 0 to 1: a score of at least this passes."


class ThresholdsQuery(BodySerializer):
    suite = serializers.UUIDField()


class ThresholdPreviewQuery(PlacesQuery):
    suite = serializers.UUIDField(required=False, help_text=SUITE_HELP)
    scorer = serializers.UUIDField()
    threshold = serializers.FloatField(min_value=0, max_value=1, help_text=THRESHOLD_HELP)
    run = serializers.UUIDField(
        required=False,
        help_text="Whose cases are listed: one of the last runs. Left out, the latest.",
    )


class NewThreshold(BodySerializer):
    suite = serializers.UUIDField(required=False, help_text=SUITE_HELP)
    scorer = serializers.UUIDField()
    threshold = NumberField(min_value=0, max_value=1, help_text=THRESHOLD_HELP)
    reason = TextField(allow_blank=False, trim_whitespace=True, help_text="Kept in the history.")
    seen = NumberField(
        required=False,
        min_value=0,
        max_value=1,
        help_text="The threshold that you saw. Where another one stands by now the answer is 409.",
    )


class ProposedThreshold(BodySerializer):
    scorer = serializers.UUIDField()
    threshold = NumberField(min_value=0, max_value=1, help_text=THRESHOLD_HELP)


class NewThresholdProposal(BodySerializer):
    suite = serializers.UUIDField(required=False, help_text=SUITE_HELP)
    thresholds = serializers.ListField(
        child=ProposedThreshold(), allow_empty=False, max_length=MAX_PROPOSED
    )
    reason = TextField(allow_blank=False, trim_whitespace=True, help_text="Why; people read it.")


class ThresholdProposalShape(serializers.ModelSerializer[ThresholdProposal]):
    """`decision_reason` is empty until an administrator has decided."""

    id = serializers.UUIDField(source="uuid")
    suite = serializers.UUIDField(source="suite.uuid", default=None, allow_null=True)
    thresholds = serializers.DictField(
        child=serializers.FloatField(), help_text="The proposed ones by the scorers' ids."
    )
    reason = serializers.CharField(source="rationale")
    by = serializers.SerializerMethodField(help_text="null for a former member.")
    decided_by = serializers.SerializerMethodField(help_text="null while it is open.")
    decision_reason = serializers.CharField(source="reason")

    class Meta:
        model = ThresholdProposal
        fields = (
            "id",
            "suite",
            "thresholds",
            "reason",
            "by",
            "created_at",
            "state",
            "decided_by",
            "decided_at",
            "decision_reason",
        )

    def get_by(self, proposal: ThresholdProposal) -> str | None:
        return str(proposal.proposed_by) if proposal.proposed_by else None

    def get_decided_by(self, proposal: ThresholdProposal) -> str | None:
        return str(proposal.decided_by) if proposal.decided_by else None


class ThresholdChangeShape(serializers.Serializer[object]):
    """`old` is null where the scorer was added to the suite, `new` where it was removed."""

    scorer = serializers.UUIDField()
    name = serializers.CharField()
    old = serializers.FloatField(allow_null=True)
    new = serializers.FloatField(allow_null=True)
    reason = serializers.CharField(allow_blank=True)
    by = serializers.CharField(allow_null=True, help_text="null for the operator.")
    changed_at = serializers.DateTimeField()
    revision = serializers.IntegerField(
        allow_null=True,
        help_text="Of the suite, since the change: changes of one revision were made together.",
    )


class ThresholdRunShape(serializers.Serializer[object]):
    """A run scored by the suite, at its present threshold and at the new one."""

    run = serializers.UUIDField()
    name = serializers.CharField()
    scorer_version = serializers.IntegerField(min_value=1)
    run_threshold = serializers.FloatField(help_text="The one it was scored with.")
    n = serializers.IntegerField(min_value=0)
    scored = serializers.IntegerField(min_value=0)
    pass_rate = serializers.FloatField(allow_null=True)
    new_pass_rate = serializers.FloatField(allow_null=True)
    to_pass = serializers.IntegerField(min_value=0)
    to_fail = serializers.IntegerField(min_value=0)


class ThresholdShape(serializers.Serializer[object]):
    scorer = serializers.UUIDField()
    name = serializers.CharField()
    threshold = serializers.FloatField()
    default = serializers.FloatField(help_text="The scorer's own, for suites to come.")
    runs = ThresholdRunShape(many=True)


class ThresholdsShape(serializers.Serializer[object]):
    suite = serializers.UUIDField()
    name = serializers.CharField()
    revision = serializers.IntegerField(min_value=1)
    entries = ThresholdShape(many=True)
    changes = ThresholdChangeShape(many=True)


class FlippedCaseShape(serializers.Serializer[object]):
    key = serializers.CharField()
    trial = serializers.IntegerField(
        min_value=0, help_text="0 where cases have several trials: they flip by their mean."
    )
    score = serializers.FloatField(min_value=0, max_value=1)
    changes_case = serializers.BooleanField(
        help_text="Whether the case's verdict changes, too: no other scorer fails it."
    )


class AgreementFiguresShape(serializers.Serializer[object]):
    kappa = EstimateShape(allow_null=True)
    precision = unit_field(allow_null=True)
    recall = unit_field(allow_null=True)


class ThresholdAgreementShape(serializers.Serializer[object]):
    """Against people's verdicts on outputs of these runs, by the version of the latest one."""

    labels = serializers.IntegerField(min_value=1, help_text="Outputs that people pass or fail.")
    scorer_version = serializers.IntegerField(min_value=1)
    runs = serializers.IntegerField(min_value=1)
    current = AgreementFiguresShape()
    new = AgreementFiguresShape()
    best_threshold = BestThresholdShape(allow_null=True)


class ThresholdPreviewShape(PageShape):
    """`results` are the cases of `run` that would flip, the lowest score first."""

    suite = serializers.UUIDField(allow_null=True)
    scorer = serializers.UUIDField()
    name = serializers.CharField()
    threshold = serializers.FloatField()
    new_threshold = serializers.FloatField()
    run = serializers.UUIDField(allow_null=True, help_text="null without a finished run.")
    sentence = serializers.CharField(allow_null=True)
    case_verdicts = serializers.IntegerField(
        allow_null=True, min_value=0, help_text="How many verdicts of whole cases would change."
    )
    runs = ThresholdRunShape(many=True)
    agreement = ThresholdAgreementShape(
        allow_null=True, help_text="null where people have passed or failed none of the outputs."
    )
    results = FlippedCaseShape(many=True)
