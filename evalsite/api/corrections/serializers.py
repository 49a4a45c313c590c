"""Corrections of expected values: what is sent and what is shown."""

from __future__ import annotations

from rest_framework import serializers

from evalsite.api.feedback.serializers import NewFeedback
from evalsite.api.fields import BodySerializer, JsonField, TextField
from evalsite.api.pagination import PageQuery
from scoring.models import Correction, CorrectionState
from scoring.models.reviews.correction import MAX_REASON

MAX_CORRECTIONS: int = 1_000  # corrections that one call decides


class CorrectionQuery(PageQuery):
    """Of which dataset, and in which state."""

    dataset = serializers.UUIDField()
    state = serializers.ChoiceField(CorrectionState.values, required=False)


class NewCorrection(NewFeedback):
    expected = JsonField(
        help_text="The value to expect: a text or any JSON value; null for nothing."
    )
    note = TextField(required=False, default="", max_length=MAX_REASON)


class CorrectionDecision(BodySerializer):
    dataset = serializers.UUIDField()
    corrections = serializers.ListField(
        child=serializers.UUIDField(), allow_empty=False, max_length=MAX_CORRECTIONS
    )
    decision = serializers.ChoiceField(["approve", "reject"])
    reason = TextField(
        required=False, default="", max_length=MAX_REASON, help_text="Needed to reject."
    )


class CorrectionShape(serializers.ModelSerializer[Correction]):
    id = serializers.UUIDField(source="uuid")
    expected = JsonField()
    base_version = serializers.IntegerField(source="base.number")
    author = serializers.SerializerMethodField()
    decided_by = serializers.SerializerMethodField()
    version = serializers.IntegerField(
        source="version.number", default=None, allow_null=True, help_text="Where it was published."
    )

    class Meta:
        model = Correction
        fields = [
            *("id", "key", "expected", "note", "base_version", "author", "created_at"),
            *("state", "decided_by", "decided_at", "reason", "version"),
        ]
        read_only_fields = fields

    def get_author(self, correction: Correction) -> str | None:
        """The e-mail address; null once they are gone from the site."""
        return correction.author.email if correction.author else None

    def get_decided_by(self, correction: Correction) -> str | None:
        return correction.decided_by.email if correction.decided_by else None


class DecidedShape(serializers.Serializer[object]):
    version = serializers.IntegerField(
        allow_null=True,
        help_text="Of the new dataset version; null when rejected, and while it is made.",
    )
    corrections = CorrectionShape(many=True)
