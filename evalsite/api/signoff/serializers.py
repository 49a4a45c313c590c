"""Waivers, and decisions on broken cases: what is sent and what is shown."""

from __future__ import annotations

from rest_framework import serializers

from evalsite.api.compare.serializers import CompareQuery
from evalsite.api.fields import BodySerializer, IntegerField, TextField
from evalsite.api.pagination import PageQuery
from evalsite.api.runs.serializers import MAX_TRIAL
from scoring.engine.signoff.case_actions import MAX_CASES_AT_ONCE
from scoring.models import CaseDecisionState, Waiver
from scoring.models.data.dataset import KEY_LENGTH
from scoring.models.reviews.broken_cases import CaseState
from scoring.models.reviews.case_decision import MAX_REASON
from scoring.models.reviews.waiver import MAX_REASON as MAX_WAIVER_REASON

STATES = ["active", "expired", "ended"]
OPEN = "open"


class WaiverQuery(PageQuery):
    """Which of a team's waivers are listed."""

    dataset = serializers.UUIDField(required=False)
    key = TextField(required=False, max_length=KEY_LENGTH, help_text="Only of this case.")
    state = serializers.ChoiceField(STATES, required=False, help_text="Defaults to all.")


class NewWaiver(BodySerializer):
    """What may fail, until when, why, and who answers for it."""

    dataset = serializers.UUIDField()
    key = TextField(allow_blank=False, max_length=KEY_LENGTH, help_text="The case's key.")
    scorer = serializers.UUIDField(help_text="The scorer that the case may fail.")
    until = serializers.DateField(help_text="The last day on which it holds.")
    reason = TextField(allow_blank=False, max_length=MAX_WAIVER_REASON)
    owner = serializers.EmailField(
        required=False, help_text="A reviewer of the team. Defaults to you."
    )


class WaiverShape(serializers.ModelSerializer[Waiver]):
    """A case that one scorer may fail until a day."""

    id = serializers.UUIDField(source="uuid")
    dataset = serializers.UUIDField(source="dataset.uuid")
    key = serializers.CharField(source="case_key")
    scorer = serializers.UUIDField(source="scorer.uuid")
    scorer_name = serializers.CharField(source="scorer.name")
    state = serializers.ChoiceField(STATES)
    owner = serializers.EmailField(source="owner.email", allow_null=True, default=None)
    created_by = serializers.EmailField(source="created_by.email", allow_null=True, default=None)
    ended_by = serializers.EmailField(source="ended_by.email", allow_null=True, default=None)

    class Meta:
        model = Waiver
        fields = [
            "id",
            "dataset",
            "key",
            "scorer",
            "scorer_name",
            "until",
            "reason",
            "owner",
            "state",
            "created_by",
            "created_at",
            "ended_by",
            "ended_at",
        ]
        read_only_fields = fields


class DecidedCase(BodySerializer):
    key = TextField(allow_blank=False, max_length=KEY_LENGTH)
    trial = IntegerField(required=False, default=0, min_value=0, max_value=MAX_TRIAL)
    seen = serializers.ChoiceField(
        CaseState.values,
        required=False,
        help_text="The state that you saw. Where the case has another one by now the answer is "
        "409. Left out, the decision replaces whichever stands.",
    )


class NewDecisions(CompareQuery):
    """What is decided of some broken cases of a comparison."""

    state = serializers.ChoiceField([*CaseDecisionState.values, OPEN])
    cases = serializers.ListField(child=DecidedCase(), min_length=1, max_length=MAX_CASES_AT_ONCE)
    reason = TextField(required=False, default="", max_length=MAX_REASON)


class DecisionsShape(serializers.Serializer[object]):
    """How the broken cases of the comparison stand now."""

    open = serializers.IntegerField(min_value=0)
    accepted = serializers.IntegerField(min_value=0)
    rejected = serializers.IntegerField(min_value=0)
    waived = serializers.IntegerField(min_value=0)
