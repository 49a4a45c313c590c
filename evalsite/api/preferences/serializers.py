"""Preferences between two outputs: what is sent and what is shown."""

from __future__ import annotations

from rest_framework import serializers

from evalsite.api.feedback.serializers import NewFeedback
from evalsite.api.fields import TextField
from evalsite.api.pagination import PageQuery
from scoring.models import Preference, PreferenceVerdict
from scoring.models.reviews.review import MAX_NOTE

VERDICTS = [verdict.code for verdict in PreferenceVerdict]


class PreferenceQuery(PageQuery):
    """Of which two runs."""

    run = serializers.UUIDField(help_text="The candidate.")
    baseline = serializers.UUIDField()


class NewPreference(NewFeedback):
    baseline = serializers.UUIDField(help_text="The run whose output it is compared with.")
    verdict = serializers.ChoiceField(VERDICTS, help_text="Of the run's output, the candidate's.")
    note = TextField(required=False, default="", max_length=MAX_NOTE)


class PreferenceShape(serializers.ModelSerializer[Preference]):
    id = serializers.UUIDField(source="uuid")
    key = serializers.CharField(source="candidate.case.key")
    trial = serializers.IntegerField(source="candidate.trial", min_value=0)
    reviewer = serializers.EmailField(source="reviewer.email")
    verdict = serializers.ChoiceField(VERDICTS, source="code")

    class Meta:
        model = Preference
        fields = ["id", "key", "trial", "reviewer", "verdict", "note", "changed_at"]
        read_only_fields = fields
