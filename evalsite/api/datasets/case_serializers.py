"""Cases as they are sent, to be scored at once or to be kept in a dataset."""

from __future__ import annotations

from rest_framework import serializers

from evalsite.api.fields import BodySerializer, JsonField, JsonObjectField, TextField
from scoring.models.data.dataset import KEY_LENGTH


class CaseBody(BodySerializer):
    """What a case consists of, apart from its name and its output."""

    input = JsonField(required=False, help_text="What was asked: a text or any JSON value.")
    expected = JsonField(
        required=False, help_text="What is expected of the answer. Absent and null both mean none."
    )
    references = serializers.ListField(
        child=TextField(), required=False, help_text="Further right answers."
    )
    tags = serializers.ListField(child=TextField(allow_blank=False), required=False)
    metadata = JsonObjectField(required=False)


class CaseToScore(CaseBody):
    id = TextField(
        required=False,
        max_length=KEY_LENGTH,
        help_text="Comes back with the result. Left out, the place in the list, counted from 1.",
    )
    output = JsonField(
        required=False, help_text="What was answered. Absent, it is an error and never a score."
    )


class NewCase(CaseBody):
    key = TextField(
        required=False,
        allow_blank=False,
        max_length=KEY_LENGTH,
        help_text="Names the case through all versions. Left out, made from the input.",
    )
    input = JsonField(help_text="What is asked: a text or any JSON value.")
