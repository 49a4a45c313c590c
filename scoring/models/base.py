"""The base of rows with a public id."""

from __future__ import annotations

import uuid

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Value
from django.db.models.functions import Coalesce, Greatest
from django.utils import timezone
from uuid_utils.compat import uuid7

from scoring.core.names import CODE, NOT_ONE_LINE, is_one_line


def new_uuid() -> uuid.UUID:
    """A UUIDv7: unguessable enough for a URL, and in order of creation."""
    value: uuid.UUID = uuid7()
    return value


def validate_name(text: str) -> None:
    """Raises ValidationError for a text that can be no object's name."""
    if not is_one_line(text):
        raise ValidationError(NOT_ONE_LINE, CODE)


class AddressedRow(models.Model):
    """A row that URLs and the API name by `uuid`; other rows point at it by its small id."""

    uuid = models.UUIDField(default=new_uuid, unique=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        abstract = True


def now_after(beginning: str) -> Greatest:
    """The present time, but not before that of the column: a clock may have been set back."""
    now = Value(timezone.now(), output_field=models.DateTimeField())
    return Greatest(Coalesce(models.F(beginning), now), now)
