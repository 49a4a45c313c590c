"""Fields of a request's body: strict types, and no unknown fields."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, time
from typing import Any

from django.utils.dateparse import parse_date, parse_datetime
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from evalsite.api.errors import field_problem
from scoring.models.base import validate_name

NAME_LENGTH = 120


class BodySerializer(serializers.Serializer[Any]):
    """A JSON object with these fields and no others."""

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        unknown = set(data) - set(self.fields) if isinstance(data, Mapping) else set()
        faults: dict[str, Any] = {
            str(name): [serializers.ErrorDetail("This field is unknown here.", "unknown_field")]
            for name in sorted(unknown)
        }
        values: dict[str, Any] = {}
        try:
            values = super().to_internal_value(data)
        except serializers.ValidationError as invalid:
            if not isinstance(invalid.detail, dict):
                raise
            faults = {**invalid.detail, **faults}
        if faults:
            raise serializers.ValidationError(faults)
        return values


class ManyField(serializers.ListField):
    """Many objects of one kind, up to a number beyond which none of them is looked at."""

    def __init__(self, *, most: int, beyond: str, **options: Any) -> None:
        self.most, self.beyond = most, beyond
        super().__init__(max_length=most, **options)

    def to_internal_value(self, data: Any) -> list[Any]:
        if isinstance(data, list) and len(data) > self.most:
            text = f"These are {len(data):,}; {self.most:,} are possible. {self.beyond}"
            raise field_problem(413, self.field_name or "", "too_many_rows", text)
        return super().to_internal_value(data)


class TextField(serializers.CharField):
    """A text, kept character for character; numbers are not taken for texts."""

    default_error_messages = {"invalid": "This is not a text."}

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"allow_blank": True, "trim_whitespace": False} | options)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class NameField(TextField):
    """What people call an object: one line, not blank, without white space around it."""

    def __init__(self, **options: Any) -> None:
        own = {"allow_blank": False, "trim_whitespace": True, "max_length": NAME_LENGTH}
        super().__init__(**own | options)
        self.validators.append(validate_name)


class IntegerField(serializers.IntegerField):
    """A whole number of JSON; not a text, not true."""

    default_error_messages = {"invalid": "This is not a whole number."}

    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, bool) or not isinstance(data, int):
            self.fail("invalid")
        return data


class NumberField(serializers.FloatField):
    """A number of JSON that a float holds; not a text, not true."""

    default_error_messages = {
        "invalid": "This is not a number.",
        "not_finite": "This number is too large.",
    }

    def to_internal_value(self, data: Any) -> float:
        if isinstance(data, bool) or not isinstance(data, int | float):
            self.fail("invalid")
        try:
            return float(data)
        except OverflowError:
            self.fail("not_finite")


class BooleanField(serializers.BooleanField):
    """true or false of JSON; texts and numbers are refused."""

    default_error_messages = {"invalid": "This is neither true nor false."}

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid")
        return data


@extend_schema_field({})
class JsonField(serializers.Field[Any, Any, Any, Any]):
    """Any JSON value, null included."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"allow_null": True} | options)

    def to_internal_value(self, data: Any) -> Any:
        return data

    def to_representation(self, value: Any) -> Any:
        return value


@extend_schema_field({"type": "object", "additionalProperties": True})
class JsonObjectField(JsonField):
    """A JSON object with any keys."""

    default_error_messages = {"invalid": "This is not an object."}

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"allow_null": False} | options)

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        if not isinstance(data, dict):
            self.fail("invalid")
        return data


@extend_schema_field({"type": "string", "example": "2026-11-20", "description": "ISO 8601"})
class DateTimeField(TextField):
    """A day, which begins at midnight UTC, or a moment; without an offset it is UTC."""

    default_error_messages = {
        "invalid": "This is neither a date such as 2026-11-20 nor a time such as "
        "2026-11-20T09:30:00Z."
    }

    def to_internal_value(self, data: Any) -> Any:
        text = super().to_internal_value(data)
        try:
            return _in_utc(text)
        except (ValueError, OverflowError):  # also a well formed day that no calendar has
            self.fail("invalid")


def interval_field(**options: Any) -> serializers.ListField:
    """Low and high, or null."""
    return serializers.ListField(
        child=serializers.FloatField(), min_length=2, max_length=2, allow_null=True, **options
    )


def _in_utc(text: str) -> datetime:
    moment = parse_datetime(text)
    if moment is None and (day := parse_date(text)):
        moment = datetime.combine(day, time())
    if moment is None:
        raise ValueError(text)
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
