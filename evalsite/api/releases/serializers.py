"""Release decisions and reports: what is sent and what is shown."""

from __future__ import annotations

from rest_framework import serializers

from evalsite.api.fields import BodySerializer, TextField
from scoring.models import ReleaseDecision, ReleaseState
from scoring.models.runs.release_decision import MAX_REASON

REPORT_FORMATS = ["json", "html"]


def count_field(help_text: str) -> serializers.IntegerField:
    """A count that is null without a baseline."""
    return serializers.IntegerField(min_value=0, allow_null=True, help_text=help_text)


class NewReleaseDecision(BodySerializer):
    """Whether the run may be released, and why."""

    state = serializers.ChoiceField(ReleaseState.values)
    reason = TextField(allow_blank=False, max_length=MAX_REASON)
    seen = serializers.UUIDField(
        required=False,
        allow_null=True,
        help_text="The decision that you saw stand, null for none. Where another one stands by now "
        "the answer is 409. Left out, the decision replaces whichever stands.",
    )


class EvidenceShape(serializers.Serializer[object]):
    """The figures that whoever decided saw; counts of the whole run, of no single case."""

    passed = serializers.IntegerField(min_value=0)
    failed = serializers.IntegerField(min_value=0)
    errors = serializers.IntegerField(min_value=0)  # type: ignore[assignment]  # a field's name
    skipped = serializers.IntegerField(min_value=0)
    missing_outputs = serializers.IntegerField(min_value=0)
    baseline = serializers.CharField(allow_null=True, help_text="Its name at the time.")
    broke = count_field("Since the baseline.")
    fixed = count_field("Since the baseline.")
    open = count_field("Broken cases of which nothing was decided.")
    accepted = count_field("Broken cases.")
    rejected = count_field("Broken cases.")
    waived = count_field("Broken cases.")
    sentence = serializers.CharField(
        allow_blank=True, help_text="Of the comparison; empty where there was none yet."
    )


class ReleaseDecisionShape(serializers.ModelSerializer[ReleaseDecision]):
    """A decision on a run, which stands until it is withdrawn or replaced."""

    id = serializers.UUIDField(source="uuid")
    run = serializers.UUIDField(source="run.uuid")
    baseline = serializers.UUIDField(source="baseline.uuid", allow_null=True, default=None)
    state = serializers.ChoiceField(ReleaseState.values)
    evidence = EvidenceShape()
    decided_by = serializers.EmailField(source="decided_by.email", allow_null=True, default=None)
    withdrawn_by = serializers.EmailField(
        source="withdrawn_by.email", allow_null=True, default=None
    )

    class Meta:
        model = ReleaseDecision
        fields = [
            "id",
            "run",
            "baseline",
            "state",
            "reason",
            "evidence",
            "decided_by",
            "created_at",
            "withdrawn_by",
            "withdrawn_at",
        ]
        read_only_fields = fields


class ReportQuery(BodySerializer):
    """The file that is wanted."""

    format = serializers.ChoiceField(REPORT_FORMATS, default="json")
