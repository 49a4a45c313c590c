"""Scorers and suites: what is sent and what is shown."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from evalsite.api.fields import BodySerializer, JsonObjectField, NameField, NumberField, TextField
from scoring.models import Scorer, Suite, SuiteEntry


class NewScorer(BodySerializer):
    name = NameField()
    type = TextField(max_length=60, help_text="A scorer type, such as levenshtein.")
    config = JsonObjectField(
        required=False, help_text="The type's settings; missing ones take defaults."
    )
    threshold = NumberField(
        required=False,
        allow_null=True,
        help_text="From 0 to 1: a score of at least this passes. Left out, the type's default.",
    )


class ScorerShape(serializers.ModelSerializer[Scorer]):
    id = serializers.UUIDField(source="uuid")
    version = serializers.IntegerField(source="current.number")
    config = serializers.SerializerMethodField()

    class Meta:
        model = Scorer
        fields = ["id", "name", "type", "version", "config", "threshold"]
        read_only_fields = fields

    @extend_schema_field({"type": "object", "additionalProperties": True})
    def get_config(self, scorer: Scorer) -> Any:
        return scorer.current.config if scorer.current else {}


class NewEntry(BodySerializer):
    scorer = serializers.UUIDField()
    threshold = NumberField(
        required=False,
        allow_null=True,
        min_value=0,
        max_value=1,
        help_text="The threshold in this suite. Left out, the scorer's default.",
    )


class NewSuite(BodySerializer):
    name = NameField()
    entries = serializers.ListField(child=NewEntry(), allow_empty=False, max_length=100)


class EntryShape(serializers.ModelSerializer[SuiteEntry]):
    scorer = serializers.UUIDField(source="scorer.uuid")
    name = serializers.CharField(source="scorer.name")

    class Meta:
        model = SuiteEntry
        fields = ["scorer", "name", "threshold"]
        read_only_fields = fields


class SuiteShape(serializers.ModelSerializer[Suite]):
    id = serializers.UUIDField(source="uuid")
    entries = EntryShape(many=True)

    class Meta:
        model = Suite
        fields = ["id", "name", "revision", "entries"]
        read_only_fields = fields
