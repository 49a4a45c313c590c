"""Scoring without storing: cases in, results out."""

from __future__ import annotations

from rest_framework import serializers

from evalsite.api.datasets.case_serializers import CaseToScore
from evalsite.api.fields import BodySerializer, JsonObjectField, ManyField, NumberField, TextField

MAX_CASES = 1_000


class ScorerConfig(BodySerializer):
    type = TextField(max_length=60, help_text="A deterministic scorer type, such as levenshtein.")
    config = JsonObjectField(required=False)
    threshold = NumberField(required=False, allow_null=True)


class ScoreBody(BodySerializer):
    scorer = ScorerConfig()
    cases = ManyField(
        child=CaseToScore(),
        most=MAX_CASES,
        beyond="Send the rest in another request, or make a dataset and a run.",
    )


class ResultShape(serializers.Serializer[object]):
    id = serializers.CharField()
    status = serializers.ChoiceField(["scored", "error", "skipped"])
    score = serializers.FloatField(allow_null=True, min_value=0, max_value=1)
    verdict = serializers.ChoiceField(["pass", "fail"], allow_null=True)
    reason = serializers.CharField(allow_blank=True)
    metadata = JsonObjectField(help_text="The arithmetic behind the score; `code` names a problem.")


class ResultsShape(serializers.Serializer[object]):
    results = ResultShape(many=True, help_text="As many as there were cases, in their order.")
