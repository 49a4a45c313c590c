"""How a problem looks, for the schema."""

from __future__ import annotations

from rest_framework import serializers


class FaultShape(serializers.Serializer[object]):
    field = serializers.CharField(
        allow_blank=True, help_text="Where: a path in the body, a column of the file."
    )
    line = serializers.IntegerField(required=False, help_text="In an uploaded file.")
    code = serializers.CharField(help_text="Stable; for programs.")
    message = serializers.CharField(help_text="For people.")
