"""Exports: what an address may ask for, and how a row of JSON looks."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from evalsite.api.fields import BodySerializer, JsonField, JsonObjectField
from evalsite.api.results.serializers import OutcomeShape, ResultsQuery, ScoreShape
from scoring.engine.export import FILE_FORMATS


class Format(serializers.ChoiceField):
    def __init__(self, **options: Any) -> None:
        choices = list(FILE_FORMATS)
        help_text = (
            'JSON and JSON Lines keep everything; the last line of JSON Lines, `{"_rows": n}`, is '
            "missing from a file that was cut. CSV cannot tell null from an empty text."
        )
        super().__init__(choices, default="jsonl", help_text=help_text, **options)


class Verbatim(serializers.BooleanField):
    def __init__(self, **options: Any) -> None:
        help_text = (
            "Leave formulas in CSV as they are. Else a cell that begins like one gets ' in front, "
            "and the last column, _marked, lists the columns of the row that have such a mark."
        )
        super().__init__(default=False, help_text=help_text, **options)


class ExportQuery(BodySerializer):
    """How cases are exported."""

    format = Format()
    verbatim = Verbatim()


class ResultsExportQuery(ResultsQuery):
    """Which results are exported, and how."""

    cursor = None  # type: ignore[assignment]  # all pages at once
    page_size = None  # type: ignore[assignment]
    format = Format()
    verbatim = Verbatim()


class ExportedCaseShape(serializers.Serializer[object]):
    key = serializers.CharField()
    input = JsonField()
    expected = JsonField(required=False, help_text="Not there where the case has none.")
    references = serializers.ListField(child=serializers.CharField(allow_blank=True))
    tags = serializers.ListField(child=serializers.CharField(allow_blank=True))
    metadata = JsonObjectField()


class ExportedScoreShape(ScoreShape):
    code = serializers.CharField(allow_blank=True, help_text="Why there is no score, else empty.")


class ExportedResultShape(ExportedCaseShape, OutcomeShape):
    error = serializers.CharField(allow_blank=True)
    latency_ms = serializers.FloatField(allow_null=True)
    tokens_in = serializers.IntegerField(allow_null=True)
    tokens_out = serializers.IntegerField(allow_null=True)
    cost_usd = serializers.FloatField(allow_null=True)
    scores = ExportedScoreShape(many=True)
